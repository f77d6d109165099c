"""`mockbroker errors`: the error codes that brokers of a release answer."""

import itertools
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from ..apis.advertised import advertised
from ..faults.legal import legal_codes
from ..faults.match import api_name, parse_api
from ..protocol.api_keys import ApiKey
from ..protocol.releases import Release, names, parse
from .tables import text_width, write


def show(apis: Sequence[str], kafka: str, *, as_json: bool) -> None:
    """Prints the codes of these APIs, or of all that the release has. ValueError for an unknown release or
    API, and for an API that the release does not have."""
    release = parse(kafka)
    had = advertised(release, telemetry=True)
    wanted = [parse_api(each) for each in apis] or [ApiKey(key) for key in had]
    for api in wanted:
        if api not in had:
            raise ValueError(f"Kafka {release} has no {api_name(api)}{_since(api)}")
    rows = [_row(api, had[api]) for api in wanted]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    write(_lines(rows, release, text_width()))


def _row(api: ApiKey, versions: tuple[int, int]) -> dict[str, Any]:
    """An API with the codes that any of these versions has."""
    oldest, newest = versions
    return {
        "api": api_name(api),
        "versions": [oldest, newest],
        "errors": [
            {
                "error": each.code.name,
                "code": int(each.code),
                "level": each.level,
                "versions": [max(each.oldest, oldest), min(each.newest, newest)],
                "retry": each.retry,
            }
            for each in legal_codes(api)
            if each.oldest <= newest and each.newest >= oldest
        ],
    }


def _lines(rows: list[dict[str, Any]], release: Release, within: int) -> Iterator[str]:
    yield from textwrap.wrap(
        f"What brokers answer in the versions that Kafka {release} has, by the place in the answer; * says "
        "that the client should try again. UNKNOWN_SERVER_ERROR may be anywhere. A code that a later release "
        "gives in the same version is here, too.",
        within,
    )
    for row in rows:
        yield ""
        yield f"{row['api']} {_versions(row['versions'])}"
        for level, errors in itertools.groupby(row["errors"], key=lambda each: each["level"]):
            found = ", ".join(_name(each, row["versions"]) for each in errors)
            yield from textwrap.wrap(
                f"{level}: {found}",
                within,
                initial_indent="  ",
                subsequent_indent="    ",
                break_on_hyphens=False,
            )
        if not row["errors"]:
            yield "  none of its own"
    api = rows[0]["api"]
    error = next((each["error"] for row in rows for each in row["errors"]), None)
    if len(rows) == 1 and error is not None:
        yield ""
        yield f"mockbroker serve --kafka {release} --fault 'error api={api} error={error} times=1'"


def _name(error: dict[str, Any], whole: list[int]) -> str:
    name = error["error"] + "*" * error["retry"]
    return name if error["versions"] == whole else f"{name} ({_versions(error['versions'])})"


def _versions(versions: Sequence[int]) -> str:
    oldest, newest = versions
    return f"v{oldest}" if oldest == newest else f"v{oldest} to v{newest}"


def _since(api: ApiKey) -> str:
    having = [each for each in names() if api in advertised(parse(each), telemetry=True)]
    if not having:
        return ""
    return f": it is there from {having[0]} to {having[-1]}, choose one of these with --kafka"
