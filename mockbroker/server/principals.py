"""The principals that the names in clients' certificates become (`ssl.principal.mapping.rules`, KIP-371,
`SslPrincipalMapper.java`)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from ..errors import OptionError
from ..regular_expressions import Expression, ExpressionError, Found, Syntax

NAME: Final = "ssl.principal.mapping.rules"
_PART: Final = r"((?:\\.|[^\\/])*)"
_RULE: Final = rf"(DEFAULT)|RULE:{_PART}/{_PART}/([LU]?).*?|(.*?)"
_SPLIT: Final = re.compile(rf"\s*({_RULE})\s*(?:,\s*|\Z)")
_PARSE: Final = re.compile(_RULE)
_REFERENCE: Final = re.compile(r"\\(.)|\$(\d+)|(.)", re.DOTALL | re.ASCII)


class NoRuleError(Exception):
    """No rule is for a name, or one can't be applied: Kafka closes the connection."""


@dataclass(frozen=True)
class _Rule:
    """`pattern` is None for DEFAULT, which takes the name as it is; `case` is L, U or empty."""

    pattern: Expression | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """None if it is not for that name."""
        if self.pattern is None:
            return name
        if not self.pattern.matches(name):
            return None
        found, last = "", 0
        for each in self.pattern.find_all(name):
            found += name[last : each.start] + self._replaced(each)
            last = each.end
        found += name[last:]
        return found.lower() if self.case == "L" else found.upper() if self.case == "U" else found

    def _replaced(self, found: Found) -> str:
        """As `Matcher.appendReplacement`; a `$N` of a group that the pattern does not have stays as it is,
        if it has any."""
        parts = []
        for escaped, digits, other in _REFERENCE.findall(self.replacement):
            if not digits:
                if other in ("$", "\\"):
                    raise NoRuleError(f"{self.replacement!r} can't be filled in")
                parts.append(escaped or other)
                continue
            length = len(digits)
            while length > 1 and int(digits[:length]) >= len(found.groups):
                length -= 1
            number = int(digits[:length])
            if number >= len(found.groups):
                if len(found.groups) == 1:
                    raise NoRuleError(f"there is no group {number}")
                parts.append(f"${digits}")
            else:
                parts.append(found.groups[number] + digits[length:])
        return "".join(parts)


@dataclass(frozen=True)
class PrincipalRules:
    """Tried one after the other."""

    rules: Sequence[_Rule] = (_Rule(None),)

    @classmethod
    def of(cls, text: str | None) -> Self:
        """From the configuration. OptionError."""
        if text is None:
            return cls()
        rules = [_rule(each[1]) for each in _SPLIT.finditer(text.strip()) if each[1]]
        return cls(tuple(rules))

    def name(self, distinguished: str) -> str:
        """The name that a distinguished name becomes. NoRuleError."""
        try:
            for rule in self.rules:
                if (found := rule.apply(distinguished)) is not None:
                    return found
        except ExpressionError as error:
            raise NoRuleError(str(error)) from None
        raise NoRuleError("none of its rules is for that name")


def _rule(text: str) -> _Rule:
    found = _PARSE.match(text)
    assert found is not None, "the last alternative matches nothing, too"
    if found.end() != len(text):
        raise OptionError(f"{NAME}: Invalid rule: `{text}`, unmatched substring: `{text[found.end() :]}`")
    if found[1]:
        return _Rule(None)
    try:
        return _Rule(Expression(found[2], Syntax.JAVA), found[3], found[4])
    except ExpressionError as error:
        raise OptionError(f"{NAME}: Invalid rule: `{text}`: {error}") from None
