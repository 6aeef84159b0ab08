"""What a fleet's processes log: a JSON object a line, so that those of many machines can be searched together."""

from __future__ import annotations

import json
import logging


class JsonLines(logging.Formatter):
    """A record as a JSON object: when, how grave, which process, which module, what, and the trace where there is one.

    >>> record = logging.LogRecord("guide.serve.run", logging.WARNING, "", 1, "session %s: gone", ("7",), None)
    >>> record.created = 0.0
    >>> JsonLines("replica-1").format(record)[:72]
    '{"at": 0.0, "level": "warning", "process": "replica-1", "module": "guide'
    """

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        plain: dict[str, object] = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "process": self._process,
            "module": record.name,
            "text": record.getMessage(),
        }
        if record.exc_info:
            plain["trace"] = self.formatException(record.exc_info)
        return json.dumps(plain)


def log_as_json(process: str) -> None:
    """From now on this process logs so, to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines(process))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
