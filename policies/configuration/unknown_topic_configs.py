"""`unknown-topic-configs`: what is answered about the configuration of a topic that is not there.

Up to 2.6 AlterConfigs and IncrementalAlterConfigs get UNKNOWN_SERVER_ERROR (`fails`), in 2.6 without a
message (`fails-untold`). In 2.7 and 2.8 they get UNKNOWN_TOPIC_OR_PARTITION before values are looked at
(`told-first`), since 3.2 if these are right (`told`). In 3.1 they get NONE (`unnoticed`).
"""

from typing import Final, Literal

from ..behaviour import Behaviour

unknown_topic_configs: Final = Behaviour[Literal["fails", "fails-untold", "told-first", "unnoticed", "told"]](
    name="unknown-topic-configs",
    summary="what is answered about the configuration of a topic that is not there",
    answers={
        "fails": "fails",
        "fails-untold": "fails-untold",
        "told-first": "told-first",
        "unnoticed": "unnoticed",
        "told": "told",
    },
    history=(
        ("0.11", "fails"),
        ("2.6", "fails-untold"),
        ("2.7", "told-first"),
        ("3.0", "unnoticed"),
        ("3.2", "told"),
    ),
)
