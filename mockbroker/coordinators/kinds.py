"""The kinds of groups."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .consumer.group import ConsumerGroup
    from .group import ClassicGroup

    Group = ClassicGroup | ConsumerGroup
