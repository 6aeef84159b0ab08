"""One headset's WebSocket: frames in, guidance out. The protocol is described in docs/protocol.md."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from guide import wire
from guide.errors import GuideError, InputError
from guide.ingest.pushed import PushedFrames
from guide.procedure.wording import ACTION_WORDS, ANSWERS, LATE_ANSWERS, MOODS
from guide.serve.limits import Limits, RateLimiter
from guide.serve.messages import REPLACED, SEND_S, STAMP, TOO_SLOW, close, read_object, read_stamp
from guide.serve.picture import decode
from guide.serve.run import Fate, Run
from guide.serve.runs import Runs
from guide.serve.tokens import Identity

REMEMBERED = 8
AFTER_END_S = 300.0  # how long alerts can be answered over a connection whose session is over
WORDS = {"answers": ANSWERS, "late": LATE_ANSWERS, "actions": ACTION_WORDS, "moods": MOODS}
"""What pages show of answers, actions and moods, in the words of the dashboard."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who came by a connection: what its token allows, and whether it stays for answers when the session is over."""

    identity: Identity
    look: Callable[[str], str]
    """The token to look at one session's pictures."""
    stays: bool = False


class Channel:
    """An accepted connection. Its queue of messages is bounded: a client that does not read is disconnected."""

    def __init__(
        self, websocket: WebSocket, client: str, limits: Limits, decoding: CapacityLimiter, visitor: Visitor
    ) -> None:
        self.websocket, self.client, self._limits, self._visitor = websocket, client, limits, visitor
        self._decoding = decoding  # threads that do nothing else, so that frames wait for nothing else
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(limits.most_waiting)
        self._early: list[str | None] | None = []  # messages from before the greeting was sent
        self._ended = asyncio.Event()
        self._code = 1000
        self._pending: deque[tuple[float, float]] = deque()  # when taken, when arrived
        self._fates: dict[float, Fate] = {}
        self._until = -math.inf
        self._limiter = RateLimiter(limits.most_rate)

    async def serve(self, run: Run, runs: Runs) -> None:
        """Frames in and guidance out until one side ends it; the session outlives a lost connection for a while."""
        self._run, self._metrics = run, runs.metrics
        tasks: list[asyncio.Task[Any]] = []
        run.add_listener(self)  # first, so that no message is missed while the greeting is made
        try:
            await self._greet()
            if run.is_over:  # it ended before we listened
                self.on_end()
            tasks = [asyncio.create_task(work) for work in (self._read(), self._write(), self._ended.wait())]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            run.remove_listener(self)
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        await close(self.websocket, self._code)
        for result in results:
            if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect | RuntimeError | OSError):
                raise result

    async def _greet(self) -> None:
        hello = wire.dump(await run_in_threadpool(self._hello))
        early, self._early = self._early or [], None
        for text in (hello, *early):
            self._put(text)

    async def replace(self) -> None:
        """Ends this connection for a newer one of the same name; the session goes on."""
        self._code = REPLACED
        self._ended.set()
        await asyncio.sleep(0)

    def on_message(self, text: str) -> None:
        self._call(self._put, text)

    def on_frame(self, at: float, fate: Fate) -> None:
        self._call(self._handle, at, fate)

    def on_end(self) -> None:
        self._call(self._leave)

    def _leave(self) -> None:
        """Ends the connection after all that was said, at once or when nobody answers alerts any more."""
        self._loop.call_later(AFTER_END_S if self._visitor.stays else 0.0, self._put, None)

    def _call(self, function: Any, *arguments: object) -> None:
        """Runs a function in the event loop's thread, soon; does nothing once the loop was stopped."""
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            return

    def _put(self, text: str | None) -> None:
        try:
            if self._early is None:
                self._queue.put_nowait(text)
            elif len(self._early) < self._limits.most_waiting:
                self._early.append(text)
            else:
                raise asyncio.QueueFull
        except asyncio.QueueFull:
            self._metrics.count("guide_refusals_total", why="slow")
            self._code = TOO_SLOW
            self._ended.set()

    def _hello(self) -> dict[str, Any]:
        limits = self._limits
        return {
            "type": "hello",
            "session": self._run.facts.id,
            "client": self.client,
            "rate": self._run.rate,
            "most_rate": limits.most_rate,
            "in_flight": limits.in_flight,
            "most_bytes": limits.picture.most_bytes,
            "most_pixels": limits.picture.most_pixels,
            "steps": self._run.steps,
            "look": self._visitor.look(self._run.facts.id),
            "words": WORDS,
            "state": self._run.show(),
        }

    async def _write(self) -> None:
        while (text := await self._queue.get()) is not None:
            async with asyncio.timeout(SEND_S):
                await self.websocket.send_text(text)

    async def _read(self) -> None:
        while True:
            message = await self.websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if not self._limiter.take():
                await asyncio.sleep(self._limiter.pause_s)  # not reading is what slows a sender down
                self._refuse_frame(message, "rate")
            elif (data := message.get("bytes")) is not None:
                await self._frame(data)
            else:
                await self._words(message.get("text"))

    def _refuse_frame(self, message: Any, why: str) -> None:
        self._metrics.count("guide_frames_dropped_total", why=why)
        if message.get("bytes") is not None:
            self._ack(None, "refused")
        else:
            self._put(wire.dump({"type": "error", "text": "too many messages came: slow down."}))

    async def _frame(self, data: bytes) -> None:
        arrived = time.monotonic()
        self._metrics.count("guide_frames_received_total")
        if len(self._pending) >= self._limits.in_flight or self._run.is_over:
            self._refuse_frame({"bytes": b""}, "in_flight")
            return
        try:
            at = await to_thread.run_sync(self._push, data, limiter=self._decoding)
        except InputError as error:
            self._metrics.count("guide_frames_dropped_total", why="damaged")
            self._put(wire.dump({"type": "error", "text": str(error)}))
            self._ack(None, "damaged")
            return
        self._pending.append((at, arrived))
        self._settle()

    def _push(self, data: bytes) -> float:
        """Decodes a frame and hands it over; in a thread, since decoding takes milliseconds."""
        source = self._run.source
        assert isinstance(source, PushedFrames)
        began = time.monotonic()
        try:
            stamp = read_stamp(data)
            image = decode(data[STAMP.size :], self._limits.picture)
        except InputError:
            source.damaged()
            raise
        self._metrics.time("decode", time.monotonic() - began)
        return source.push(image, stamp)

    def _handle(self, at: float, fate: Fate) -> None:
        """A frame was handled, and with it all that came before it."""
        self._fates[at] = fate
        while len(self._fates) > REMEMBERED:
            del self._fates[next(iter(self._fates))]
        self._until = max(self._until, at)
        self._settle()

    def _settle(self) -> None:
        while self._pending and self._pending[0][0] <= self._until:
            at, arrived = self._pending.popleft()
            self._metrics.time("reply", time.monotonic() - arrived)
            self._ack(at, self._fates.get(at, "dropped"))

    def _ack(self, at: float | None, fate: Fate) -> None:
        self._put(wire.dump({"type": "ack", "at": None if at is None else round(at, 3), "fate": fate}))

    async def _words(self, text: str | None) -> None:
        """An operator's action, or the end of the session."""
        try:
            plain = read_object(text, self._limits)
            match plain.pop("type", "action"):
                case "action":
                    await run_in_threadpool(self._run.act, plain, self._visitor.identity)
                case "end":
                    self._run.end()
                case other:
                    raise InputError(f"a message is of type action or end, got {other!r:.40}.")
        except GuideError as error:
            self._put(wire.dump({"type": "error", "text": str(error)}))
