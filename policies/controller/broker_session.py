"""`broker-session`: which configuration says how long a broker that died still counts as alive.

For this long a client still sees the dead broker in Metadata, also as leader of its partitions. The default
with ZooKeeper is 6 s up to 2.4 and 18 s since then (KAFKA-8933), with KRaft 9 s.
"""

from typing import Final

from ..behaviour import Behaviour

broker_session: Final = Behaviour[str](
    name="broker-session",
    summary="which configuration says how long a broker that died still counts as alive",
    answers={"zookeeper": "zookeeper.session.timeout.ms", "kraft": "broker.session.timeout.ms"},
    history=(("0.11", "zookeeper"), ("3.3", "kraft")),
)
