"""The commands in groups, in the order in which somebody comes to them."""

from typing import Any, Final

from typer.core import TyperGroup

SERVE: Final = "A cluster to test with"
LOOK_UP: Final = "What there is"
TEST: Final = "Test a client or a broker"
REAL: Final = "Real clusters and incidents"
HISTORIES: Final = "Thousands of histories"

_GROUPS: Final = {
    SERVE: ("serve", "run", "ctl", "capture", "view"),
    LOOK_UP: ("faults", "errors", "policies", "doctor"),
    TEST: ("check", "hunt", "conformance"),
    REAL: ("proxy", "record", "analyze", "reproduce"),
    HISTORIES: ("explore", "replay"),
}


class Grouped(TyperGroup):
    """Its help has a section for each group."""

    def list_commands(self, ctx: Any) -> list[str]:
        known = [name for names in _GROUPS.values() for name in names if name in self.commands]
        return known + [name for name in self.commands if name not in known]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        names = self.list_commands(ctx)
        longest = max(map(len, names))
        limit = formatter.width - 6 - longest
        grouped = {name for each in _GROUPS.values() for name in each}
        for title, group in (
            *_GROUPS.items(),
            ("More", tuple(each for each in names if each not in grouped)),
        ):
            rows = [(each.ljust(longest), self.commands[each].get_short_help_str(limit)) for each in group]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
