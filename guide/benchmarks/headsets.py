"""`python -m guide bench --serve`: simulated headsets against a real server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import websockets
from rich.console import Console

from guide.errors import InputError, OutputError
from guide.ingest.source import open_source
from guide.ui.client import LOCAL, open_directly

if TYPE_CHECKING:
    from guide.commands.benchmark import LiveBenchmarkOptions

PATIENCE_S = 60.0
PROMPT_S = 0.6
PICTURES = 120  # made up
MOST_PICTURES = 1000  # of a recording
IN_FLIGHT = 2
MOST_TRIED = 64
END_S = 0.5
AGE_NOISE_S = 0.1
MEMORY_NOISE_BYTES = 16 * 2**20
SETTLE_S = 5.0  # the first seconds hold the loading of networks and the start of sessions


@dataclass(frozen=True)
class ServerBenchmarkOptions:
    """Measure the server with simulated headsets."""

    bundle: Path = Path("exported/demo")
    """The trained bundle."""
    clients: int = 16
    """Simulated headsets."""
    fps: float = 5.0
    """Frames a second that each of them sends."""
    seconds: float = 120.0
    """How long they send."""
    video: Path | None = None
    """A recording whose pictures are sent; made-up pictures without it."""
    most_clients: int = 0
    """With it, search how many clients up to so many are held with 95 % of replies within 600 ms."""
    threads: int = 0
    """Threads of the networks; 0 uses every core."""

    def __post_init__(self) -> None:
        if self.clients < 1 or not 0 < self.fps <= 15 or self.seconds <= SETTLE_S:
            raise InputError(
                f"at least one client, up to 15 frames a second and more than {SETTLE_S:g} s were expected, got {self}."
            )


@dataclass(frozen=True, slots=True)
class HeadsetFigures:
    """What a run of the simulated headsets showed; seconds and bytes.

    >>> HeadsetFigures(2, 5.0, 20.0, 200, 198, 2, (0.1, 0.2), (0.01, 0.01), (1e8, 1e8)).is_steady
    True
    """

    clients: int
    fps: float
    seconds: float
    sent: int
    seen: int
    unsent: int
    """Frames that could not be sent in time, because two were in flight."""
    replies_s: tuple[float, ...]
    ages_s: tuple[float, float]
    """The mean age of frames when they are taken, in the first and the last third."""
    memory_bytes: tuple[float, float]
    """The server's memory at the end of the first third and at the end."""
    silent: int = 0
    """Clients that got no reply."""

    @property
    def p50_s(self) -> float:
        return float(np.quantile(self.replies_s, 0.5)) if self.replies_s else float("inf")

    @property
    def p95_s(self) -> float:
        return float(np.quantile(self.replies_s, 0.95)) if self.replies_s else float("inf")

    @property
    def is_met(self) -> tuple[bool, bool, bool]:
        """Whether every client was answered, and neither age nor memory grew by more than noise."""
        (young, old), (few, many) = self.ages_s, self.memory_bytes
        return not self.silent, old <= young + AGE_NOISE_S, many <= 1.1 * few + MEMORY_NOISE_BYTES

    @property
    def is_steady(self) -> bool:
        return all(self.is_met)

    def verdicts(self) -> list[str]:
        """What was wanted of the crowd, a line each, and whether it was so."""
        grown_ms = 1e3 * (self.ages_s[1] - self.ages_s[0])
        grown_mb = (self.memory_bytes[1] - self.memory_bytes[0]) / 1e6
        answered, age, memory = ("met" if is_so else "MISSED" for is_so in self.is_met)
        return [
            f"  every client answered: {self.clients - self.silent} of {self.clients}: {answered}",
            f"  age of frames does not grow: {grown_ms:+.0f} ms from the first third to the last: {age}",
            f"  memory does not grow: {grown_mb:+.1f} MB since the first third: {memory}",
            f"  frame to reply: p95 {1e3 * self.p95_s:.0f} ms",
        ]

    def as_json(self) -> dict[str, object]:
        """The figures without the single replies."""
        plain = {name: getattr(self, name) for name in self.__slots__ if name != "replies_s"}
        return {**plain, "p50_s": self.p50_s, "p95_s": self.p95_s, "is_steady": self.is_steady}

    def line(self) -> str:
        """One line for people."""
        ages, memory = self.ages_s, self.memory_bytes
        return (
            f"{self.clients} clients at {self.fps:g} a second for {self.seconds:.0f} s: {self.seen} of {self.sent} "
            f"frames seen, {self.unsent} not sent in time, {self.silent} clients without a reply; reply after "
            f"{1e3 * self.p50_s:.0f} ms (half), {1e3 * self.p95_s:.0f} ms (95 %); age {1e3 * ages[0]:.0f} -> "
            f"{1e3 * ages[1]:.0f} ms, memory {memory[0] / 1e6:.0f} -> {memory[1] / 1e6:.0f} MB: "
            f"{'steady' if self.is_steady else 'NOT steady'}"
        )


