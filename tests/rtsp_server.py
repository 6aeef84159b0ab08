"""An RTSP server for the tests: runs under Debian's own Python, which has GStreamer's bindings.

    /usr/bin/python3 tests/rtsp_server.py VIDEO.mp4 [--port 8554]

It serves the H.264 video as rtsp://127.0.0.1:PORT/x in real time to one client, and prints its address once it
listens. When the video ends or the client leaves, it ends too, as if it was switched off.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

PIPELINE = '( filesrc location="{video}" ! qtdemux ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1 )'


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("video")
    parser.add_argument("--port", default="0")
    options = parser.parse_args()
    gst, rtsp, glib = libraries()
    gst.init(None)
    factory = rtsp.RTSPMediaFactory()
    factory.set_launch(PIPELINE.format(video=options.video))
    loop = glib.MainLoop()
    factory.connect("media-configure", lambda _, media: media.connect("unprepared", lambda _: loop.quit()))
    server = rtsp.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(options.port)
    server.get_mount_points().add_factory("/x", factory)
    if not server.attach(None):
        sys.exit(f"port {options.port} is taken")
    sys.stdout.write(f"rtsp://127.0.0.1:{server.get_bound_port()}/x\n")
    sys.stdout.flush()
    loop.run()


def libraries() -> tuple[Any, Any, Any]:
    """GStreamer, its RTSP server and the main loop; imported here, since the tests' own Python has none of them."""
    importlib.import_module("gi").require_versions({"Gst": "1.0", "GstRtspServer": "1.0"})
    gst, rtsp, glib = (importlib.import_module(f"gi.repository.{name}") for name in ("Gst", "GstRtspServer", "GLib"))
    return gst, rtsp, glib


if __name__ == "__main__":
    main()
