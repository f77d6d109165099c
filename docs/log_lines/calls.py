"""Calls of loggers in languages with braces: where they are, and what text their arguments make."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

_STRING: Final = re.compile(
    r"""(?P<raw>[a-z]*"{3}(?:[^"]|"(?!""))*"{3,})|(?P<plain>[a-z]?"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<char>'(?:[^'\\\n]|\\.)+')|(?P<back>`(?:[^`\\]|\\.)*`)"""
)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_CLOSES: Final = {"(": ")", "[": "]", "{": "}"}
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_FORMAT: Final = re.compile(r"%(?:\d+\$)?[-+# 0,]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlzjt])?[a-zA-Z]|%%")
_IN_TEXT: Final = re.compile(r"\$\{|\$(?P<name>[A-Za-z_]\w*)")
_ESCAPES: Final = {"\\n": "\n", "\\t": " ", "\\r": "", '\\"': '"', "\\'": "'", "\\\\": "\\"}
_ANY: Final = "\0"
"""Stands for a value that is filled in, followed by its name and this again."""


class _Text(NamedTuple):
    """A literal in a source."""

    begin: int
    stop: int
    literal: str

    def end(self) -> int:
        return self.stop


def _string(source: str, at: int) -> _Text | None:
    """The literal at a place; what stands in `${}` may have literals of its own."""
    found = _STRING.match(source, at)
    if found is None:
        return None
    text = found[0]
    if not (text.startswith(('s"', 'f"')) and not text.startswith(('s"""', 'f"""'))) or "${" not in text:
        return _Text(at, found.end(), text)
    place = at + 2
    while place < len(source) and source[place] not in '"\n':
        if source[place] == "\\":
            place += 2
        elif source.startswith("${", place):
            place += 2 + len(split(source, place + 2, "\0")[0])
            place = source.find("}", place) + 1 or len(source)
        else:
            place += 1
    return _Text(at, place + 1, source[at : place + 1])


class Call(NamedTuple):
    """`callee` is what is called, `arguments` their sources."""

    at: int
    callee: re.Match[str]
    arguments: list[str]


def calls(source: str, callee: re.Pattern[str]) -> Iterator[Call]:
    """The calls of what `callee`, which ends with `(`, matches outside of texts and comments."""
    hidden = list(_hidden(source))
    starts = [start for start, _ in hidden]
    for found in callee.finditer(source):
        if not _within(found.start(), hidden, starts):
            yield Call(found.start(), found, split(source, found.end()))


def _hidden(source: str) -> Iterator[tuple[int, int]]:
    at = 0
    both = re.compile(f"(?P<comment>{_COMMENT.pattern})|{_STRING.pattern}", re.DOTALL)
    while found := both.search(source, at):
        yield found.span()
        at = max(found.end(), at + 1)


def _within(at: int, hidden: list[tuple[int, int]], starts: list[int]) -> bool:
    from bisect import bisect_right

    index = bisect_right(starts, at) - 1
    return index >= 0 and at < hidden[index][1]


def split(source: str, at: int, separator: str = ",", most: int = 6000) -> list[str]:
    """The parts from `at` up to the bracket that is not opened, divided by a separator outside brackets."""
    parts, current, open_ = [], at, []
    place, end = at, min(len(source), at + most)
    while place < end:
        if found := _string(source, place) or _COMMENT.match(source, place):
            place = found.end()
            continue
        sign = source[place]
        if sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif sign in ")]}":
            if not open_:
                break
            open_.pop()
        elif sign == separator and not open_ and not (separator == "+" and source[place + 1] == "+"):
            parts.append(source[current:place])
            current = place + 1
        place += 1
    parts.append(source[current:place])
    return [
        _COMMENT.sub("", each).strip() if "/" in each and '"' not in each else each.strip() for each in parts
    ]


