"""What can be done to a running cluster, whichever thread it runs in."""

from abc import abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Literal

from ..cluster.replicas import Replica, describe
from ..faults import ClientRequest
from .clock_control import ClockControl
from .security_calls import SecurityCalls

if TYPE_CHECKING:
    from ..names import ApiNames
    from .fault_control import FaultControl, FaultHandle
    from .policy_control import PolicyControl
    from .trace_control import TraceControl

__tracebackhide__ = True


class RunningCluster(SecurityCalls):
    """The calls that `MockCluster` and the cluster of `serve` have in common."""

    _trace: "TraceControl | None" = None

    @property
    @abstractmethod
    def bootstrap_servers(self) -> str:
        """The address that clients are told for each broker, as `host:port`, comma separated, in order of
        broker id."""

    @property
    @abstractmethod
    def listeners(self) -> str:
        """Like `bootstrap_servers`, but with the addresses that brokers listen on; they differ if others are
        advertised."""

    @property
    @abstractmethod
    def failures(self) -> list[Exception]:
        """The exceptions raised so far by bugs: the broker's, or those of a policy or a listener of your own.

        A RequestFailedError names API, version, client and connection. The end of the cluster's block raises
        what is in the list: clear the list if the failures were expected.
        """

    def hints(self) -> list[str]:
        """Possible reasons why a client gets nothing, the likeliest first. Empty if all is well."""
        from ..control import hints

        return self.do(hints.hints)

    @property
    def policies(self) -> "PolicyControl":
        """The behaviours' answers in force, which may be changed while clients are connected."""
        from .policy_control import PolicyControl

        return PolicyControl(self)

    @property
    def clock(self) -> ClockControl:
        """The cluster's time, which can be moved."""
        return ClockControl(self)

    @property
    def faults(self) -> "FaultControl":
        """What goes wrong with requests; faults may be added while clients are connected."""
        from .fault_control import FaultControl

        return FaultControl(self)

    def on(
        self,
        api: "ApiNames | None",
        function: Callable[[ClientRequest], None],
        *,
        when: Literal["before", "after"] = "before",
        topic: str | None = None,
        topic_id: str | None = None,
        partition: int | None = None,
        resource: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        client_id: str | None = None,
        user: str | None = None,
        mechanism: str | None = None,
        listener: str | None = None,
        broker: int | None = None,
        version: int | Collection[int] | None = None,
        nth_on_connection: int | None = None,
        nth: int | None = None,
        times: int | None = None,
        probability: float | None = None,
        seed: int | None = None,
        optional: bool = False,
    ) -> "FaultHandle":
        """Calls `function` with each future request of one API, of several, or of any (None), before its work
        or `after` it, in the cluster's thread. The function may inspect the request, and decide what happens
        by calling one of its methods:

            cluster.on("Produce", lambda request: request.error("NOT_LEADER_OR_FOLLOWER"), times=1)

        The other arguments choose the requests, as for a fault, and hits are counted as for a fault. The
        function may call the cluster, but nothing that waits. If it raises, the client is answered
        UNKNOWN_SERVER_ERROR, and the end of the cluster's block raises a CallbackError with that exception as
        its cause. FaultError, a ValueError.
        """
        given = {
            "api": api,
            "when": when,
            "topic": topic,
            "topic_id": topic_id,
            "partition": partition,
            "resource": resource,
            "group": group,
            "transactional_id": transactional_id,
            "client_id": client_id,
            "user": user,
            "mechanism": mechanism,
            "listener": listener,
            "broker": broker,
            "version": version,
            "nth_on_connection": nth_on_connection,
            "nth": nth,
            "times": times,
            "probability": probability,
            "seed": seed,
        }
        said = {name: value for name, value in given.items() if value is not None}
        return self.faults.call(function, **said, optional=optional)

    @property
    def trace(self) -> "TraceControl":
        """What happens in the cluster: from the first use of this on, or with `trace=True` from the start."""
        if self._trace is None:
            from .trace_control import TraceControl

            self.do(lambda target: target.watch())
            self._trace = TraceControl(self.run, self._refuse_to_block, self._target.trace)
        return self._trace

    def stop_broker(self, broker: int) -> None:
        """Shuts a broker down: its connections are closed, and other brokers become leaders of its
        partitions. ConflictError if it is down already; KeyError."""
        self._act("stop-broker", broker=broker)

    def kill_broker(self, broker: int) -> None:
        """Kills a broker: its partitions get no new leader until its session has timed out.

        That takes `broker.session.timeout.ms`, with ZooKeeper `zookeeper.session.timeout.ms`. ConflictError
        if it is down already; KeyError.
        """
        self._act("kill-broker", broker=broker)

    def start_broker(self, broker: int) -> None:
        """Starts a broker again, with its logs; after a kill, once its session has timed out.

        ConflictError if it was started already, or its port is taken; KeyError.
        """
        self._act("start-broker", broker=broker)

    def move_leader(self, topic: str, partition: int, to: int | None = None) -> int:
        """Makes another broker of the ISR the partition's leader: broker `to`, or the next; returns its id.
        ConflictError says why none could lead; KeyError."""
        return int(self._act("move-leader", topic=topic, partition=partition, to=to)["leader"])

    def move_coordinator(
        self, *, group: str | None = None, transactional_id: str | None = None, to: int | None = None
    ) -> int:
        """Makes another broker the coordinator of a group or a transactional id: broker `to`, or the next
        that has its records; returns its id. ConflictError says why none could be; KeyError; OptionError."""
        return int(
            self._act("move-coordinator", group=group, transactional_id=transactional_id, to=to)["leader"]
        )

    def pause_follower(self, topic: str, partition: int, broker: int) -> None:
        """Stops a follower from fetching: it leaves the ISR after `replica.lag.time.max.ms`. ConflictError if
        it is not fetching anyway; KeyError."""
        self._act("pause-follower", topic=topic, partition=partition, broker=broker)

    def resume_follower(self, topic: str, partition: int, broker: int) -> None:
        """Lets a paused or slow follower fetch as usual: it truncates if need be, and catches up.
        ConflictError if it is neither, or its fetcher is dead; KeyError."""
        self._act("resume-follower", topic=topic, partition=partition, broker=broker)

    def slow_follower(self, topic: str, partition: int, broker: int, delay_ms: int) -> None:
        """Makes each fetch of a follower, or of a client that acts as it, take `delay_ms` from when the
        leader reads to when it answers; `resume_follower` ends that. ConflictError if it is already as slow,
        or is not fetching; KeyError."""
        self._act("slow-follower", topic=topic, partition=partition, broker=broker, delay_ms=delay_ms)

    def fail_follower(self, topic: str, partition: int, broker: int) -> None:
        """Kills a follower's fetcher, alone or with all partitions of its thread (see `fetcher-failure`).

        It stays dead until the next leader epoch, or until its broker starts again. ConflictError if it is
        dead already, or its broker is down; KeyError.
        """
        self._act("fail-follower", topic=topic, partition=partition, broker=broker)

    def cut_off(self, broker: int, *, from_: Collection[int | str] | None = None) -> None:
        """Cuts a broker off: from all other brokers and the controller, or from those in `from_`, a list of
        broker ids and `"controller"`.

        A broker that is cut off from the controller continues to act as leader for the clients that reach it,
        until it learns otherwise; after `broker.session.timeout.ms` (`zookeeper.session.timeout.ms` before
        2.8) other brokers lead its partitions. ConflictError if it is already cut off from them; KeyError.
        """
        self._act("cut-off-broker", broker=broker, from_=None if from_ is None else list(from_))

    def rejoin(self, broker: int) -> None:
        """Reverses `cut_off`: the broker learns who leads, truncates, and catches up. ConflictError if it is
        not cut off; KeyError."""
        self._act("rejoin-broker", broker=broker)

    def slow_metadata(self, broker: int, delay_ms: int) -> None:
        """Makes a broker learn `delay_ms` late what the controller decides: until then it leads, follows and
        answers clients by what it knew before. With 0 it learns everything at once again, including what it
        missed. ConflictError if its delay is the same already; KeyError."""
        self._act("slow-metadata", broker=broker, delay_ms=delay_ms)

    def evict_member(self, group: str, member: str) -> None:
        """Ends the session of a group's member, as if it had sent no heartbeat for too long: the group
        rebalances without it. `member` is its id, its `group.instance.id`, or a `client.id` that no other
        member of the group has. ConflictError while it waits for its coordinator's answer to a JoinGroup or
        SyncGroup, since it needs no heartbeat then; KeyError."""
        self._act("evict-member", group=group, member=member)

    def expire_producer(self, topic: str, partition: int, producer_id: int | None = None) -> None:
        """Makes a partition forget a producer's sequence numbers, or those of all producers, on all replicas,
        as if it had written nothing there for `producer.id.expiration.ms`. ConflictError if there is no such
        producer, or it has a transaction open there; KeyError."""
        self._act("expire-producer", topic=topic, partition=partition, producer_id=producer_id)

    def expire_transactional_id(self, transactional_id: str) -> None:
        """Makes the coordinator forget a transactional id, as if it had not been used for
        `transactional.id.expiration.ms`. ConflictError while a transaction is open or being ended;
        KeyError."""
        self._act("expire-transactional-id", transactional_id=transactional_id)

    def expire_locks(self, group: str) -> None:
        """Ends the locks on all records that members of a share group have acquired, as if
        `share.record.lock.duration.ms` were over: they are delivered again, or archived after too many
        deliveries. ConflictError if there are none; KeyError for a group that is not a share group."""
        self._act("expire-locks", group=group)

    def drop_share_sessions(self, broker: int) -> None:
        """Makes a broker forget its share sessions, and let go what their members have acquired: members have
        to begin new ones (SHARE_SESSION_NOT_FOUND). ConflictError if it has none; KeyError."""
        self._act("drop-share-sessions", broker=broker)

    def drop_fetch_sessions(self, broker: int) -> None:
        """Makes a broker forget its fetch sessions, as if others had needed their slots: clients have to
        begin new ones. ConflictError if it has none; KeyError."""
        self._act("drop-fetch-sessions", broker=broker)

    def replicas(self, topic: str, partition: int) -> list[Replica]:
        """What each replica of a partition holds now, and how it follows. KeyError."""
        return self.do(lambda target: describe(target.partition(topic, partition)))
