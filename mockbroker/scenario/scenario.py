"""A scenario: a cluster, faults, steps, checks."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..configs import Configs
from ..configs.together import ContradictionError
from ..control.registry import Operation
from ..control.table import OPERATIONS
from ..faults import Fault as ParsedFault
from ..faults import FaultError
from ..faults import parse as parse_fault
from ..faults.actions import ACTIONS
from ..nearest import nearest
from ..policies import Policies
from ..protocol import releases
from ..server.options import Options, check_clock
from .document import Document
from .durations import seconds

TABLES: Final = ["cluster", "fault", "step", "check"]
CLUSTER: Final = [
    *("kafka", "brokers", "advertise", "topics", "policies", "config", "fixed", "racks", "seed", "clock"),
    *("offsets", "now", "security"),
]
_KINDS: Final[Mapping[str, type]] = {
    "kafka": str,
    "brokers": int,
    "fixed": bool,
    "seed": int,
    "clock": str,
    "now": str,
}
STEP: Final = ["after", "on", "do", "optional"]
CHECK: Final = ["after", "on", "do", "expect", "within"]
EVENT: Final = ["fault", "hits"]
_WHEN: Final = ", with after = '2s' or on = a fault's name"
_LATER: Final = "later (do = 'faults add', after = '2s', fault = { do = 'delay', ms = 100 })"


@dataclass(frozen=True)
class Fault:
    """`given` is what `faults.parse` takes."""

    name: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Action:
    """An operation with its arguments; `text` is what people see of it."""

    operation: Operation
    arguments: Mapping[str, Any]
    text: str


@dataclass(frozen=True)
class Moment:
    """`after_s` seconds after the command began, or after `fault` touched its `hits`-th request."""

    after_s: float
    fault: str | None
    hits: int


@dataclass(frozen=True)
class Step:
    """What is done at a moment."""

    action: Action
    moment: Moment
    optional: bool


@dataclass(frozen=True)
class Check:
    """What the action has to answer at a moment (None: once the command has ended), within `within_s`.

    Of an object only the fields in `expect` count; of a list, each entry in `expect` has to be there.
    """

    action: Action
    expect: Any
    within_s: float
    moment: Moment | None


@dataclass(frozen=True)
class Scenario:
    """`cluster` are options of `serve`."""

    cluster: Mapping[str, Any]
    faults: tuple[Fault, ...]
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]


def load(path: Path) -> Scenario:
    """Reads a file. ScenarioError says where it is wrong."""
    return of(Document(path))


def of(document: Document) -> Scenario:
    """What a file says. ScenarioError."""
    for table, value in document.tables.items():
        if table in CLUSTER and not isinstance(value, list):
            raise document.wrong_at_top(table, f"{table} stands below [cluster]")
        if table not in TABLES:
            raise document.wrong(table, None, None, f"no such table{nearest(table, TABLES)}")
    faults = tuple(_fault(document, i, each) for i, each in enumerate(document.each("fault")))
    names = [each.name for each in faults]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise document.wrong("fault", index, "name", f"there is a fault named {name!r} already")
    return Scenario(
        _cluster(document),
        faults,
        tuple(_step(document, i, each, names) for i, each in enumerate(document.each("step"))),
        tuple(_check(document, i, each, names) for i, each in enumerate(document.each("check"))),
    )


def _cluster(document: Document) -> dict[str, Any]:
    given = document.tables.get("cluster", {})
    if not isinstance(given, dict):
        raise document.wrong("cluster", None, None, "write it as [cluster]")
    document.check("cluster", None, given, CLUSTER)
    cluster = dict(given)
    for name, value in given.items():
        if name in ("advertise", "offsets") and isinstance(value, str | list):
            continue
        kind = _KINDS.get(name, dict)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = {str: "text, as '3.9'", int: "a number", bool: "true or false"}.get(kind, "a table")
            raise document.wrong("cluster", None, name, f"{name} is {value!r}: give {wanted}")
    for name in ("config", "policies"):
        cluster[name] = {key: _as_kafka_writes(value) for key, value in given.get(name, {}).items()}
    for topic, partitions in given.get("topics", {}).items():
        if not isinstance(partitions, int) or isinstance(partitions, bool) or partitions < 1:
            raise document.wrong("cluster", None, topic, f"topic {topic!r}: give its number of partitions")
    for broker in given.get("racks", {}):
        if not broker.isdecimal():
            raise document.wrong("cluster", None, broker, f"rack of {broker!r}: give a broker's id")
    _check_behaviour(document, cluster)
    if "offsets" in given:
        paths = [given["offsets"]] if isinstance(given["offsets"], str) else given["offsets"]
        cluster["offsets"] = [document.path.parent / str(each) for each in paths]
    cluster["racks"] = {int(broker): rack for broker, rack in given.get("racks", {}).items()}
    try:
        Options(**cluster)
    except ValueError as error:
        keys = {**given, **given.get("topics", {}), **given.get("racks", {})}
        raise document.wrong("cluster", None, meant(error, keys), str(error)) from None
    return cluster


def _check_behaviour(document: Document, cluster: Mapping[str, Any]) -> None:
    """Checks the clock, release, policies and configuration as the cluster would, with the lines of the
    file."""
    config, policies = cluster["config"], cluster["policies"]
    try:
        check_clock(cluster.get("clock", "wall"))
    except ValueError as error:
        raise document.wrong("cluster", None, "clock", str(error)) from None
    try:
        release = releases.parse(cluster.get("kafka", releases.NEWEST))
    except ValueError as error:
        raise document.wrong("cluster", None, "kafka", str(error)) from None
    for name, value in config.items():
        try:
            Configs({name: value}, release)
        except ContradictionError:
            pass
        except ValueError as error:
            raise document.wrong("cluster", None, name, str(error)) from None
    try:
        Configs(config, release)
    except ContradictionError as error:
        line = next(name for name in error.names if name in config)
        raise document.wrong("cluster", None, line, str(error)) from None
    for name, answer in policies.items():
        try:
            Policies(release, {name: answer})
        except ValueError as error:
            raise document.wrong("cluster", None, name, str(error)) from None


def _as_kafka_writes(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fault(document: Document, index: int, given: dict[str, Any]) -> Fault:
    fields = dict(given)
    # Operations give faults without a name the same numbers.
    name = fields.pop("name", str(index + 1))
    if not isinstance(name, str) or not name:
        raise document.wrong("fault", index, "name", f"name is {name!r}: give text, or leave it out")
    do = fields.get("do")
    if isinstance(do, str) and do in OPERATIONS:
        raise document.wrong("fault", index, "do", f"{do!r} is an operation: write it as a [[step]]{_WHEN}")
    for key in ("after", "on"):
        if key in fields:
            why = f"a fault is there from the beginning: [[step]] do = 'faults add' adds one {_LATER}"
            raise document.wrong("fault", index, key, why)
    try:
        parse_fault(fields)
    except FaultError as error:
        raise document.wrong("fault", index, meant(error, fields), str(error)) from None
    return Fault(name, fields)


def _step(document: Document, index: int, given: dict[str, Any], names: list[str]) -> Step:
    action = _action(document, "step", index, given, STEP)
    moment = _moment(document, "step", index, given, names)
    if moment is None:
        raise document.wrong("step", index, None, f"when?{_WHEN.replace(', with', ' Give')}")
    return Step(action, moment, bool(given.get("optional", False)))


def _moment(
    document: Document, table: str, index: int, given: Mapping[str, Any], names: list[str]
) -> Moment | None:
    """None if no moment is given."""
    on = given.get("on")
    if on is None and "after" not in given:
        return None
    event = {"fault": on} if isinstance(on, str) else on or {}
    if not isinstance(event, dict):
        raise document.wrong(table, index, "on", "give a fault's name, or { fault = …, hits = … }")
    document.check(table, index, event, EVENT)
    fault, hits = event.get("fault"), event.get("hits", 1)
    if on is not None and fault not in names:
        raise document.wrong(table, index, "on", f"no fault named {fault!r}{nearest(fault, names)}")
    if not isinstance(hits, int) or isinstance(hits, bool) or hits < 1:
        raise document.wrong(table, index, "hits", f"hits is {hits!r}: give a number from 1 on")
    return Moment(_seconds(document, table, index, given, "after"), fault, hits)


def _check(document: Document, index: int, given: dict[str, Any], names: list[str]) -> Check:
    action = _action(document, "check", index, given, CHECK)
    if action.operation.method != "GET":
        why = f"{action.operation.name} changes the cluster: check what only looks, as 'partitions replicas'"
        raise document.wrong("check", index, "do", why)
    if inspect.iscoroutinefunction(action.operation.function):
        raise document.wrong("check", index, "do", "say how long to wait by within = '5s'")
    if "expect" not in given:
        raise document.wrong("check", index, None, "expect what? Give fields of the answer")
    within = _seconds(document, "check", index, given, "within")
    return Check(action, given["expect"], within, _moment(document, "check", index, given, names))


def _seconds(document: Document, table: str, index: int, given: Mapping[str, Any], key: str) -> float:
    try:
        return seconds(given.get(key, "0s"))
    except ValueError as error:
        raise document.wrong(table, index, key, str(error)) from None


def _action(document: Document, table: str, index: int, given: dict[str, Any], own: list[str]) -> Action:
    """The operation and its arguments, which are written beside the table's own keys; those of a fault in
    `fault = {…}`."""
    if "do" not in given:
        raise document.wrong(table, index, None, "do what? Give do = 'brokers stop', or another operation")
    if isinstance(given["do"], str) and given["do"] in ACTIONS:
        why = f"{given['do']!r} is what a fault does: write it as a [[fault]], or add it {_LATER}"
        raise document.wrong(table, index, "do", why)
    if table == "step" and "expect" in given:
        raise document.wrong(table, index, "expect", "a step expects nothing: write it as a [[check]]")
    if given.get("do") not in OPERATIONS:
        why = f"no operation {given.get('do')!r}{nearest(given.get('do', ''), OPERATIONS)}"
        raise document.wrong(table, index, "do", why)
    operation = OPERATIONS[given["do"]]
    arguments = {key: value for key, value in given.items() if key not in own}
    rest = operation.rest.name if operation.rest is not None else None
    names = [rest] if rest is not None else list(operation.parameters)
    document.check(table, index, given, [*own, *names])
    if rest is not None:
        arguments = arguments.get(rest, {})
    try:
        read = operation.arguments(arguments)
        if rest is not None:
            fault_in(arguments)
    except ValueError as error:
        raise document.wrong(table, index, meant(error, arguments) or "do", str(error)) from None
    words = [operation.name, *(f"{name}={value}" for name, value in arguments.items())]
    return Action(operation, read, " ".join(words))


def fault_in(given: Mapping[str, Any]) -> ParsedFault:
    """The fault with these fields, of which one may be its name. FaultError."""
    return parse_fault({key: value for key, value in given.items() if key != "name"})


def meant(error: ValueError, given: Mapping[str, Any]) -> str | None:
    """The key that an error is about: the error says so, or its message names the key, or its value."""
    if isinstance(error, FaultError) and error.field in given:
        return error.field
    text = str(error)
    named = [key for key in given if repr(key) in text or text.startswith(f"{key} ")]
    named += [key for key, value in given.items() if repr(value) in text]
    named += [key for key in given if re.search(rf"\b{re.escape(key)}\b", text)]
    return named[0] if named else None
