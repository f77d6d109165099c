"""Names of a run in a cluster that others use, too: topics, groups and transactional ids get a prefix."""

from collections.abc import Mapping
from typing import Any, Final

_CONFIGURED: Final = ("group.id", "transactional.id")
_NAMES: Final = ("topic", "group", "transactional_id")
_LISTS: Final = ("partitions", "offsets")
_PATTERN: Final = "^"
_ANY: Final = "*"


class Names:
    """Applications, and what they are told, have the names of a plan; the cluster has those with the
    `prefix`, which nothing else contains."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def there(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a request to a driver, or of a fault, as the cluster has the names."""
        return {name: self._there(name, value) for name, value in fields.items()}

    def _there(self, name: str, value: Any) -> Any:
        if name in _NAMES and isinstance(value, str):
            return self.named(value)
        if name in _NAMES and isinstance(value, list | tuple):
            return [self.named(each) for each in value]
        if name == "topics":
            return [self.named(each) for each in value]
        if name in _LISTS and isinstance(value, list | tuple):
            return [[self.named(topic), *rest] for topic, *rest in value]
        if name == "config":
            return {key: self.named(each) if key in _CONFIGURED else each for key, each in value.items()}
        return value

    def named(self, name: str) -> str:
        """A name, or a pattern that begins with `^`, as the cluster has it."""
        if name == _ANY:
            return name
        return f"^{self.prefix}{name[1:]}" if name.startswith(_PATTERN) else self.prefix + name

    def here(self, line: bytes) -> bytes:
        """A line of a driver with the names of the plan."""
        return line.replace(self.prefix.encode(), b"") if self.prefix else line
