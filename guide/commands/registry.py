"""The live side's commands, by their names."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, get_args

import tyro

from guide import __version__
from guide.commands import (
    benchmark,
    cameras,
    check,
    order,
    replay,
    report,
    review,
    sessions,
    show,
    steps,
    tokens,
    watch,
)
from guide.commands.entry import read_options, run
from guide.serve.options import ServeOptions

Command = (
    Annotated[watch.WatchOptions, tyro.conf.subcommand("watch")]
    | Annotated[cameras.CamerasOptions, tyro.conf.subcommand("cameras")]
    | Annotated[check.CheckOptions, tyro.conf.subcommand("check")]
    | Annotated[show.ShowOptions, tyro.conf.subcommand("show")]
    | Annotated[order.OrderConfig, tyro.conf.subcommand("order")]
    | Annotated[replay.ReplayOptions, tyro.conf.subcommand("replay")]
    | Annotated[report.ReportOptions, tyro.conf.subcommand("report")]
    | Annotated[review.ReviewOptions, tyro.conf.subcommand("review")]
    | Annotated[sessions.SessionsOptions, tyro.conf.subcommand("sessions")]
    | Annotated[steps.StepsOptions, tyro.conf.subcommand("steps")]
    | Annotated[benchmark.LiveBenchmarkOptions, tyro.conf.subcommand("bench")]
    | Annotated[tokens.TokensOptions, tyro.conf.subcommand("tokens")]
    | Annotated[ServeOptions, tyro.conf.subcommand("serve")]
)


def main() -> None:
    """Reads the command and runs it; settings are checked while they are read, so that is done inside too."""
    if sys.argv[1:] == ["--version"]:
        print(f"cnc-guide {__version__}")
        return
    program = "guide" if Path(sys.argv[0]).name == "guide" else "python -m guide"
    names = {annotated.__metadata__[0].name for annotated in get_args(Command)}
    command = next((word for word in sys.argv[1:2] if word in names), "")
    run(lambda: _run(read_options(Command, sys.argv[1:], program, command)))


def _run(options: Command) -> None:
    match options:
        case watch.WatchOptions():
            watch.main(options)
        case cameras.CamerasOptions():
            cameras.main(options)
        case check.CheckOptions():
            check.main(options)
        case show.ShowOptions():
            show.main(options)
        case order.OrderConfig():
            print(order.report(options))
        case replay.ReplayOptions():
            replay.main(options)
        case report.ReportOptions():
            report.main(options)
        case review.ReviewOptions():
            review.main(options)
        case sessions.SessionsOptions():
            sessions.main(options)
        case steps.StepsOptions():
            steps.main(options)
        case benchmark.LiveBenchmarkOptions():
            benchmark.main(options)
        case tokens.TokensOptions():
            tokens.main(options)
        case ServeOptions():
            from guide.commands import serve as command

            command.main(options)
