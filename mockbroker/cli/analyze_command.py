"""`analyze` among the other commands, with help that names what it finds."""

import textwrap
from typing import Any

from typer.core import TyperCommand


class Analyze(TyperCommand):
    """Loads the signatures only for its help."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from ..pipeline.signatures import by_name

        names = f"It finds {', '.join(sorted(by_name()))}."
        lines = textwrap.wrap(names, formatter.width - 2, break_on_hyphens=False)
        formatter.write(f"\n{textwrap.indent(chr(10).join(lines), '  ')}\n")
