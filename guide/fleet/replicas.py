"""The replicas of a fleet as its gateway knows them: which live, what they run, who serves whom, and how many it takes.

They are asked every second, and anew before a headset is given to one of them that none has.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from guide.errors import GuideError
from guide.fleet.forward import Place, StrangerError, ask
from guide.serve.options import ScaleOptions

log = logging.getLogger(__name__)

PERIOD_S: Final = 1.0
ASK_S: Final = 2.0
HOME_S: Final = 60.0
"""For so long a headset goes to the replica that it was given to last, though nobody knows of its session yet."""
OURS: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors that say nothing of a replica: the gateway has too many files open, or too little memory."""
SLACK: Final = 0.7
"""Replicas are only let go where the rest would be that full at most: headsets come and go."""

Plain = dict[str, Any]


class Fleet(Protocol):
    """What starts and ends replicas; its methods may block."""

    @property
    def version(self) -> str:
        """What replicas are started with from now on; those of another version run empty and end."""
        ...

    @property
    def names(self) -> list[str]: ...

    def start(self) -> str: ...

    def where(self, name: str) -> Place | None: ...

    def end(self, *names: str) -> None: ...


@dataclass(slots=True, eq=False)
class Replica:
    """A replica: where it listens, if it does, the sessions it told of last, and how many headsets it was given."""

    name: str
    place: Place | None = None
    sessions: list[Plain] = field(default_factory=list)
    heard: float = -math.inf
    given: int = 0
    is_draining: bool = False
    """Whether it gets no new headsets, as it is to end when the last session does."""
    is_outdated: bool = False
    """Whether it was started with other options than the gateway has now: it cannot be needed again."""
    is_stranger: bool = False
    """Whether it was started with another token: nobody whom the gateway lets in could be served there."""

    @property
    def running(self) -> list[Plain]:
        return [one for one in self.sessions if one["state"] == "running"]

    @property
    def load(self) -> int:
        return max(len(self.running), self.given)

    def has(self, client: str) -> bool:
        return any(one["client"] == client for one in self.running)


def wanted_replicas(sessions: int, running: int, scale: ScaleOptions) -> int:
    """How many replicas so many sessions take, where so many run.

    >>> scale = ScaleOptions(replicas=1, most_replicas=4, sessions_per_replica=10)
    >>> [wanted_replicas(sessions, 2, scale) for sessions in (0, 6, 9, 20, 21, 99)]
    [1, 1, 2, 2, 3, 4]
    """
    enough = math.ceil(sessions / scale.sessions_per_replica)
    roomy = math.ceil(sessions / (SLACK * scale.sessions_per_replica))
    wanted = enough if enough > running else min(running, roomy)
    return max(scale.replicas, min(wanted, max(scale.most_replicas, scale.replicas)))


