"""`refused-configs`: what a client is told that alters configurations which it may not, and which are wrong.

With ZooKeeper, brokers look first at what it may do. With KRaft (3.3) they look first whether names are there
twice or values are missing, and, for brokers, whether a broker could take the values. Since 4.4 what one may
do to a broker comes before its values, and such a refusal has no message (`ConfigAdminManager.scala`).
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Order(NamedTuple):
    """Whether brokers look for mistakes in form before they authorize, and, for brokers, in values too."""

    mistakes_first: bool
    broker_values_first: bool


refused_configs: Final = Behaviour[Order](
    name="refused-configs",
    summary="what is told about configurations that are wrong, and that a client may not alter anyway",
    answers={
        "refusal": Order(mistakes_first=False, broker_values_first=False),
        "mistake": Order(mistakes_first=True, broker_values_first=True),
        "mistake-in-form": Order(mistakes_first=True, broker_values_first=False),
    },
    history=(("0.11", "refusal"), ("3.3", "mistake"), ("4.4", "mistake-in-form")),
)