def run(options: LiveBenchmarkOptions, console: Console | None = None) -> list[HeadsetFigures]:
    """The server's figures, printed as they come: 16 headsets at 5 frames a second, then how many at 1 a second.

    The first runs for `seconds`, on the first other bundle if there is one, such as one with a small trunk.
    """
    say = (console or Console(highlight=False, markup=False, soft_wrap=True)).print
    crowd = options.also[0] if options.also else options.bundle
    steady = ServerBenchmarkOptions(crowd, seconds=options.seconds, video=options.video)
    say(f"{crowd}: {steady.clients} headsets at {steady.fps:g} frames a second for {steady.seconds:g} s")
    if not options.also:
        say("  (no other bundle was given: --also BUNDLE measures the crowd on one with a small trunk)")
    [first] = measure(steady, say)
    say("\n".join(first.verdicts()))
    seconds = min(options.seconds, 4 * SETTLE_S)
    few = ServerBenchmarkOptions(options.bundle, fps=1.0, seconds=seconds, video=options.video, most_clients=MOST_TRIED)
    say(f"{options.bundle}: how many at 1 frame a second get 95 % of their replies within {1e3 * PROMPT_S:.0f} ms")
    rest = measure(few, say)
    most = " (as many as were tried)" if most_steady_clients(rest) == MOST_TRIED else ""
    say(f"  clients at 1 frame a second held with p95 under {1e3 * PROMPT_S:.0f} ms: {most_steady_clients(rest)}{most}")
    return [first, *rest]


def measure(options: ServerBenchmarkOptions, tell: Callable[[str], None] = lambda _: None) -> list[HeadsetFigures]:
    """One run of `clients` headsets; or, with `most_clients`, as many runs as the search for the limit takes."""
    pictures = sent_pictures(options.video, options.fps)
    if not options.most_clients:
        return [_measure(options, options.clients, pictures, tell)]
    return _search(options, pictures, tell)


def most_steady_clients(measured: Sequence[HeadsetFigures]) -> int:
    """The most clients of these runs that were answered promptly and steadily; 0 if none were."""
    return max((one.clients for one in measured if one.p95_s < PROMPT_S and one.is_steady), default=0)


def _search(
    options: ServerBenchmarkOptions, pictures: list[bytes], tell: Callable[[str], None]
) -> list[HeadsetFigures]:
    """Twice as many until it is too much, then halving the gap."""
    runs: list[HeadsetFigures] = []
    low, high, count = 0, options.most_clients + 1, min(2, options.most_clients)
    while high - low > 1:
        runs.append(_measure(options, count, pictures, tell))
        if most_steady_clients(runs[-1:]):
            low = count
        else:
            high = count
        count = min(2 * low, high - 1) if high > options.most_clients else (low + high) // 2
    return runs


def _measure(
    options: ServerBenchmarkOptions, clients: int, pictures: list[bytes], tell: Callable[[str], None]
) -> HeadsetFigures:
    with tempfile.TemporaryDirectory() as data, served(options, clients, Path(data)) as (port, token):
        measured = asyncio.run(Crowd(options, clients, pictures, port, token).run())
    tell(measured.line())
    return measured


@contextmanager
def served(
    options: ServerBenchmarkOptions, clients: int, data: Path, more: Sequence[str] = (), stores_pictures: bool = False
) -> Iterator[tuple[int, str]]:
    """The port and token of a server as a user starts it; `more` are further options of the command."""
    command = [sys.executable, "-m", "guide", "serve", "--bundle", str(options.bundle), "--port", "0",
               "--data", str(data), "--pictures" if stores_pictures else "--no-pictures",
               "--most-clients", str(clients + 1), "--threads", str(options.threads), *more]  # fmt: skip
    token = secrets.token_urlsafe()  # the printed address has a camera's, which may not read the metrics
    own = {**os.environ, "CNC_TOKEN": token}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=own) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r":(\d+)/\?token=", line)
            if found is None:
                raise OutputError(f"the server did not start: {line}{process.stdout.read()}".strip())
            yield int(found[1]), token
        finally:
            process.terminate()
            try:
                process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


@dataclass(slots=True)
class _Tally:
    """What one headset counted."""

    sent: int = 0
    seen: int = 0
    unsent: int = 0
    replies: list[tuple[float, float]] = field(default_factory=list)  # when sent since the start, seconds to the ack


