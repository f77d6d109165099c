"""What came of the questions, by API: as a table, as Markdown and as JSON."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mockbroker.protocol.errors import ErrorCode

from ...rig.client import api_name
from ...rig.scene import CLOSED, NO_ANSWER
from ..asking import FAILED, Result
from ..diff import compared, lines

EQUAL: Final = "equal"
OTHER_ERROR: Final = "other error"
OTHER_FIELD: Final = "other field"
BROKE_OFF: Final = "broke off"
SKIPPED: Final = "skipped"
OUTCOMES: Final = (EQUAL, OTHER_FIELD, OTHER_ERROR, BROKE_OFF, SKIPPED)
"""Whether an answer has other error codes (or none, the connection being closed), or else other values."""
_VERSION: Final = re.compile(r"^the cluster has no (\w+) v\d+$")
_ERRORS: Final = frozenset({CLOSED, NO_ANSWER, *ErrorCode.__members__})
SUFFIXES: Final = (".json", ".md")


def title(question: str, version: int) -> str:
    """A question as people read it: "OffsetCommit v9 wrong members"."""
    api, _, name = question.partition(".")
    return f"{api_name(api)} v{version} {name.replace('_', ' ')}"


def outcome(result: Result) -> str:
    """One of OUTCOMES."""
    if result.got is None:
        return SKIPPED
    if result.equal:
        return EQUAL
    if result.got and result.got[-1][0] == FAILED:
        return BROKE_OFF
    pairs = compared(result.expected, result.got)
    return OTHER_ERROR if any(_is_error(each) for _, *pair in pairs for each in pair) else OTHER_FIELD


def _is_error(value: Any) -> bool:
    return isinstance(value, str) and value in _ERRORS


def differences(result: Result) -> list[str]:
    """One line for each field that differs, and for what ended the question early."""
    if result.got is None or outcome(result) != BROKE_OFF:
        return lines(result.expected, result.got or [])
    *answered, (_, why) = result.got
    ended = len(answered)
    before = f" before {result.expected[ended][0]!r}" if ended < len(result.expected) else ""
    return [*lines(result.expected[:ended], answered), f"broke off{before}: {why}"]


@dataclass
class Report:
    """`release` is the one that is compared with; `lacks` says what of the set-up differs."""

    release: str
    brokers: int
    lacks: list[str]
    asked: list[tuple[Result, str]] = field(default_factory=list)
    """With the reason for which it was skipped, if it was."""
    ended: list[str] = field(default_factory=list)
    """The questions after which nothing could connect to the cluster."""

    def add(self, result: Result, skipped: str = "") -> None:
        self.asked.append((result, skipped))

    def by_api(self) -> dict[str, Counter[str]]:
        """How many questions had which outcome, versions counted one by one."""
        found: dict[str, Counter[str]] = {}
        for result, _ in self.asked:
            api = api_name(result.question.partition(".")[0])
            found.setdefault(api, Counter())[outcome(result)] += 1
        return dict(sorted(found.items()))

    def skipped(self) -> list[tuple[str, int]]:
        """The reasons, with how many questions each of them has cost. Versions of an API are one reason."""
        return Counter(
            _VERSION.sub(r"the cluster lacks versions of \1", why) for _, why in self.asked if why
        ).most_common()

    def rows(self) -> Iterator[tuple[str, ...]]:
        """The table: its head, an API each, the sums."""
        apis = self.by_api()
        yield ("API", *OUTCOMES)
        for api, counts in apis.items():
            yield (api, *(str(counts[each]) for each in OUTCOMES))
        total = sum(apis.values(), Counter[str]())
        yield ("all", *(str(total[each]) for each in OUTCOMES))

    def table(self) -> list[str]:
        """For a terminal."""
        rows = list(self.rows())
        wide = max(len(row[0]) for row in rows)
        return [f"{row[0]:<{wide}}" + "".join(f"{cell:>13}" for cell in row[1:]) for row in rows]

    def _worse(self) -> list[Result]:
        return [
            result for result, _ in self.asked if outcome(result) in (OTHER_FIELD, OTHER_ERROR, BROKE_OFF)
        ]

    def markdown(self) -> str:
        """The table, then every difference."""
        head, *rows = self.rows()
        text = [f"# Compared with Kafka {self.release}", ""]
        text += [f"- {each}" for each in self.lacks] + [""] * bool(self.lacks)
        text += ["| " + " | ".join(head) + " |", "|---|" + "--:|" * len(OUTCOMES)]
        text += ["| " + " | ".join(row) + " |" for row in rows]
        text += [""] * bool(self.ended) + [
            f"The cluster could not be reached after {each}." for each in self.ended
        ]
        if self.skipped():
            text += ["", "## Skipped", ""] + [f"- {count}: {why}" for why, count in self.skipped()]
        if worse := self._worse():
            text += ["", "## Different"]
        for result in worse:
            text += ["", f"### {title(result.question, result.version)}", "", "```text"]
            text += [*differences(result), "```"]
        return "\n".join([*text, ""])

    def as_json(self) -> str:
        """Everything, for programs. `outcomes` has one of OUTCOMES for each question."""
        found: dict[str, Any] = {
            "kafka": self.release,
            "brokers": self.brokers,
            "set_up": self.lacks,
            "apis": {api: dict(counts) for api, counts in self.by_api().items()},
            "not_reached_after": self.ended,
            "skipped": dict(self.skipped()),
            "outcomes": {title(each.question, each.version): outcome(each) for each, _ in self.asked},
            "different": {title(each.question, each.version): differences(each) for each in self._worse()},
        }
        return json.dumps(found, indent=1, ensure_ascii=False) + "\n"

    def write(self, file: Path) -> None:
        """As JSON or Markdown, by the file's suffix."""
        file.write_text(self.as_json() if file.suffix == ".json" else self.markdown())
