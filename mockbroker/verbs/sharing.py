"""What happens to share groups."""

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.led_share import LedShare
from ..cluster.sharing import shares_of
from .subjects import BROKER, SHARE_GROUP, SharingGroup
from .verb import verb


def _led(cluster: Cluster, group: SharingGroup) -> list[LedShare]:
    found = shares_of(cluster.brokers.values())
    return [led for _, shares in found for led in shares.of_group(group.name)]


def _has_no_locks(cluster: Cluster, group: SharingGroup) -> str:
    if any(led.share is not None and led.share.has_locks for led in _led(cluster, group)):
        return ""
    return f"no member of the share group {group.name!r} has acquired a record"


@verb("expire-locks", SHARE_GROUP, unless=_has_no_locks)
def expire_locks(cluster: Cluster, group: SharingGroup) -> None:
    """Ends the locks on all records that members of a share group have acquired, as if
    `share.record.lock.duration.ms` were over: they are delivered again, or archived after too many
    deliveries."""
    for led in _led(cluster, group):
        led.end_locks()


def _has_no_sessions(cluster: Cluster, broker: Broker) -> str:
    if "shares" in vars(broker) and broker.shares.sessions.members():
        return ""
    return f"broker {broker.id} has no share sessions"


@verb("drop-share-sessions", BROKER, unless=_has_no_sessions)
def drop_share_sessions(cluster: Cluster, broker: Broker) -> None:
    """Makes a broker forget its share sessions, and let go what their members have acquired: members have to
    begin new ones (SHARE_SESSION_NOT_FOUND)."""
    broker.shares.drop_sessions()
