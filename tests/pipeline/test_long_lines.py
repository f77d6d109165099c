"""No pattern of ours that sees texts from outside takes time that grows with the square of their length."""

import ast
import importlib
import pkgutil
import re
import re._constants as codes  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import time
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import pytest

PACKAGES: Final = (
    "pipeline.readers",
    "dumps",
    "configs",
    "apis",
    "controller",
    "server",
    "scenario",
    "faults",
)
SHORT: Final = 1 << 12
MUCH_S: Final = 0.0001
MOST: Final = 8
MOST_WALKS: Final = 1500
"""How many times longer than to walk through a text once."""
_USES: Final = ("search", "match", "fullmatch", "findall", "finditer", "split", "sub")
_ANY: Final = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}
_USED: Final = {"mockbroker.dumps.console._VALUES": ("fullmatch",)}
_SEPARATORS: Final = " \t1a"


class Seen(NamedTuple):
    """A pattern, and how it is used; `search` if that is not known."""

    name: str
    pattern: "re.Pattern[str]"
    uses: tuple[str, ...]


def patterns() -> list[Seen]:
    """Those of modules, also in tables, and those within functions."""
    return list({(each.pattern, each.uses): each for each in _patterns()}.values())


def _patterns() -> Iterator[Seen]:
    for package in PACKAGES:
        for module in _modules(f"mockbroker.{package}"):
            source = Path(str(module.__file__)).read_text(encoding="utf-8")
            done = set[int]()
            for name, value in vars(module).items():
                within = [] if name.startswith("__") else list(_within(value, name, done))
                uses = _uses(module.__name__, name, source) if within else ()
                yield from (Seen(f"{module.__name__}.{where}", pattern, uses) for where, pattern in within)
            yield from _inline(module.__name__, source)


def _uses(module: str, name: str, source: str) -> tuple[str, ...]:
    found = tuple(re.findall(rf"\b{name}\.({'|'.join(_USES)})\b", source))
    return tuple(each for each in _USES if each in found) or _USED.get(f"{module}.{name}", ("search",))


def _modules(package: str) -> Iterator[ModuleType]:
    module = importlib.import_module(package)
    yield module
    for each in pkgutil.walk_packages(module.__path__, f"{package}."):
        yield importlib.import_module(each.name)


def _within(value: Any, name: str, done: set[int]) -> Iterator[tuple[str, "re.Pattern[str]"]]:
    if id(value) in done:
        return
    done.add(id(value))
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _within(each, f"{name}[{key!r}]", done)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _within(each, f"{name}[{number}]", done)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _within(getattr(value, field.name, None), f"{name}.{field.name}", done)


def _inline(module: str, source: str) -> Iterator[Seen]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=use),
                args=[ast.Constant(value=str(pattern)), _, *_],
            ) if use in _USES:
                yield Seen(f"{module}:{node.lineno}", re.compile(pattern), (use,))


WALK: Final = Seen("", re.compile(r".*?\0", re.DOTALL), ("match",))


class Part(NamedTuple):
    """Makes a text: `again` is repeated after `before`."""

    before: str
    again: str

    def text(self, size: int) -> str:
        return self.before + self.again * (size // len(self.again))


def parts(pattern: "re.Pattern[str]") -> list[Part]:
    """Each letter that a pattern mentions and some others; what it begins with, up to something repeated; and
    what is repeated, after that."""
    examples = _Examples()
    examples.end(examples.run(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG), ""))
    words = [each for each in examples.words if len(each) > 1]
    again = ["".join(examples.words) + _SEPARATORS, words, [f"{each} " for each in words]]
    return list(dict.fromkeys([*(Part("", each) for some in again for each in some), *examples.repeated]))


def growth(seen: Seen, part: Part) -> float:
    """How much longer a pattern takes for four times the text: 4 if it grows as the text, 16 if with its
    square. 0 if it takes so little that not even the square would be more than seconds for a megabyte."""
    short, long = part.text(SHORT), part.text(4 * SHORT)
    if (took := _took(seen, short)) < MUCH_S:
        return 0.0
    found = _took(seen, long) / took
    for _ in range(4):
        if found < MOST:
            break
        found = min(found, _took(seen, long) / _took(seen, short))
    return found


def walks(seen: Seen, part: Part, size: int = 4 * SHORT) -> float:
    """How many times longer a pattern takes than one that walks through the text; 0 if it takes little."""
    text = part.text(size)
    found = _took(seen, text)
    if found < 100 * MUCH_S:
        return 0.0
    return min(found, _took(seen, text)) / min(_took(WALK, text) for _ in range(3))


def _took(seen: Seen, text: str) -> float:
    """Processor time, in seconds."""
    began = time.thread_time()
    for use in seen.uses:
        found = getattr(seen.pattern, use)(*(("", text) if use == "sub" else (text,)))
        if use == "finditer":
            for _ in found:
                pass
    return time.thread_time() - began


class _Examples:
    """Examples of the parts of a pattern: `words` end before something repeated, or at the end; `repeated`
    have that after them."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.repeated: list[Part] = []

    def end(self, run: str) -> None:
        if run:
            self.words.append(run)

    def run(self, parsed: Iterable[tuple[Any, Any]], run: str) -> str:
        """An example of a part of a pattern, after `run`."""
        for op, value in parsed:
            if op in (codes.LITERAL, codes.NOT_LITERAL):
                run += chr(value) if op is codes.LITERAL else "a"
            elif op is codes.ANY:
                run += "a"
            elif op is codes.IN:
                self.words += map(_of_set, value)
                run += _of_set(value[0])
            elif op is codes.SUBPATTERN:
                run = self.run(value[-1], run)
            elif op is codes.BRANCH:
                for each in value[1]:
                    self.end(self.run(each, run))
                run = self.run(value[1][0], run)
            elif op is codes.ATOMIC_GROUP:
                run = self.run(value, run)
            elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
                self.end(run)
                again = self.run(value[2], run)[len(run) :]
                if again:
                    self.repeated += [Part(run, again), Part(run, " ")]
                run += again * value[0]
        return run


def _of_set(value: tuple[Any, Any]) -> str:
    op, what = value
    if op is codes.LITERAL:
        return chr(what)
    if op is codes.RANGE:
        return chr(what[0])
    return _ANY.get(str(what), ";") if op is codes.CATEGORY else "a"


def _much(seen: Seen, part: Part) -> bool:
    return (
        walks(seen, part, SHORT // 2) > MOST_WALKS  # first: one that is slow with this takes minutes below
        or growth(seen, part) >= MOST
        or walks(seen, part) > MOST_WALKS
    )


def slow_part(seen: Seen) -> Part | None:
    found = parts(seen.pattern)
    slow = (each for each in found if _much(seen, each))
    return next(slow, None)


@pytest.mark.parametrize(
    "pattern",
    [
        "begun.*done",
        r"(?:a|b)\s*x?\s*y",
        r"\w+ \[",
        r"for [^\s;]{1,1000}[^\n]{0,1000}?cancel[^\n]{0,1000}?(?:\n|$)",
    ],
)
def test_patterns_that_grow_with_the_square_are_seen(pattern: str) -> None:
    assert slow_part(Seen("", re.compile(pattern), ("search",))) is not None


def test_no_pattern_grows_with_the_square() -> None:
    seen = patterns()
    assert len(seen) > 150
    slow = ((each.name, part) for each in seen if (part := slow_part(each)) is not None)
    assert next(slow, None) is None
