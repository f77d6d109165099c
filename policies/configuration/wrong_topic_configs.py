"""`wrong-topic-configs`: which error a wrong value of a topic's configuration gets.

Up to 2.8 AlterConfigs and IncrementalAlterConfigs get INVALID_REQUEST for it, with a message that names the
topic, and for APPEND and SUBTRACT where there is no list (`ZkAdminManager.scala`); since 3.0, with
KRaft, INVALID_CONFIG. An unknown configuration is INVALID_CONFIG in all of them.
"""

from typing import Final, Literal

from ..behaviour import Switch

wrong_topic_configs: Final = Switch[Literal["invalid-request", "invalid-config"]](
    name="wrong-topic-configs",
    summary="which error a wrong value of a topic's configuration gets",
    answers={"invalid-request": True, "invalid-config": False},
    history=(("0.11", "invalid-request"), ("3.0", "invalid-config")),
)
