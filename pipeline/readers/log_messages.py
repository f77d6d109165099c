"""The parts of the tables of messages: a text to look for, a pattern, and the row that it makes.

A pattern's named groups are columns of the row, and `{offset}` is short for a group of that name: a number,
or brokers for `{replicas}`. `{tp}` is a topic and partition as Kafka writes them, `{position}` a client's
position; both fill several columns.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from ..observations import Observation
from .log_entries import Entry

# `orders-0`, `[orders,0]` as up to 0.10, Python's tuple, and anonymised names: `X-N` has no partition.
_TP: Final = (
    r"(?:\[(?P<old_topic>[\w.-]+),\s?(?P<old_partition>\d+)\]"
    r"|TopicPartition\(topic='(?P<py_topic>[\w.-]+)', partition=(?P<py_partition>\d+)\)"
    r"|(?P<tp>[\w.-]*\w))"
)
_POSITION: Final = (
    r"(?:FetchPosition)?\{{offset=(?P<offset{n}>\d+), offsetEpoch=(?P<leader_epoch{n}>[^,]+), currentLeader="
    r"(?:LeaderAndEpoch)?\{{(?:leader=(?P<leader{n}>.*?), )?epoch=(?P<current_epoch{n}>\w+)\}}\}}"
)
_NODE: Final = re.compile(r"\(?id: (\d+)")
_UNBOUNDED: Final = re.compile(
    r"(?<!\\)(?P<of>\.|\])(?P<how>[*+])|(?P<of_class>\\[wWsSd])(?P<how_class>[*+])"
)
_MOST_BETWEEN: Final = 1_000
END: Final = r"(?: \([\w.]+\))?(?:\n|$)"
"""Ends a pattern whose last group is a text: behind it the name of a logger may stand."""
_TAIL: Final = re.compile(rf"\[\^\\n\](?P<how>[*+])\?\)(?P<dot>\\\.\?)?{re.escape(END)}$")
_SHORT: Final = re.compile(r"(?<!\\)\{([a-z_]+)\}")
_REPLICAS: Final = r"[\d, ]*"
_NUMBER: Final = re.compile(r"-?\d+")
_NUMBERS: Final = frozenset(
    each.name for each in fields(Observation) if "int" in str(each.type) and each.name != "replicas"
)

Values = dict[str, Any]
Completes = Callable[[Entry, re.Match[str]], Values]
Several = Callable[[re.Match[str]], Iterable[Values]]


class Message(NamedTuple):
    """`text` is in every such entry; `constant` columns have the given values; `completes` adds what needs
    code. If an entry names many, `several` gives what each of its rows has besides.

    The column `leads` means that the broker which logs it is the leader; `begins` is what kafka-go says of
    that: `with` which group, `from` where, and `there`.
    """

    text: str
    pattern: re.Pattern[str]
    constant: Values
    completes: Completes | None
    several: Several | None = None

    @property
    def name(self) -> str:
        """As the catalogue of statements names it."""
        return f"{self.constant['kind']}: {self.text}"


def message(
    kind: str,
    text: str,
    pattern: str,
    completes: Completes | None = None,
    several: Several | None = None,
    **constant: Any,
) -> Message:
    """`text` has to be in every entry that `pattern` matches: it is searched for first.

    What is repeated in `pattern` is so at most 1,000 times: else the beginning of a message, again and again
    in one line, would take time that grows with the square of the line's length. A text at the end of the
    pattern is taken as it comes first, however long the line is: nothing before it is tried again.
    """
    expanded = _UNBOUNDED.sub(_bounded, _TAIL.sub(_rest, _SHORT.sub(_group, pattern)))
    return Message(text, re.compile(expanded, re.DOTALL), {"kind": kind, **constant}, completes, several)


def listed(column: str, end: str) -> Several:
    """A row for each name behind the match, in however long a line: commas are between them, and what
    matches `end` is behind the last one. Names have no spaces."""
    behind = re.compile(end)

    def each(found: re.Match[str]) -> Iterator[Values]:
        line = found.string[found.end() :].partition("\n")[0]
        ended = behind.search(line)
        names = line[: ended.start()].split(", ") if ended else ()
        yield from ({column: name} for name in dict.fromkeys(names) if name and " " not in name)

    return each


def _rest(found: re.Match[str]) -> str:
    end = f"{found['dot'] or ''}{END}"
    return rf"(?>(?:(?!{end})[^\n]){{{int(found['how'] == '+')},{_MOST_BETWEEN}}}))"


def _bounded(found: re.Match[str]) -> str:
    of, how = found["of"] or found["of_class"], found["how"] or found["how_class"]
    return f"{of}{{{int(how == '+')},{_MOST_BETWEEN}}}"


def _group(found: re.Match[str]) -> str:
    name = found[1]
    if name == "tp":
        return _TP
    if name.startswith("position"):
        return _POSITION.format(n=name.removeprefix("position"))
    return f"(?P<{name}>{_REPLICAS if name == 'replicas' else _NUMBER.pattern})"


def values(entry: Entry, found: re.Match[str], made: Message) -> Values:
    """The columns that a message fills."""
    row: Values = dict(made.constant)
    for name, value in found.groupdict().items():
        if value is None or name.endswith("_from"):
            continue
        if name == "tp" or name.startswith(("old_", "py_")):
            continue
        if name == "leader":
            node = _NODE.search(value) or _NUMBER.fullmatch(value)
            row[name] = int(node[node.lastindex or 0]) if node else None
        elif name == "replicas":
            row[name] = [int(each) for each in _NUMBER.findall(value)]
        elif name in _NUMBERS:
            number = _NUMBER.search(value)
            row[name] = int(number[0]) if number else None
        else:
            row[name] = value
    row.update(topic_partition(found))
    if made.completes is not None:
        row.update(made.completes(entry, found))
    return row


def topic_partition(found: re.Match[str]) -> Values:
    """The columns of a match of `{tp}`; none if it has no partition or topic."""
    groups = found.groupdict()
    for written in ("old", "py"):
        if topic := groups.get(f"{written}_topic"):
            return {"topic": topic, "partition": int(groups[f"{written}_partition"])}
    return split(groups["tp"]) if groups.get("tp") else {}


def split(name: str) -> Values:
    """`orders-0` as topic and partition; a name without a number is a topic, whose partition is unknown."""
    topic, dash, partition = name.rpartition("-")
    if dash and partition.isdecimal() and len(partition) < 10:
        return {"topic": topic, "partition": int(partition)}
    return {"topic": name}


def _word(text: str) -> str | None:
    """A word of a text that is one of every entry which has that text: its first and its last may be parts of
    longer ones. The longest is the rarest."""
    return max(text.split(" ")[1:-1], key=len, default="") or None


@dataclass(frozen=True)
class Table:
    """Messages that are searched for together. `by_word` has the places of those that need a word, under
    None those that need none: an entry is compared with few of them."""

    messages: tuple[Message, ...]
    any_of: re.Pattern[str]
    by_word: Mapping[str | None, Sequence[int]]

    @classmethod
    def of(cls, *messages: Message) -> "Table":
        texts = sorted({each.text for each in messages}, key=len, reverse=True)
        by_word: dict[str | None, list[int]] = {None: []}
        for place, each in enumerate(messages):
            by_word.setdefault(_word(each.text), []).append(place)
        return cls(messages, re.compile("|".join(map(re.escape, texts))), by_word)

    def rows(self, entry: Entry, whole: str, words: Set[str]) -> Iterator[list[Values]]:
        """The rows of every matching message, in the order of the table. `whole` and `words` are those of the
        entry."""
        places = list(self.by_word[None])
        for word in self.by_word.keys() & words:
            places += self.by_word[word]
        for made in map(self.messages.__getitem__, sorted(places)):
            if made.text in whole and (found := made.pattern.search(whole)):
                row = values(entry, found, made)
                yield [row] if made.several is None else [row | each for each in made.several(found)]

    def knows(self, text: str) -> bool:
        return self.any_of.search(text) is not None
