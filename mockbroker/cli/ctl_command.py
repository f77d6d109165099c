"""`ctl` among the other commands, for shells that complete it."""

from typing import Any

from typer.core import TyperCommand
from typer.main import get_command


class Ctl(TyperCommand):
    """Completes the commands of `ctl`, which it does not load otherwise."""

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        from typer._completion_classes import BashComplete

        from .ctl import app

        # The result is the same for every shell.
        complete: Any = BashComplete(get_command(app), {}, "ctl", "")
        return complete.get_completions(list(ctx.args), incomplete)
