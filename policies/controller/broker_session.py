"""`broker-session`: which configuration says how long a broker that died is taken for alive.

A client sees the dead broker in Metadata, as leader of its partitions too, for so long: 6 s by default up to
2.4 and 18 s since (KAFKA-8933) with ZooKeeper, 9 s with KRaft.
"""

from typing import Final

from ..behaviour import Behaviour

broker_session: Final = Behaviour[str](
    name="broker-session",
    summary="which configuration says how long a broker that died is taken for alive",
    answers={"zookeeper": "zookeeper.session.timeout.ms", "kraft": "broker.session.timeout.ms"},
    history=(("0.11", "zookeeper"), ("3.3", "kraft")),
)
