"""`python -m guide`: the live side's commands."""

from __future__ import annotations

from typing import Annotated

import tyro

from guide import check, order, watch
from guide.command import run

Command = (
    Annotated[watch.WatchOptions, tyro.conf.subcommand("watch")]
    | Annotated[check.CheckOptions, tyro.conf.subcommand("check")]
    | Annotated[order.OrderConfig, tyro.conf.subcommand("order")]
)


def main() -> None:
    """Reads the command and runs it; settings are checked while they are read, so that is done inside too."""
    run(lambda: _run(tyro.cli(Command, prog="python -m guide")))


def _run(options: Command) -> None:
    match options:
        case watch.WatchOptions():
            watch.main(options)
        case check.CheckOptions():
            check.main(options)
        case order.OrderConfig():
            print(order.report(options))


if __name__ == "__main__":
    main()
