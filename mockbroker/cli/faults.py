"""`mockbroker faults`: what can go wrong, with which fields."""

import json
import shlex
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..control.fault_schema import fault_schema
from ..faults.actions import ACTIONS
from ..faults.match import api_name
from ..nearest import nearest
from .tables import fields, table, text_width, width, write

_EXAMPLES: Final[Mapping[str, str]] = {
    "acl": "'alice allow read on topic:orders'",
    "assignment": "'{\"orders\": [0]}'",
    "bytes": "10",
    "error": "NOT_LEADER_OR_FOLLOWER",
    "field": "throttle_time_ms",
    "password": "secret",
    "target": "2",
    "value": "1000",
}
"""Values of fields that have to be given."""
_APIS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("corrupt-crc", "truncated-batch", "drop-fetch-sessions"), "Fetch"),
    **dict.fromkeys(("hide-broker", "stale-metadata", "slow-metadata"), "Metadata"),
    **dict.fromkeys(("drop-share-sessions", "expire-locks"), "ShareFetch"),
    **dict.fromkeys(("evict-member", "move-coordinator"), "Heartbeat"),
    **dict.fromkeys(
        ("replace-assignment", "share-assignment", "withhold-assignment"), "ConsumerGroupHeartbeat"
    ),
    **dict.fromkeys(("set-password", "remove-user"), "SaslAuthenticate"),
    "expire-transactional-id": "EndTxn",
}
"""For which requests the examples are, if not Produce."""
_OF_TYPES: Final = {"integer": "100", "number": "0.5", "boolean": "true"}


def show(wanted: Sequence[str], *, as_json: bool) -> None:
    """Prints all faults, or the fields of those that are wanted. ValueError for an unknown one."""
    for name in wanted:
        if name not in ACTIONS:
            raise ValueError(f"no fault {name!r}{nearest(name, ACTIONS)}")
    schema = fault_schema()
    rows = [_row(each) for each in schema["oneOf"] if not wanted or each["title"] in wanted]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    write(_each(rows, schema["properties"], text_width()) if wanted else _all(rows, width()))


def example(name: str) -> str:
    """A fault, as `--fault` takes it."""
    [found] = (each for each in fault_schema()["oneOf"] if each["title"] == name)
    return str(_row(found)["example"])


def _row(told: Mapping[str, Any]) -> dict[str, Any]:
    """A fault with its own fields."""
    name, own = told["title"], told["properties"]
    usual = ACTIONS[name].usual_api
    words = [name] + ([] if usual is not None else [f"api={_APIS.get(name, 'Produce')}"])
    words += [f"{each}={_value(each, own[each])}" for each in told["required"] if each != "do"]
    return {
        "name": name,
        "what": " ".join(told["description"].split()),
        "api": None if usual is None else api_name(usual),
        "when": own["when"]["enum"],
        "fields": [
            {
                "field": each,
                "required": each in told["required"],
                "default": own[each].get("default"),
                "what": own[each].get("description", ""),
            }
            for each in own
            if each not in ("do", "when")
        ],
        "unlike": ACTIONS[name].unlike,
        "example": " ".join([*words, "times=1"]),
    }


def _value(field: str, schema: Mapping[str, Any]) -> str:
    return _EXAMPLES.get(field) or _OF_TYPES.get(schema.get("type", ""), "x")


def _all(rows: list[dict[str, Any]], within: int | None) -> Iterator[str]:
    yield from table(("fault", "what"), [(each["name"], _sentence(each["what"])) for each in rows], within)
    yield ""
    yield "mockbroker faults delay        its fields, and an example"
    yield "mockbroker errors Fetch        what the fault `error` may answer"
    yield f"mockbroker serve --fault '{example('disconnect')}'"


def _each(rows: list[dict[str, Any]], conditions: Mapping[str, Any], within: int) -> Iterator[str]:
    for row in rows:
        yield row["name"]
        yield from textwrap.wrap(row["what"], within, initial_indent="  ", subsequent_indent="  ")
        if row["unlike"]:
            unlike = f"No real broker does so: {row['unlike']}."
            yield from textwrap.wrap(unlike, within, initial_indent="  ", subsequent_indent="  ")
        yield ""
        own = {each["field"]: _told(each) for each in row["fields"]}
        when = f"{', '.join(row['when'])}" + ("; the first if left out" if len(row["when"]) > 1 else "")
        yield from fields({**own, "when": when}, within)
        yield ""
        yield f"mockbroker serve --fault {_quoted(row['example'])}"
        yield ""
    yield "Which requests, for every fault:"
    yield from fields({name: told.get("description", "") for name, told in conditions.items()}, within)


def _told(field: Mapping[str, Any]) -> str:
    if field["required"]:
        return f"has to be given. {field['what']}".strip()
    default = "" if field["default"] is None else f" {json.dumps(field['default'])} if left out."
    return f"{field['what']}{default}".strip() or "may be left out"


def _sentence(text: str) -> str:
    """The first sentence."""
    return text.partition(". ")[0].removesuffix(".")


def _quoted(text: str) -> str:
    """For a shell."""
    return shlex.quote(text) if "'" in text else f"'{text}'"
