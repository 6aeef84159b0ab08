"""`python -m guide tokens`: tokens with a name and a role, for a server's cameras, viewers and operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rich.console import Console

from guide.errors import InputError
from guide.serve.tokens import FILE, Role, add_token, read_tokens, revoke_token


@dataclass(frozen=True)
class TokensOptions:
    """List, make and revoke the named tokens of a server; a running server follows at once."""

    data: Path = Path("sessions")
    """The folder of the sessions, as `serve --data` has it."""
    add: str | None = None
    """Make a token of this name."""
    role: Role = "operate"
    """What it permits: camera (send frames, receive guidance), watch (read), operate (act, start, end), admin."""
    revoke: str | None = None
    """Revoke the token of this name."""

    def __post_init__(self) -> None:
        if self.add is not None and self.revoke is not None:
            raise InputError("--add or --revoke was expected, both were given: do one after the other.")


def main(options: TokensOptions) -> None:
    """Runs the command."""
    console, file = Console(highlight=False, markup=False, emoji=False, soft_wrap=True), options.data / FILE
    if options.add is not None:
        token = add_token(file, options.add, options.role)
        console.print(f"{options.add} ({options.role}): {token}")
        console.print("It is shown this once: only its hash is kept.")
    elif options.revoke is not None:
        revoke_token(file, options.revoke)
        console.print(f"revoked {options.revoke}")
    else:
        tokens = read_tokens(file)
        for one in tokens:
            console.print(f"{one.name}  {one.role}  since {datetime.fromtimestamp(one.made):%Y-%m-%d %H:%M}")
        if not tokens:
            console.print(f"no token in {options.data} yet: only the one that guide serve prints opens its server")
        console.print("next: python -m guide tokens --add NAME --role camera|watch|operate|admin")
