"""Values of configurations: parsing, validation, and Kafka's text form (`ConfigDef.java`)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from ..errors import MockBrokerError
from . import java

OF_LISTENER: Final = "listener.name."
"""How the names of one listener's configurations begin."""
Value = bool | int | float | str | list[str] | None

_BITS: Final = {"SHORT": 16, "INT": 32, "LONG": 64}
_BLANKS: Final = " \t\n\v\f\r"
"""What `\\s` is in Java."""
_REPLICA: Final = re.compile(r"[0-9]+:[0-9]+")

TYPE_IDS: Final = {
    "BOOLEAN": 1,
    "STRING": 2,
    "INT": 3,
    "SHORT": 4,
    "LONG": 5,
    "DOUBLE": 6,
    "LIST": 7,
    "CLASS": 8,
    "PASSWORD": 9,
}
"""Type ids in DescribeConfigs v3 and later (`DescribeConfigsResponse.ConfigType`)."""


class ConfigError(MockBrokerError, ValueError):
    """An unknown name or an invalid value; the message is Kafka's."""


@dataclass(frozen=True)
class ConfigKey:
    """The definition of one configuration in one release.

    `valid` is the rule for values: `range` [least, most], `in` or `list` (allowed strings; with `full_items`
    the message for an empty one is different), `gzip_level`, `throttled_replicas`, `non_empty`. `dynamic` is
    `cluster-wide` or `per-broker` if a broker configuration can be changed at run time, None if it can't.
    """

    name: str
    type: str
    default: str | None = None
    required: bool = False
    valid: Mapping[str, Any] = field(default_factory=dict)
    dynamic: str | None = None

    @property
    def sensitive(self) -> bool:
        return self.type == "PASSWORD"

    @cached_property
    def default_value(self) -> Value:
        """`default`, parsed; None where there is none."""
        return None if self.default is None else self.parse(self.default)

    def parse(self, text: str | None) -> Value:
        """The value of `text`. ConfigError if it is not a value of this configuration."""
        value = None if text is None else parse(self.name, text, self.type)
        self._check(value)
        return value

    def text(self, text: str | None) -> str | None:
        """`text` as Kafka shows it after parsing: numbers, booleans and lists in their normal form."""
        return None if text is None else to_text(parse(self.name, text, self.type))

    def _check(self, value: Any) -> None:
        valid = self.valid
        if "range" in valid:
            _check_range(self.name, value, *valid["range"])
        elif "in" in valid:
            _check_in(self.name, value, valid["in"])
        elif "in_any_case" in valid:
            _check_in(self.name, value, valid["in_any_case"], any_case=True)
        elif "list" in valid:
            for item in value or ():
                if not item and "full_items" in valid:
                    raise ConfigError(f"Configuration '{self.name}' values must not be empty.")
                _check_in(self.name, item, valid["list"])
        elif "gzip_level" in valid:
            low, high = valid["gzip_level"]
            if value != -1 and not low <= value <= high:
                raise invalid(self.name, value, f"Value must be between {low} and {high} or equal to -1")
        elif "throttled_replicas" in valid:
            _check_throttled(self.name, value or [])
        elif "non_empty" in valid and value == "":
            raise invalid(self.name, value, "String must be non-empty")


def invalid(name: str, value: object, why: str) -> ConfigError:
    shown = f"[{', '.join(value)}]" if isinstance(value, list) else "null" if value is None else value
    return ConfigError(f"Invalid value {shown} for configuration {name}: {why}")


def parse(name: str, text: str, type_name: str) -> Value:
    """`text` as a value of the type. ConfigError with Kafka's message (`ConfigDef.parseType`)."""
    trimmed = java.trim(text)
    match type_name:
        case "BOOLEAN":
            # Java ignores case by comparing capitals.
            if trimmed.upper() not in ("TRUE", "FALSE"):
                raise invalid(name, text, "Expected value to be either true or false")
            return trimmed.upper() == "TRUE"
        case "SHORT" | "INT" | "LONG":
            number = java.integer(trimmed, _BITS[type_name])
            if number is None:
                raise invalid(name, text, f"Not a number of type {type_name}")
            return number
        case "DOUBLE":
            fraction = java.double(trimmed)
            if fraction is None:
                raise invalid(name, text, "Not a number of type DOUBLE")
            return fraction
        case "LIST":
            return [each.strip(_BLANKS) for each in trimmed.split(",")] if trimmed else []
        case "PASSWORD":
            return text
        case _:
            return trimmed


def to_text(value: Value) -> str | None:
    """The text by which Kafka shows a value (`ConfigDef.convertToString`)."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, float):
        return java.double_text(value)
    return str(value)


def _check_range(name: str, value: float | None, least: float | None, most: float | None) -> None:
    if value is None:
        raise invalid(name, None, "Value must be non-null")
    if least is not None and value < least:
        raise invalid(name, to_text(value), f"Value must be at least {least}")
    if most is not None and value > most:
        raise invalid(name, to_text(value), f"Value must be no more than {most}")


def _check_in(name: str, value: str | None, allowed: Sequence[str], *, any_case: bool = False) -> None:
    if value in allowed or (any_case and value is not None and value.upper() in map(str.upper, allowed)):
        return
    cases = " (case insensitive)" if any_case else ""
    raise invalid(name, value, f"String must be one of{cases}: {', '.join(allowed)}")


def _check_throttled(name: str, value: list[str]) -> None:
    """`*`, or partition:broker pairs (`ThrottledReplicaListValidator`)."""
    if value == ["*"] or all(_REPLICA.fullmatch(item.strip()) for item in value):
        return
    raise invalid(
        name,
        value,
        f"{name} must be the literal '*' or a list of replicas in the following format: "
        "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
    )
