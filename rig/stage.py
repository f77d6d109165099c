"""Where a story is told: brokers that can be stopped, killed and held, and requests to them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from .brokers import Brokers
from .client import Client, Fields, Pending, api_name, kio_versions
from .scene import LacksApiError


class Stage:
    """The brokers of a story, real or in memory, of which `online` serve; a connection to each, and more for
    other client ids."""

    highest: ClassVar[Mapping[str, int]] = {}
    """The version of an API above which a story does not ask."""
    client_id: ClassVar[str] = "conformance"
    """Of requests that name none."""

    def __init__(self, brokers: Brokers, name: str = "") -> None:
        """`name` is that of the story."""
        self.brokers, self.name = brokers, name
        self.zookeeper = brokers.zookeeper
        self.online = list(brokers.nodes)
        self.held: list[int] = []
        self._clients: dict[tuple[int, str], Client] = {}
        self._versions: dict[str, tuple[int, int]] = {}

    # -- requests

    def client(self, broker: int = 0, by: str = "") -> Client:
        """The connection of that client id to a broker, by default the first that is online."""
        key = (broker or self.online[0], by or self.client_id)
        if key not in self._clients:
            self._clients[key] = self.brokers.client(*key)
        return self._clients[key]

    def newest(self, api: str, most: int = 99) -> int:
        """The newest version of an API, but no newer than `most`; -1 if there is none."""
        if not self._versions:
            self._versions = self.client().api_versions()
        low, high = self._versions.get(api, (0, -1))
        high = min(high, most, self.highest.get(api, most))
        return max((version for version in kio_versions(api) if low <= version <= high), default=-1)

    def needs(self, api: str, version: int = 0) -> None:
        """LacksApiError if brokers don't have it: the story is not for them."""
        if self.newest(api) < version:
            raise LacksApiError(f"{api_name(api)} v{version}")

    def send(
        self, api: str, fields: Fields, *, version: int | None = None, broker: int = 0, by: str = ""
    ) -> Pending:
        """Sends a request, by default in the newest version, and returns at once."""
        asked = self.newest(api) if version is None else version
        return self.client(broker, by).send(api, asked, fields)

    def ask(
        self, api: str, fields: Fields, *, version: int | None = None, broker: int = 0, by: str = ""
    ) -> Any:
        """The answer, as it came."""
        return self.client(broker, by).receive(self.send(api, fields, version=version, broker=broker, by=by))

    def begin(self) -> None:
        """What comes before the story."""

    # -- brokers

    def stop(self, broker: int) -> None:
        self._end(broker, self.brokers.stop_broker)

    def kill(self, broker: int) -> None:
        self._end(broker, self.brokers.kill_broker)

    def start(self, broker: int) -> None:
        self.brokers.start_broker(broker)
        self._back(broker)
        self.brokers.until(partial(self._known, broker, True), f"broker {broker} to be back")

    def hold(self, broker: int) -> None:
        self._gone(broker)
        self.held.append(broker)
        self.brokers.hold(broker)

    def let_go(self, broker: int) -> None:
        self.brokers.let_go(broker)
        self.held.remove(broker)
        self._back(broker)

    def settled(self, look: Callable[[int], Any]) -> Any:
        """What `look` sees through each broker that is online, once they agree."""
        return self.brokers.settle(look, self.online)

    def restore(self) -> None:
        """All brokers are well again."""
        for broker in self.brokers.nodes:
            if broker in self.held:
                self.let_go(broker)
            elif broker not in self.online:
                self.start(broker)

    def _end(self, broker: int, end: Callable[[int], None]) -> None:
        self._gone(broker)
        end(broker)
        self.brokers.until(partial(self._known, broker, False), f"broker {broker} to be gone")

    def _known(self, broker: int, there: bool) -> bool:
        """Whether all others that are online say that it is there, or that it is not."""
        return all((broker in self._listed(each)) is there for each in self.online)

    def _listed(self, broker: int) -> list[int]:
        """The brokers in its Metadata."""
        try:
            answer = self.ask("metadata", {"topics": []}, version=4, broker=broker)
        except OSError:
            return []
        return [each["node_id"] for each in answer["brokers"]]

    def _gone(self, broker: int) -> None:
        self.online.remove(broker)
        for key in [key for key in self._clients if key[0] == broker]:
            self._clients.pop(key).close()

    def _back(self, broker: int) -> None:
        self.online = sorted([*self.online, broker])

    def close(self) -> None:
        for each in self._clients.values():
            each.close()
        self._clients.clear()
