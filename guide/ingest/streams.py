"""Network streams: RTSP over TCP, and MJPEG or MPEG-TS over HTTP."""

from __future__ import annotations

import errno
import logging
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import av
from av.video.reformatter import VideoReformatter

from guide.errors import InputError
from guide.ingest.base import Shot, SourceLostError
from guide.ingest.files import open_video, reason, to_rgb
from guide.ingest.rtsp_relay import RtspRelay, on_machine

log = logging.getLogger(__name__)

SCHEMES = ("rtsp", "rtsps", "http", "https")
OPEN_S = 5.0  # FFmpeg itself waits no longer for a connection
UNSTAMPED = frozenset({"mpjpeg"})  # its times are a made-up 25 a second
LIVE_FORMATS = ("rtsp", "mpjpeg", "mpegts")
"""No other is even opened: the tables of a recording can fill the memory."""
UNKNOWN = (av.error.ArgumentError, av.error.InvalidDataError)  # how a format that is not wanted reads, and none at all
ADVICE = "check the address and that the server runs"
ELSEWHERE = "give another address of the camera, or the file itself if it is a recording"


def is_address(text: str) -> bool:
    """Whether a SOURCE is meant as an address."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.\-]*://", text) is not None


def redacted(address: str) -> str:
    """An address fit for eyes and logs: user, password and the values of its query are covered.

    >>> redacted("rtsp://user:secret@10.0.0.7:554/live?channel=1&token=abc#x")
    'rtsp://***@10.0.0.7:554/live?channel=***&token=***'
    """
    scheme, _, rest = address.partition("://")
    rest, _, _ = rest.partition("#")
    rest, _, query = rest.partition("?")
    place, slash, path = rest.partition("/")
    if "@" in rest:  # a password may hold a slash: everything up to the last @ goes
        place, slash, path = f"***@{rest.rpartition('@')[2]}".partition("/")
    names = [part.partition("=")[0] for part in query.split("&") if part]
    asked = "?" + "&".join(f"{name}=***" for name in names) if names else ""
    return f"{scheme}://{place}{slash}{path}{asked}"


class NetworkStream:
    """An open stream whose next picture is waited for up to `silent_s`.

    >>> NetworkStream("http://user:secret@127.0.0.1:9/video", silent_s=1.0)
    Traceback (most recent call last):
    ...
    guide.ingest.base.SourceLostError: it cannot be opened (Connection refused)
    """

    def __init__(self, address: str, silent_s: float, machine: str | None = None) -> None:
        """Opens it, on the `machine` of this number where one is given, whatever its name means by now."""
        self._name = redacted(address)
        options = _options(address)
        self._relay: RtspRelay | None = None
        try:
            if machine is not None and _is_rtsp(address):
                self._relay = RtspRelay(address, machine, OPEN_S)
                address = self._relay.address
            elif machine is not None:
                address, options = on_machine(address, machine), {**options, **_staying(address)}
            self._container: Any = open_video(address, options, timeout=(OPEN_S, silent_s), metadata_errors="ignore")
        except (av.FFmpegError, OSError, ValueError) as error:
            # The cause is left out: its text holds the whole address, password included.
            raise self._lost(address, error) from None
        try:
            self._stream = self._check()
        except (InputError, SourceLostError):
            self.close()
            raise
        self._has_stamps = self._container.format.name not in UNSTAMPED
        self._shots = self._decode(address)

    def read(self) -> Shot | None:
        try:
            return next(self._shots)
        except StopIteration:
            raise SourceLostError("the stream ended", ADVICE) from None

    def close(self) -> None:
        self._container.close()
        if self._relay is not None:
            self._relay.close()

    def _lost(self, address: str, error: Exception) -> SourceLostError:
        """Why it cannot be opened."""
        if self._relay is not None:
            self._relay.close()
            if self._relay.has_cut:
                return SourceLostError("it points to another place", "only an administrator's token follows it there")
        code = getattr(error, "errno", None)
        if code == errno.EPROTONOSUPPORT:
            return SourceLostError("it comes over UDP only", "let the camera send RTSP over TCP")
        if code == errno.EIO or isinstance(error, UNKNOWN):
            return SourceLostError("nothing comes from there that is RTSP, MJPEG or MPEG-TS", ELSEWHERE)
        return SourceLostError(f"it cannot be opened ({_reason_without(address, error)})", ADVICE)

    def _check(self) -> Any:
        """The picture track, set up for little delay; raises InputError for what is no live stream."""
        kind = self._container.format.name
        if kind == "mpegts" and (self._container.size or 0) > 0:  # cameras make up a length for MJPEG
            raise InputError(
                f"a live stream was expected (RTSP, or MJPEG or MPEG-TS over HTTP), but {self._name} is a recording: "
                "download it and give the file."
            )
        if not self._container.streams.video:
            raise SourceLostError("it has no picture track", "choose another address of this camera")
        stream = self._container.streams.video[0]
        stream.thread_type = "SLICE"  # threads that take whole frames each hold one back
        if kind == "mpjpeg":
            stream.codec_context.options = {**stream.codec_context.options, "err_detect": "explode"}
        return stream

    def _decode(self, address: str) -> Iterator[Shot | None]:
        """Shots as they come; None for what cannot be decoded."""
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except (av.FFmpegError, OSError) as error:
                raise SourceLostError(_reason_without(address, error), ADVICE) from None
            if packet is None:
                return
            try:
                yield from (self._shot(decoded) for decoded in packet.decode())
            except (av.FFmpegError, OSError) as error:
                log.debug("%s: a picture cannot be decoded (%s)", self._name, _reason_without(address, error))
                yield None

    def _shot(self, decoded: Any) -> Shot | None:
        if decoded.is_corrupt:
            return None
        has_time = self._has_stamps and decoded.pts is not None and decoded.time_base is not None
        stamp = float(decoded.pts * decoded.time_base) if has_time else None
        return Shot(lambda: to_rgb(decoded, VideoReformatter()), stamp)  # two threads may ask: each takes its own


def _is_rtsp(address: str) -> bool:
    return address.lower().startswith("rtsp")


def _options(address: str) -> dict[str, str]:
    """For FFmpeg: little probing, so that a stream opens at once, and no protocol but those of the address.

    A playlist is not even read: FFmpeg would ask for what it lists, on any machine, to find out what that is.
    """
    common = {"analyzeduration": "500000", "fpsprobesize": "0", "format_whitelist": ",".join(LIVE_FORMATS)}
    if _is_rtsp(address):
        return {**common, "rtsp_transport": "tcp", "protocol_whitelist": "rtsp,rtsps,rtp,tcp,tls"}
    return {**common, "protocol_whitelist": "http,https,httpproxy,tcp,tls"}


def _staying(address: str) -> dict[str, str]:
    """For FFmpeg: the name is told to a machine that is asked by its number, and no redirection is followed."""
    place = urlsplit(address).netloc.rpartition("@")[2]
    host = urlsplit(address).hostname or ""
    return {"headers": f"Host: {place}\r\n", "verifyhost": host, "max_redirects": "0"}


def _reason_without(address: str, error: Exception) -> str:
    """Why, in the library's words, with the address covered wherever it quotes it."""
    if isinstance(error, av.error.ExitError):  # how a timeout of ours reads there
        return "nothing came in time"
    return reason(error).replace(address, redacted(address))


def require_address(text: str) -> str:
    """The address, if it is one we can open; raises InputError otherwise."""
    scheme = text.partition("://")[0].lower()
    if scheme not in SCHEMES:
        raise InputError(
            f"an address beginning with {', '.join(f'{one}://' for one in SCHEMES)} was expected, got {redacted(text)}."
        )
    try:
        host = urlsplit(text).hostname
    except ValueError:
        host = None
    if not host:
        raise InputError(f"an address names a machine, {redacted(text)} does not: write it as {scheme}://HOST/PATH.")
    return text