class Replicas:
    """All replicas; `watch` keeps what is known of them fresh, and their number right."""

    def __init__(
        self, fleet: Fleet, token: str, scale: ScaleOptions, most_clients: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        """A replica admits so many clients."""
        self._fleet, self._token, self._scale, self._clock = fleet, token, scale, clock
        self._most_clients = most_clients
        self._known: dict[str, Replica] = {}
        self._homes: dict[str, tuple[Replica, float]] = {}  # of headsets: the replica, and since when
        self._asked = -math.inf
        self._asking = asyncio.Lock()

    def all(self) -> list[Replica]:
        return list(self._known.values())

    def living(self) -> list[Replica]:
        return [one for one in self._known.values() if one.place is not None]

    def is_heard(self, replica: Replica) -> bool:
        """Whether it answered when it was last to be asked."""
        return self._clock() - replica.heard < 3 * (PERIOD_S + ASK_S)

    async def watch(self) -> None:
        """Asks and scales until it is cancelled."""
        while True:
            try:
                await self.find()
                await self.refresh()
                await self.scale()
            except Exception:  # our own fault, or Ray's: headsets are served on
                log.exception("the fleet could not be looked after")
            await asyncio.sleep(PERIOD_S)

    async def find(self) -> None:
        """Looks for replicas that were started, or started again."""
        oldest, names = self._clock() - HOME_S, self._fleet.names
        self._homes = {client: home for client, home in self._homes.items() if home[1] > oldest}
        self._known = {name: self._known.get(name) or Replica(name) for name in names}
        missing = [one for one in self.all() if one.place is None]
        places = await asyncio.gather(*(asyncio.to_thread(self._fleet.where, one.name) for one in missing))
        for one, place in zip(missing, places, strict=True):
            one.place = place
        for one in self.living():
            one.is_outdated = one.place is not None and one.place.version != self._fleet.version
            one.is_draining |= one.is_outdated

    async def refresh(self) -> None:
        """Asks all replicas; whoever comes while they are asked for another waits for the next answers, with others."""
        came = self._clock()
        async with self._asking:
            if self._asked >= came:
                return
            self._asked = self._clock()
            await asyncio.gather(*(self._ask(one) for one in self.living()))

    async def _ask(self, replica: Replica) -> None:
        if replica.place is None:
            return
        try:
            async with asyncio.timeout(ASK_S):
                replica.sessions = (await ask(replica.place, "/sessions", self._token))["sessions"]
            replica.heard = self._clock()
        except StrangerError:
            replica.is_stranger, replica.place = True, None
        except (OSError, GuideError, ValueError, KeyError, TypeError) as error:  # also of another program there
            is_ours = getattr(error, "errno", None) in OURS
            if isinstance(error, ConnectionRefusedError) or not (is_ours or self.is_heard(replica)):
                self.lose(replica)

    def miss(self, replica: Replica, error: Exception) -> None:
        """Loses a replica that broke off; slow is not dead, and neither is it where the gateway lacks files."""
        if not isinstance(error, TimeoutError) and getattr(error, "errno", None) not in OURS:
            self.lose(replica)

    def lose(self, replica: Replica) -> None:
        """Forgets where a replica listened and what it ran: it does not answer."""
        if replica.place is not None:
            log.warning("%s does not answer any more; headsets that come go to others", replica.name)
        now = self._clock()
        self._homes |= {one["client"]: (replica, now) for one in replica.running if one["client"] is not None}
        replica.place, replica.sessions = None, []

    async def of_client(self, client: str) -> Replica | None:
        """The replica that runs a headset's session, else the one with the fewest; None where none answers.

        A session takes a while to be made, or to be gone on with: who comes again meanwhile must not get a second one.
        """
        found = self._running(client)
        if found is None and client not in self._homes:  # of others it is known; busy replicas take seconds to answer
            await self.refresh()
            found = self._running(client)
        if found is None and client in self._homes:
            home, since = self._homes[client]
            is_open = home.place is not None and not home.is_draining and home.load < self._most_clients
            found = home if is_open and self._clock() - since < HOME_S else None
        found = found or self.emptiest()
        if found is not None:
            self._homes[client] = found, self._clock()
        return found

    def _running(self, client: str) -> Replica | None:
        return next((one for one in self.living() if one.has(client)), None)

    async def of_session(self, session: str) -> Replica | None:
        """The replica that runs or ran a session."""
        found = self._holding(session)
        if found is None:
            await self.refresh()
            found = self._holding(session)
        return found

    def _holding(self, session: str) -> Replica | None:
        return next((one for one in self.living() if any(it["session"] == session for it in one.sessions)), None)

    def emptiest(self) -> Replica | None:
        """The replica that shall get the next session."""
        open_ones = [one for one in self.living() if not one.is_draining] or self.living()
        return min(open_ones, key=lambda one: one.load, default=None)

    async def scale(self) -> None:
        """Starts replicas where sessions ask for them; lets those with the fewest run empty, then ends them."""
        await self._end_strangers()
        empty = [one for one in self.living() if one.is_draining and self.is_heard(one) and not one.load]
        for one in empty:  # not those that could not tell yet what they run
            if one.load:  # it was given a headset meanwhile
                continue
            one.place = None
            await asyncio.to_thread(self._fleet.end, one.name)
            del self._known[one.name]
        sessions = sum(one.load for one in self.all())
        kept = [one for one in self.all() if not one.is_draining]
        wanted = wanted_replicas(sessions, len(kept), self._scale)
        spare = [one for one in self.all() if one.is_draining and not one.is_outdated]
        for one in sorted(spare, key=lambda one: -one.load)[: max(0, wanted - len(kept))]:
            one.is_draining = False
        for _ in range(wanted - len(kept) - len(spare)):
            name = await asyncio.to_thread(self._fleet.start)
            self._known[name] = Replica(name)
        for one in sorted(kept, key=lambda one: one.load)[: max(0, len(kept) - wanted)]:
            one.is_draining = True

    async def _end_strangers(self) -> None:
        """Ends replicas with another token, and their sessions: they would keep the cluster's cores for ever."""
        strangers = [one.name for one in self.all() if one.is_stranger]
        if strangers:
            log.warning("%s: started with another token, and ended with all sessions", ", ".join(strangers))
            await asyncio.to_thread(self._fleet.end, *strangers)
            for name in strangers:
                del self._known[name]
