"""Reads the values of command-line options."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..json_texts import read_json
from ..pairs import pairs
from ..tokens import VARIABLE

if TYPE_CHECKING:
    from ..security import Security


def topics(values: list[str] | None) -> dict[str, int]:
    """NAME or NAME:PARTITIONS options as a dict. ValueError for a count that is not a positive number."""
    found = {}
    for value in values or []:
        name, _, count = value.partition(":")
        if not name or (count and (not count.isdigit() or int(count) < 1)):
            raise ValueError(f"--topic {value!r}: write it as NAME or NAME:PARTITIONS")
        found[name] = int(count or 1)
    return found


def refuse_existing(*paths: Path | None) -> None:
    """ValueError if the file exists, unless it is a device or a pipe."""
    for path in paths:
        if path is not None and path.is_file():
            raise ValueError(f"{path} exists: choose another name, or give --overwrite")


def token(given: str | None, control: int | None) -> str | None:
    """The control token that was given, or else, if there is a control API, that of the environment."""
    if given is not None or control is None:
        return given
    return os.environ.get(VARIABLE) or None


def security(
    tls: bool,
    sasl: list[str] | None,
    users: list[str] | None,
    listeners: list[str] | None,
    client_auth: str,
    certificate: Path | None,
    key: Path | None,
    ca: Path | None,
    folder: Path | None,
    acls: list[str] | None,
    super_users: list[str] | None,
    tokens: Mapping[str, Any],
) -> "Security | None":
    """What the options about listeners, TLS, logins and ACLs say; None if none is given. `tokens` are those
    about signed tokens, as `Security` has them. ValueError."""
    said = {"certificate": certificate, "key": key, "ca": ca, "folder": folder, **tokens}
    given: dict[str, Any] = {name: value for name, value in said.items() if value not in (None, False)}
    if sasl:
        given["sasl"] = sasl
    if client_auth != "none":
        given["client_auth"] = client_auth
    if users:
        given["users"] = dict(_user(each) for each in users)
    if acls:
        given["acls"] = acls
    if super_users:
        given["super_users"] = super_users
    if listeners:
        given["listeners"] = pairs("--listener", listeners)
    if not (given or tls):
        return None
    from ..security import Security

    return Security(tls=tls, **given)


def _user(text: str) -> tuple[str, str]:
    name, colon, password = text.partition(":")
    if not (name and colon and password):
        # What is wrong may be a password.
        raise ValueError("--user: write it as NAME:PASSWORD")
    return name, password


def racks(values: list[str] | None) -> dict[int, str]:
    """BROKER=RACK options as a dict. ValueError if BROKER is not a broker id."""
    found = pairs("--rack", values)
    for broker in found:
        if not broker.isdecimal():
            raise ValueError(f"--rack {broker}={found[broker]}: write it as BROKER=RACK, such as 1=a")
    return {int(broker): rack for broker, rack in found.items()}


def faults(values: list[str] | None) -> list[dict[str, Any]]:
    """`DO FIELD=VALUE ...` options as the fields of faults; `do=DO` may be written for `DO`. ValueError."""
    found = []
    for value in values or []:
        try:
            words = shlex.split(value)
            if words and "=" not in words[0]:
                words[0] = f"do={words[0]}"
            found.append(fields(words))
        except ValueError as error:
            raise ValueError(f"--fault {value!r}: {error}") from None
    return found


def fields(values: list[str]) -> dict[str, Any]:
    """FIELD=VALUE arguments as a dict: values are JSON, or else text; a field that is given more than once
    has a list of its values. ValueError."""
    found: dict[str, Any] = {}
    for text in values:
        name, equals, written = text.partition("=")
        if not equals or not name:
            raise ValueError(f"{text!r}: write it as FIELD=VALUE")
        try:
            value = read_json(written)
        except ValueError:
            value = written
        if name in found:
            before = found[name] if isinstance(found[name], list) else [found[name]]
            found[name] = [*before, value]
        else:
            found[name] = value
    return found
