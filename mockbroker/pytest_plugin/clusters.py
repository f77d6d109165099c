"""The clusters of a test, and what to report about them when it is over."""

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import astuple
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Unpack

from ..cluster_options import ClusterOptions, check_names
from ..errors import NotRunningError
from ..tracebacks import described
from .watching import Watch, last

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..contents.values import SharePartitionDescription
    from ..faults import Fault, Faults
    from ..server.mock_cluster import MockCluster

__tracebackhide__ = True
_PLACES: Final = 10
"""How many share partitions are in the report of a test that failed."""


class Watched(Watch):
    """A cluster, its faults, and what went wrong in it. Can be read after the cluster has stopped, too."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__()
        from ..server.mock_cluster import MockCluster

        given = {"trace": True if options.get("console") else "requests", **options}
        self._fixed = bool(given.get("fixed"))
        self._clock = given.get("clock", "wall")
        self.cluster: MockCluster = MockCluster(**given).start()
        self._core: Cluster = self.cluster.run(lambda core: core)
        self._seed = self.cluster.seed
        self._reporting = self.cluster._thread.reporting
        self._trace = self.cluster.run_with_trace(lambda trace: trace)
        self._added: Faults = self.cluster.run_with_faults(lambda faults: faults)

    @property
    def _faults(self) -> "list[Fault]":
        return self._added.added

    def stop(self) -> str | None:
        """Stops the cluster; returns the error that had ended it before, if there was one."""
        try:
            self.cluster.stop(raise_failures=False)
        except BaseException as error:
            return "the cluster ended by an error:\n" + "".join(traceback.format_exception(error)).rstrip()
        return None

    def logged(self, record: logging.LogRecord) -> bool:
        """Whether the log record is about a failure of this cluster, which is reported separately."""
        return getattr(record, "reporting", None) is self._reporting

    def problems(self, *, over: bool) -> Iterator[str]:
        """What the test should fail of, each only once; faults that may still fire only if it is `over`."""
        yield from _places([each for each in list(self.cluster.failures) if self.is_news(each)])
        yield from self.never_fired(over=over)

    def describe(self, failure: str) -> str:
        """What somebody who looks at a failed test wants to know, except what `failure` has already said."""
        core = self._core
        lines = self._causes(failure)
        time = datetime.fromtimestamp(core.now_ms / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")
        fixed = ", fixed" if self._fixed else ""
        lines.append(f"Kafka {core.release}{fixed}, brokers: {len(core.brokers)}, seed: {self._seed}")
        if self._clock != "wall":
            lines.append(f"clock: {self._clock}, at {time}")
        lines += [f"policy {each}" for each in self._other_policies()]
        lines += self.hits()
        lines += self._in_flight()
        lines += last(self._trace)
        return "\n".join(lines)

    def _causes(self, failure: str) -> list[str]:
        """Why the test may have failed, the likeliest reason first, except what `failure` has already
        said."""
        failures = _places(list(self.cluster.failures))
        unsaid = (each for each in failures if each not in failure)
        return [*unsaid, *self._hints(), *self.not_said(failure)]

    def _hints(self) -> list[str]:
        from ..control.hints import found

        manual = self._clock == "manual"
        return self._looked(lambda core: list(found(core, self._added, manual_clock=manual)))

    def _in_flight(self) -> list[str]:
        """What share groups have in flight."""
        from ..contents import groups, share_groups
        from ..trace import SharePartition

        def line(group: str, place: tuple[str, int], one: "SharePartitionDescription") -> str:
            start = -1 if one.start_offset is None else one.start_offset
            in_flight = tuple(astuple(each) for each in one.in_flight)
            return SharePartition(0, 0, *place, group, -1, start, in_flight).text()

        def look(core: "Cluster") -> list[str]:
            shared = [each for each in groups.groups(core).values() if each.type == "share"]
            return [
                line(group.id, place, one)
                for group in shared
                for place, one in share_groups.in_flight(core, group).items()
                if one.in_flight
            ]

        found = self._looked(look)
        more = [f"and {len(found) - _PLACES} more share partitions"] if len(found) > _PLACES else []
        return [*found[:_PLACES], *more]

    def _looked(self, look: "Callable[[Cluster], list[str]]") -> list[str]:
        """What is seen in the cluster, which may have stopped."""
        try:
            return self.cluster.run(look)
        except NotRunningError:
            return look(self._core)

    def _other_policies(self) -> Iterator[str]:
        """The answers that differ from those of the release, or of the fixes."""
        from ..policies import CATALOGUE, EVERYWHERE, fixes

        policies, usual = self._core.policies, fixes() if self._fixed else {}
        for scope in sorted({EVERYWHERE, *policies.scopes}, key=str):
            for name, behaviour in CATALOGUE.items():
                answer = policies.answer(name, topic=scope.topic, broker=scope.broker)
                expected = usual.get(name) or behaviour.default(policies.release)
                if scope != EVERYWHERE:
                    expected = policies.answer(name)
                if answer != expected:
                    yield f"{name}{scope}={answer}"


class Clusters:
    """Makes clusters, and stops them."""

    def __init__(self, defaults: Mapping[str, Any], where: str) -> None:
        self._defaults = defaults
        self._where = where
        self._watched: list[Watched] = []

    def make(self, **options: Unpack[ClusterOptions]) -> "MockCluster":
        """A cluster that runs until the test is over. ValueError, PortInUseError."""
        check_names(options, self._where)
        watched = Watched({**self._defaults, **options})
        self._watched.append(watched)
        return watched.cluster

    def logged(self, record: logging.LogRecord) -> bool:
        """Whether the log record is about a failure of one of them, which is reported separately."""
        return any(watched.logged(record) for watched in self._watched)

    def stop(self) -> list[str]:
        """Stops all clusters; returns the errors that had ended some before."""
        return [text for watched in self._watched if (text := watched.stop())]

    def problems(self, *, over: bool) -> list[str]:
        """What a test should fail of, each only once."""
        return [text for watched in self._watched for text in watched.problems(over=over)]

    def describe(self, failure: str) -> str:
        return "\n\n".join(watched.describe(failure) for watched in self._watched)


def _places(failures: list[Exception]) -> list[str]:
    """Each failure, and where it came from; of those from the same place only the first, and how many
    more."""
    places: dict[str, list[Exception]] = {}
    for failure in failures:
        places.setdefault(described(failure.__cause__ or failure), []).append(failure)
    more = {place: f"\n({len(same) - 1} more like it)" * (len(same) > 1) for place, same in places.items()}
    return [f"{same[0]}:\n{place}{more[place]}" for place, same in places.items()]
