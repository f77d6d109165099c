"""`repeated-configs`: what AlterConfigs makes of a configuration that it names twice for a resource.

Up to 3.1 the last value counts, and nothing else is looked at. Since 3.2 the resource fails with
INVALID_REQUEST (`ConfigAdminManager.scala`), as in IncrementalAlterConfigs before. Brokers of 2.8.2, 3.1.2
and 3.2.3 were asked.
"""

from typing import Final, Literal

from ..behaviour import Switch

repeated_configs: Final = Switch[Literal["last", "refused"]](
    name="repeated-configs",
    summary="what AlterConfigs makes of a configuration that it names twice",
    answers={"last": True, "refused": False},
    history=(("0.11", "last"), ("3.2", "refused")),
)
