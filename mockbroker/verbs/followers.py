"""How followers fetch."""

from ..cluster.cluster import Cluster
from ..replication.states import FollowerState
from .parameters import FetchDelay
from .subjects import FOLLOWER, Following
from .verb import verb


def _told(following: Following) -> str:
    partition = following.partition
    return f"broker {following.follower.broker}, a follower of {partition.topic.name}-{partition.index},"


def _fetches_nothing(following: Following) -> str:
    """Why the follower does not fetch at all; empty if it does."""
    match following.follower.state:
        case FollowerState.OFFLINE:
            return f"{_told(following)} is down: start it first"
        case FollowerState.CUT_OFF:
            return f"{_told(following)} can't reach the leader, or has not heard of it: let it rejoin first"
        case FollowerState.FAILED:
            return (
                f"the fetcher of {_told(following)} died ({following.follower.failure}): it stays dead until "
                "the next leader epoch, or until the broker starts again"
            )
    return ""


def _is_paused(cluster: Cluster, following: Following) -> str:
    if following.follower.state is FollowerState.PAUSED:
        return f"{_told(following)} is paused already"
    return _fetches_nothing(following)


@verb("pause-follower", FOLLOWER, unless=_is_paused)
def pause_follower(cluster: Cluster, following: Following) -> None:
    """Stops a follower from fetching: it leaves the ISR after `replica.lag.time.max.ms`."""
    following.partition.set_follower(following.follower.broker, FollowerState.PAUSED)


def _is_as_slow(cluster: Cluster, following: Following, delay_ms: FetchDelay) -> str:
    follower = following.follower
    if follower.state in (FollowerState.SLOW, FollowerState.EXTERNAL) and follower.delay_ms == delay_ms:
        return f"each fetch of {_told(following)} takes {delay_ms} ms already"
    return _fetches_nothing(following)


@verb("slow-follower", FOLLOWER, unless=_is_as_slow)
def slow_follower(cluster: Cluster, following: Following, delay_ms: FetchDelay) -> None:
    """Makes each fetch of a follower take longer."""
    following.partition.set_follower(following.follower.broker, FollowerState.SLOW, delay_ms=delay_ms)


def _is_at_work(cluster: Cluster, following: Following) -> str:
    if following.follower.state in (FollowerState.IN_STEP, FollowerState.BEHIND):
        return f"{_told(following)} is neither paused nor slow"
    return _fetches_nothing(following)


@verb("resume-follower", FOLLOWER, unless=_is_at_work)
def resume_follower(cluster: Cluster, following: Following) -> None:
    """Lets a paused or slow follower fetch as usual: it truncates its log if need be, and catches up."""
    following.partition.set_follower(following.follower.broker, FollowerState.BEHIND)


def _has_no_fetcher(cluster: Cluster, following: Following) -> str:
    """A fetcher that can't reach the leader exists all the same, and may die."""
    if following.follower.state is FollowerState.CUT_OFF:
        return ""
    return _fetches_nothing(following)


@verb("fail-follower", FOLLOWER, unless=_has_no_fetcher)
def fail_follower(cluster: Cluster, following: Following) -> None:
    """Kills a follower's fetcher, alone or with all partitions of its thread (see `fetcher-failure`)."""
    following.follower.fail("failed by the test")