def template(arguments: Iterable[str], before: str = "", *, formats: bool = False) -> str:
    """The text that a message and its values make, with `{name}` for what is filled in.

    `before` is the source before the call, in which a variable's text is looked for; `formats` says that
    `%s` is filled in.
    """
    first, *values = arguments
    text = _text(first, before)
    if _ANY not in text or "%" in text or "{}" in text:
        text = _filled(text, values, formats)
    return re.sub(rf"{_ANY}([^{_ANY}]*){_ANY}", lambda found: f"{{{found[1]}}}", text)


def _text(source: str, before: str, depth: int = 0) -> str:
    source = source.strip()
    made = ""
    for part in split(source, 0, "+", 20_000):
        made += _part(part.strip(), before, depth)
    return made


def _part(part: str, before: str, depth: int) -> str:
    if part.startswith("(") and part.endswith(")") and len(split(part, 1)) == 1:
        return _text(part[1:-1], before, depth)
    made, at, literal = "", 0, False
    while found := _string(part, at):
        literal = True
        made += _literal(found.literal)
        at = found.end()
        # Texts that stand side by side in C, with macros for formats between them.
        while macro := re.compile(r"\s*(?:PRI[a-z]\d+|PRIusz|PRIdsz|CPP\w+)?\s*").match(part, at):
            if macro[0].strip():
                made += "s"
            if macro.end() == at:
                break
            at = macro.end()
    rest = part[at:].strip()
    if literal and re.match(r"\.(?:format|formatted)\(", rest):
        return _filled(made, split(rest, rest.index("(") + 1), True)
    if literal and (not rest or rest.startswith((".stripMargin", ".trim", ".replace"))):
        return made
    if called := re.match(r"(?:String\.format|fmt\.Sprintf|Errorf|fmt\.Errorf)\(", part):
        first, *values = split(part, called.end())
        return _filled(_text(first, before, depth), values, True)
    if depth < 2 and _NAME.fullmatch(part):
        assigned = list(
            re.finditer(rf"\b{part}\s*(?::\s*\w+\s*)?=\s*(?=[a-z]?[\"(]|String\.format)", before[-8000:])
        )
        if assigned:
            known = before[-8000:]
            return _text(split(known, assigned[-1].end(), ";")[0].split("\n\n")[0], "", depth + 1)
    return f"{_ANY}{_named(part)}{_ANY}"


def _literal(text: str) -> str:
    kind = text[: re.match(r"[a-z]*", text)[0].__len__()]  # type: ignore[index]
    body = text[len(kind) :]
    if body.startswith('"""'):
        inside = re.sub(r"\n\s*\|?", "\n", body[3:-3]).strip("\n")
    elif (body.startswith("'") and len(body) > 3) or body.startswith(("'", "`", '"')):
        inside = body[1:-1]
        if kind not in ("s", "f"):
            inside = re.sub(r"\\.", lambda found: _ESCAPES.get(found[0], found[0][1:]), inside)
    if kind in ("s", "f", "raw") or body.startswith("`"):
        return _interpolated(inside)
    return inside


def _interpolated(text: str) -> str:
    made, at = "", 0
    while found := _IN_TEXT.search(text, at):
        made += text[at : found.start()]
        if found["name"]:
            made += f"{_ANY}{found['name']}{_ANY}"
            at = found.end()
        else:
            inside = split(text, found.end(), "\0")[0]
            made += f"{_ANY}{_named(inside)}{_ANY}"
            at = found.end() + len(inside) + 1
            at = text.find("}", found.end() + len(inside)) + 1 or at
    return made + text[at:]


def _filled(text: str, values: list[str], formats: bool) -> str:
    rest = iter(values)

    def next_value(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        return f"{_ANY}{_named(next(rest, ''))}{_ANY}"

    text = re.sub(r"\{\}", next_value, text)
    return _FORMAT.sub(next_value, text) if formats else text


def _named(source: str) -> str:
    """A name for a value, from its source: the last one in it."""
    names = [each for each in _NAME.findall(_STRING.sub("", source)) if each not in _NOT_NAMES]
    return names[-1] if names else ""


_NOT_NAMES: Final = frozenset(
    ("get", "mkString", "toString", "getMessage", "String", "map", "asJava", "size", "new")
)
