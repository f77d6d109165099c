"""Time, timers, randomness, configuration and policies, in one object that every part of a cluster is
given."""

import base64
from collections.abc import Callable, Mapping
from uuid import UUID

from ..configs import Configs
from ..policies import Policies
from ..protocol.releases import Release
from .owner import Owner
from .randomness import Randomness, Streams
from .timers import Timer, Timers


class Environment:
    """What the parts of a cluster are given that behaves as `release` with `policies`.

    `config` is broker configuration, with Kafka's names, or parsed already; `now_ms` is Unix time, which only
    `advance` moves; all randomness is drawn from `streams`. ConfigError if a value is invalid.
    """

    __slots__ = (
        "_drawn",
        "_streams",
        "at_work",
        "configs",
        "failed",
        "now_ms",
        "policies",
        "release",
        "timers",
    )

    def __init__(
        self,
        release: Release,
        streams: Streams,
        *,
        config: Mapping[str, str] | Configs | None = None,
        policies: Policies | None = None,
        now_ms: int = 0,
    ) -> None:
        self.release = release
        self.policies = policies or Policies(release)
        self.configs = config if isinstance(config, Configs) else Configs(config or {}, release)
        self.now_ms = now_ms
        self.timers = Timers()
        self._streams = streams
        self._drawn: dict[str, Randomness] = {}
        self.failed: Callable[[Exception, Owner | None], None] | None = None
        """Called with an error that is raised while no handler is running, and with the request that waits
        for what failed, if any; if this is not set, the error is raised."""
        self.at_work: Owner | None = None
        """The request whose handler, or callback, is running: the owner of new waits."""

    # -- time

    def advance(self, now_ms: int, waited_ms: int = 0) -> None:
        """Sets the time and fires what is due, in order of the deadlines, each at its own time.

        `waited_ms` is for a clock that stands still: how much longer than the clock says requests have
        waited.
        """
        if waited_ms > self.timers.waited_ms:
            self.timers.waited_ms = waited_ms
        before = self.at_work
        try:
            for deadline, callback, owner in self.timers.due(now_ms):
                self.at_work = owner
                if deadline > self.now_ms:
                    self.now_ms = deadline
                # As `contain` does, without a call more for each timer.
                try:
                    callback()
                except Exception as error:
                    self.fail(error, owner)
        finally:
            self.at_work = before
        self.now_ms = max(self.now_ms, now_ms)

    def after(self, delay_ms: int, callback: Callable[[], None]) -> Timer:
        return self.timers.at(self.now_ms + delay_ms, callback)

    def wait(self, delay_ms: int, callback: Callable[[], None], *, owned: bool = True) -> Timer:
        """As `after`, for a request that waits for its answer, or soon will: it also fires when that much
        time has passed outside while the cluster's clock stood still. If the callback raises, that ends the
        request being handled, if `owned`."""
        return self.timers.wait_until(self.now_ms + delay_ms, callback, self.at_work if owned else None)

    # -- on whose behalf

    def contain(self, callback: Callable[[], None], owner: Owner | None) -> None:
        """Calls back for `owner`; if the callback raises, that ends this owner, and nobody else."""
        before, self.at_work = self.at_work, owner
        try:
            callback()
        except Exception as error:
            self.fail(error, owner)
        finally:
            self.at_work = before

    def fail(self, error: Exception, owner: Owner | None) -> None:
        """Tells the shell about an error, and whose request it ends."""
        if self.failed is None:
            raise error
        self.failed(error, owner)

    # -- randomness

    def random(self, concern: str) -> Randomness:
        """The source of randomness for one concern, always the same."""
        found = self._drawn.get(concern)
        if found is None:
            found = self._drawn[concern] = self._streams(concern)
        return found

    def new_uuid(self) -> UUID:
        """A random id whose text does not begin with a hyphen, as in Kafka (`Uuid.randomUuid`)."""
        while True:
            value = UUID(bytes=self.random("ids").randbytes(16), version=4)
            if not base64.urlsafe_b64encode(value.bytes).startswith(b"-"):
                return value
