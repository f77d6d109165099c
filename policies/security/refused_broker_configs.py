"""`refused-broker-configs`: the message if a client may not alter the configuration of a broker.

It is `Cluster authorization failed.` up to 4.3, and null since 4.4; for other resources there always is one.
"""

from typing import Final, Literal

from ..behaviour import Switch

refused_broker_configs: Final = Switch[Literal["told", "untold"]](
    name="refused-broker-configs",
    summary="whether AlterConfigs has a message for a broker that may not be altered",
    answers={"told": True, "untold": False},
    history=(("0.11", "told"), ("4.4", "untold")),
)
