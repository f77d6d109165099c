"""`shown-defaults`: whether DescribeConfigs of version 0 tells defaults from values that are set
(KAFKA-9432).

Up to 2.6 `is_default` is true for a default. Since 2.7 it is always false.
"""

from typing import Final, Literal

from ..behaviour import Switch

shown_defaults: Final = Switch[Literal["told", "never"]](
    name="shown-defaults",
    summary="whether DescribeConfigs version 0 says which values are defaults",
    answers={"told": True, "never": False},
    history=(("0.11", "told"), ("2.7", "never")),
    ids=("KAFKA-9432",),
)