class Crowd:
    """So many headsets at once, each with its own phase; and somebody who reads the metrics."""

    def __init__(
        self, options: ServerBenchmarkOptions, clients: int, pictures: list[bytes], port: int, token: str
    ) -> None:
        self._options, self._clients, self._pictures = options, clients, pictures
        self._port, self._token = port, token
        self._tallies = [_Tally() for _ in range(clients)]
        self._waits: list[tuple[float, float]] = []  # count and sum of the ages so far, at each third
        self._memory: list[float] = []

    async def run(self) -> HeadsetFigures:
        self._began = time.monotonic() + 1.0
        await asyncio.gather(self._look_on(), *(self._headset(number) for number in range(self._clients)))
        late = [
            reply for tally in self._tallies for at, reply in tally.replies if at > min(SETTLE_S, self._options.seconds)
        ]
        starts, ends = self._waits[:-1], self._waits[1:]
        ages = [(end[1] - start[1]) / max(end[0] - start[0], 1.0) for start, end in zip(starts, ends, strict=True)]
        return HeadsetFigures(
            self._clients,
            self._options.fps,
            self._options.seconds,
            sum(tally.sent for tally in self._tallies),
            sum(tally.seen for tally in self._tallies),
            sum(tally.unsent for tally in self._tallies),
            tuple(late),
            (ages[0], ages[-1]),
            (self._memory[1], self._memory[-1]),
            sum(tally.seen == 0 for tally in self._tallies),
        )

    async def _look_on(self) -> None:
        """Reads the metrics after the first seconds and after each third of the rest.

        The last time shortly before the end: all sessions ended at once take memory that tells nothing of growth.
        """
        for share in range(4):
            moment = self._began + SETTLE_S + share * (self._options.seconds - END_S - SETTLE_S) / 3
            await asyncio.sleep(max(0.0, moment - time.monotonic()))
            metrics = await asyncio.to_thread(read_metrics, self._port, self._token)
            self._waits.append(stage_times(metrics, "wait"))
            self._memory.append(metrics["process_resident_memory_bytes"])

    async def _headset(self, number: int) -> None:
        address = f"ws://127.0.0.1:{self._port}/frames"
        async with websockets.connect(address, compression=None, open_timeout=PATIENCE_S, max_size=None) as socket:
            await socket.send(json.dumps({"token": self._token, "client": f"headset-{number}"}))
            json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))
            waiting: list[float] = []
            listener = asyncio.create_task(self._listen(socket, self._tallies[number], waiting))
            await self._send(socket, number, waiting)
            await socket.send(json.dumps({"type": "end"}))
            await asyncio.wait_for(listener, PATIENCE_S)

    async def _send(self, socket: websockets.ClientConnection, number: int, waiting: list[float]) -> None:
        tally, period = self._tallies[number], 1 / self._options.fps
        tick = self._began + period * number / self._clients
        for picture in range(round(self._options.seconds * self._options.fps)):
            await asyncio.sleep(max(0.0, tick - time.monotonic()))
            if len(waiting) < IN_FLIGHT:
                waiting.append(time.monotonic())
                tally.sent += 1
                data = self._pictures[(picture + 7 * number) % len(self._pictures)]
                await socket.send(struct.pack("<d", time.time()) + data)
            else:
                tally.unsent += 1
            tick += period

    async def _listen(self, socket: websockets.ClientConnection, tally: _Tally, waiting: list[float]) -> None:
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "ack":
                sent = waiting.pop(0)
                tally.seen += message["fate"] == "seen"
                tally.replies.append((sent - self._began, time.monotonic() - sent))


def read_metrics(port: int, token: str) -> dict[str, float]:
    """What the server on this machine counts, by the name and labels of each figure; that of all replicas in one."""
    lines = ask(port, token, "/metrics").decode().splitlines()
    found: dict[str, float] = {}
    for name, _, value in (line.rpartition(" ") for line in lines if line[:1] != "#"):
        plain = re.sub(r',?replica="[^"]*"', "", name).replace("{}", "").replace("{,", "{")
        found[plain] = found.get(plain, 0.0) + float(value)
    return found


def ask(port: int, token: str, path: str) -> bytes:
    """What the server on this machine answers."""
    request = urllib.request.Request(f"http://{LOCAL}:{port}{path}", headers={"Authorization": f"Bearer {token}"})
    with open_directly(request, PATIENCE_S) as answer:
        return bytes(answer.read())


def stage_times(metrics: dict[str, float], stage: str) -> tuple[float, float]:
    """How often a stage ran so far, and the seconds it took."""
    count, total = (metrics.get(f'guide_stage_seconds_{what}{{stage="{stage}"}}', 0.0) for what in ("count", "sum"))
    return count, total


def sent_pictures(video: Path | None, fps: float = 0.0, most: int = MOST_PICTURES) -> list[bytes]:
    """The JPEG pictures that are sent: the first of a recording, at a rate or all of them, or blobs on noise."""
    if video is None:
        return [_made_up(number) for number in range(PICTURES)]
    source = open_source(str(video))
    pictures = list[bytes]()
    for frame in source.frames():
        if not fps or frame.at * fps >= len(pictures):
            pictures.append(_jpeg(frame.image[..., ::-1]))
        if len(pictures) == most:
            break
    source.close()
    return pictures


def _made_up(number: int) -> bytes:
    image = np.random.default_rng(number).integers(90, 130, (240, 320, 3)).astype(np.uint8)
    cv2.circle(image, (60 + 2 * number % 200, 120), 40, (30, 60, 220), -1)
    return _jpeg(image)


def _jpeg(image: np.ndarray) -> bytes:
    return bytes(cv2.imencode(".jpg", np.ascontiguousarray(image), [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes())
