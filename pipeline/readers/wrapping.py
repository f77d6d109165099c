"""Lines that are wrapped: in JSON by a logging library, by docker or CloudWatch, or behind what Kubernetes,
CloudWatch, docker compose or syslog add; or that are coloured, or have another `layout`.

What is inside is given to the readers as if it stood in a file of its own: a line that begins with its time,
and a stack trace as further lines. A time that only the wrapping tells is put before it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any, Final

from ...json_texts import read_json
from .layouts import layout
from .log_times import TIME, begins

Fields = Mapping[str, Any]
Unwrap = Callable[[str], list[str]]
"""The lines that are inside a line; raises WrongLineError."""

_TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "instant", "timeMillis", "epoch_ms")
_LEVELS: Final = ("log.level", "level", "loglevel", "severity", "levelname")
_LOGGERS: Final = ("log.logger", "logger_name", "loggerName", "logger", "name")
_TRACES: Final = ("error.stack_trace", "stack_trace", "exception", "stack", "exc_info")
_MESSAGES: Final = ("message", "msg", "log", "@message", "line")
_PREFIXED: Final = ("clientId", "groupId")
_ABOUT: Final = ("topic", "partition", "prior_offset", "topicsNotSubscribed", "error")
"""Fields of KafkaJS and franz-go, which name them so in text, too."""
_KUBERNETES: Final = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (?:stdout|stderr) "
    r"(?P<part>[FP])(?::\S+)? ?(?P<line>.*)"
)
_SYSLOG: Final = re.compile(
    r"(?:<\d+>)?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:\[]+(?:\[\d+\])?: (?P<line>.*)"
)
_TIMED: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d) (?P<line>.*)")
"""CloudWatch's export to S3, `aws logs tail` and `kubectl logs --timestamps`."""
_NAMED: Final = re.compile(r"(?:\[pod/[^\]\s]{1,200}\]|[\w./-]{1,200}\s{1,40}\|) (?P<line>.*)")
"""`kubectl logs --prefix` and `docker compose logs`."""
_REPEATED: Final = ("DEBUG", "INFO", "WARN", "ERROR")
_COLOUR: Final = re.compile(r"(?:\x1b|\\u001[bB])\[[\d;]{0,20}m")
_LISTED: Final = re.compile(r'\s*"message": (?P<text>".*"),?\s*')
_EPOCH: Final = re.compile(r"\[?(?P<s>1\d{9})(?:(?P<ms>\d{3})|[.,](?P<part>\d{1,9}))?\]?(?P<line>[\s:].*)")
_OF_LIBRDKAFKA: Final = re.compile(r"%[0-7]\|\d")
_MORE: Final = re.compile(r"\s|Caused by: |\.\.\. \d|Suppressed: |Traceback ")
_NODE: Final = re.compile(r"\(node:\d+\) |\(Use `node --trace-")
"""What Node itself prints between the lines of a program, as they are."""
_ENOUGH: Final = 0.5
"""The part of the first lines that has to be wrapped."""
_LOOKED_AT: Final = 200


class WrongLineError(ValueError):
    """A line that is not wrapped as the others of its file are."""


def wrapping(lines: Iterable[str], changed: datetime) -> Unwrap | None:
    """What takes lines of a file out of their wrapping, by its first lines and when it was `changed` last;
    None if they have none.

    If what is inside has times of its own (`timed`), lines without one belong to those before them.
    """
    first = list(islice(filter(str.strip, lines), _LOOKED_AT))
    if not any("\x1b[" in line or r"\u001b[" in line for line in first):
        return _wrapping(first, changed)
    within = _wrapping([_COLOUR.sub("", line) for line in first], changed)
    return partial(_of_colours, within=within)


def _wrapping(first: list[str], changed: datetime) -> Unwrap | None:
    first = [line for line in first if not _NODE.match(line)]
    for inside in (_of_json, _of_kubernetes, _of_timed, _of_stream, _of_named, _of_syslog):
        if first and sum(bool(_tried(inside, line)) for line in first) >= _ENOUGH * len(first):
            timed = any(_stands_alone(each) for line in first for each in _tried(inside, line))
            if inside in (_of_timed, _of_stream) and timed:
                # What has no time of its own belongs to the line before.
                return partial(_behind, names=int(inside is _of_stream))
            if timed or inside not in (_of_timed, _of_stream, _of_named):
                return partial(inside, timed=timed)
    if [line.strip() for line in first[:2]] == ["{", '"events": [']:
        return _of_list
    return _of_epoch if first and _EPOCH.fullmatch(first[0]) else layout(first, changed)


def _of_colours(line: str, within: Unwrap | None) -> list[str]:
    plain = _COLOUR.sub("", line)
    return [plain] if within is None else within(plain)


def _tried(inside: Callable[..., list[str]], line: str) -> list[str]:
    try:
        return inside(line, timed=True)
    except WrongLineError:
        return []


