"""The rates at which clients use one broker, and how long they have to wait (`ClientQuotaManager.java`)."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from ..controller.client_quotas import CLIENT_ID, CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE, USER
from ..environment import Environment
from ..metadata.image import MetadataImage
from ..metadata.records import Entity
from ..protocol.api_keys import ApiKey

KEY_OF: Final = {ApiKey.PRODUCE: PRODUCER_BYTE_RATE, ApiKey.FETCH: CONSUMER_BYTE_RATE}
"""The quotas that brokers keep, by the API that uses them."""

_ANONYMOUS: Final = "ANONYMOUS"
_MANY: Final = 1_000
"""With more rates than this, those that no longer count anything are forgotten."""

Counted = tuple[str, str, str]
"""What has a rate of its own: key, user and client id; empty for those that count together."""


class Limit(NamedTuple):
    """What one client may use. Rates are in bytes per second."""

    rate: "Rate"
    most_per_second: float

    @property
    def most_at_once(self) -> float:
        """With more bytes at once it would be over its quota in any case."""
        return self.most_per_second * (self.rate.windows - 1) * self.rate.window_ms / 1000

    def use(self, size: int, now_ms: int) -> int:
        """Counts bytes, and returns how many ms the client has to wait (`QuotaUtils.throttleTime`)."""
        self.rate.add(size, now_ms)
        over_ms = self.rate.span_ms(now_ms)
        observed = self.rate.total / (over_ms / 1000)
        if observed <= self.most_per_second:
            return 0
        return math.floor((observed - self.most_per_second) / self.most_per_second * over_ms + 0.5)

    def give_back(self, size: int, now_ms: int) -> None:
        """These bytes were not sent."""
        self.rate.add(-size, now_ms)


class ClientQuotas:
    """What clients have used of one broker since it started; `image` is the cluster as it knows it."""

    def __init__(self, environment: Environment, broker: int, image: Callable[[], MetadataImage]) -> None:
        self._environment = environment
        self._broker = broker
        self._image = image
        self._rates: dict[Counted, Rate] = {}

    def limit(self, api: ApiKey, client_id: str | None) -> Limit | None:
        """By the most specific quota that is set for a client; None if there is none."""
        quotas, key = self._image().client_quotas, KEY_OF[api]
        for entity, user, client in _candidates(client_id or ""):
            most = quotas.get(entity, _NONE).get(key)
            if most is not None:
                return Limit(self._rate((key, user, client)), most)
        return None

    def _rate(self, counted: Counted) -> "Rate":
        found = self._rates.get(counted)
        if found is None:
            now_ms, configs = self._environment.now_ms, self._environment.configs
            if len(self._rates) >= _MANY:
                self._rates = {each: rate for each, rate in self._rates.items() if not rate.idle(now_ms)}
            windows = configs.broker_int("quota.window.num", self._broker)
            window_s = configs.broker_int("quota.window.size.seconds", self._broker)
            found = self._rates[counted] = Rate(windows, 1000 * window_s)
        return found


_NONE: Final[Mapping[str, float]] = {}


def _candidates(client: str) -> Iterator[tuple[Entity, str, str]]:
    """Entities in order of precedence, each with the user and the client id that are counted together.
    Clients without an id have no quotas but those of their user."""
    for name in (_ANONYMOUS, None):
        if client:
            yield ((CLIENT_ID, client), (USER, name)), _ANONYMOUS, client
            yield ((CLIENT_ID, None), (USER, name)), _ANONYMOUS, client
        yield ((USER, name),), _ANONYMOUS, ""
    if client:
        yield ((CLIENT_ID, client),), "", client
        yield ((CLIENT_ID, None),), "", client


class _Window:
    """Bytes that were counted from `start_ms` on, last at `last_ms`."""

    __slots__ = ("last_ms", "start_ms", "total")

    def __init__(self, now_ms: int) -> None:
        self.begin(now_ms)

    def begin(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.total = 0


class Rate:
    """Bytes over the last `windows` windows, the present one included (`Rate.java`, `SampledStat.java`)."""

    __slots__ = ("_present", "_windows", "window_ms", "windows")

    def __init__(self, windows: int, window_ms: int) -> None:
        self.windows = windows
        self.window_ms = window_ms
        self._windows: list[_Window] = []
        self._present = 0

    @property
    def total(self) -> int:
        return sum(each.total for each in self._windows)

    def add(self, size: int, now_ms: int) -> None:
        """Counts bytes, in the next window if the present one is over."""
        if not self._windows:
            self._windows.append(_Window(now_ms))
        present = self._windows[self._present]
        if now_ms - present.start_ms >= self.window_ms:
            # One more than there are is kept, because it overlaps.
            self._present = (self._present + 1) % (self.windows + 1)
            if self._present == len(self._windows):
                self._windows.append(_Window(now_ms))
            present = self._windows[self._present]
            present.begin(now_ms)
        present.total += size
        present.last_ms = now_ms

    def span_ms(self, now_ms: int) -> int:
        """The time over which the rate is taken: since the oldest window began, but all windows save the
        present one are deemed to be over. Forgets what is too old."""
        for each in self._windows:
            if now_ms - each.last_ms >= self.windows * self.window_ms:
                each.begin(now_ms)
        elapsed_ms = now_ms - min(each.start_ms for each in self._windows)
        missing = max(0, self.windows - 1 - elapsed_ms // self.window_ms)
        return max(1, elapsed_ms + missing * self.window_ms)

    def idle(self, now_ms: int) -> bool:
        """Whether everything that it counted is too old to count."""
        return all(now_ms - each.last_ms >= self.windows * self.window_ms for each in self._windows)