def _of_json(line: str, *, timed: bool) -> list[str]:
    """docker's `json-file`, log4j2's JsonLayout and JsonTemplateLayout, ECS, logstash's encoder, KafkaJS, and
    others with the same names."""
    if _NODE.match(line):
        return [line]
    if not line.startswith("{"):
        raise WrongLineError("it is not an object of JSON, as the other lines are")
    try:
        fields = _own(dict(_flat(_read(line))))
    except ValueError as error:
        raise WrongLineError(f"it is not JSON: {error}") from None
    except RecursionError:
        raise WrongLineError("it is nested too deep") from None
    message = _first(fields, _MESSAGES)
    time = _time(fields)
    if message is None or time is None:
        raise WrongLineError("it has no message, or no time")
    level, logger = (_first(fields, names) for names in (_LEVELS, _LOGGERS))
    level = level and level.upper()
    told, *more = message.rstrip("\n").split("\n") if message else [""]
    named = ", ".join(f"{name}={fields[name]}" for name in _PREFIXED if name in fields)
    if named and not begins(told):
        told = f"[Consumer {named}] {told}"
    about = ", ".join(f"{name}: {fields[name]}" for name in _ABOUT if name in fields)
    if about:
        told = f"{told}; {about}"
    trace = [*more, *_trace(fields)]
    if _stands_alone(told) or ("stream" in fields and (timed or _MORE.match(told))):
        return [told, *trace]
    where = f" ({logger})" if logger is not None else ""
    return [f"[{time}] {level or 'INFO'} {told}{where}", *trace]


def _read(line: str) -> Any:
    """One object; a brace too many behind it says nothing."""
    try:
        return read_json(line)
    except ValueError:
        if not line.endswith("}}"):
            raise
        return read_json(line[:-1])


def _own(fields: Fields) -> Fields:
    """Without a time, those that a message ends with: an application's logger prints KafkaJS' fields there,
    and the level before its text."""
    message = _first(fields, _MESSAGES)
    if message is None or not message.endswith("}") or _time(fields) is not None:
        return fields
    text, _, more = message.partition(" {")
    try:
        own = read_json("{" + more)
    except ValueError:
        return fields
    level, _, rest = text.partition(" ")
    return {**fields, **own, _MESSAGES[0]: rest if level in _REPEATED else text}


def _flat(read: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """ECS allows `{"log": {"level": …}}` for `log.level`."""
    for name, value in read.items():
        if isinstance(value, Mapping) and name in ("log", "error", "thrown"):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def _first(fields: Fields, names: Iterable[str]) -> str | None:
    return next((each for name in names if isinstance(each := fields.get(name), str)), None)


def _time(fields: Fields) -> str | None:
    for name in _TIMES:
        value = fields.get(name)
        if isinstance(value, Mapping):
            value = value.get("epochSecond", 0) + value.get("nanoOfSecond", 0) / 1e9
        if isinstance(value, str) and (found := TIME.match(value)):
            return value if found["zone"] or "," in value else f"{value}Z"
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _iso(value / 1000 if value > 1e11 else value)
    return None


def _iso(seconds: float) -> str:
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise WrongLineError(f"it has no time: {seconds}") from None
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03}Z"


def _trace(fields: Fields) -> Iterator[str]:
    if (trace := _first(fields, _TRACES)) is not None:
        yield from trace.rstrip("\n").split("\n")
    elif (name := fields.get("thrown.name")) is not None:
        yield f"{name}: {fields.get('thrown.message', fields.get('thrown.localizedMessage', ''))}"


def _stands_alone(line: str) -> bool:
    return begins(line) or _OF_LIBRDKAFKA.match(line) is not None


def _of_kubernetes(line: str, *, timed: bool) -> list[str]:
    found = _KUBERNETES.fullmatch(line)
    if found is None:
        raise WrongLineError("it does not begin as the other lines do")
    inside = found["line"]
    whole = timed or _stands_alone(inside) or _MORE.match(inside)
    return [inside if whole else f"[{found['time']}] {inside}"]


def _of_timed(line: str, *, timed: bool, names: int = 0) -> list[str]:
    (inside,) = _behind(line, names)
    if _stands_alone(inside) or _MORE.match(inside):
        return [inside]
    raise WrongLineError("it has no time of its own")


def _of_stream(line: str, *, timed: bool) -> list[str]:
    """Behind the time stands the name of a stream."""
    return _of_timed(line, timed=timed, names=1)


def _behind(line: str, names: int) -> list[str]:
    """What stands behind the time and so many names."""
    found = _TIMED.fullmatch(line)
    if found is None:
        raise WrongLineError("it does not begin as the other lines do")
    return [found["line"].split(" ", names)[-1]]


def _of_named(line: str, *, timed: bool) -> list[str]:
    found = _NAMED.fullmatch(line)
    if found is None:
        raise WrongLineError("it does not begin as the other lines do")
    return [found["line"]]


def _of_list(line: str) -> list[str]:
    """What `aws logs filter-log-events` prints: of each event only the message is read."""
    found = _LISTED.fullmatch(line)
    if found is None:
        return []
    try:
        return str(read_json(found["text"])).rstrip("\n").split("\n")
    except ValueError as error:
        raise WrongLineError(f"it is not JSON: {error}") from None


def _of_syslog(line: str, *, timed: bool) -> list[str]:
    """Syslog's times have no year: lines without a time of their own say nothing."""
    found = _SYSLOG.fullmatch(line)
    if found is None:
        raise WrongLineError("it does not begin as the other lines do")
    return [found["line"]]


def _of_epoch(line: str) -> list[str]:
    """Lines that begin with seconds or milliseconds since 1970; others belong to the line before them."""
    found = _EPOCH.fullmatch(line)
    if found is None:
        return [line]
    part = found["ms"] or (found["part"] or "0").ljust(3, "0")[:3]
    return [f"[{_iso(int(found['s']) + int(part) / 1000)}]{found['line']}"]
