"""A session without sockets, and one in front of a mock, for tests."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mockbroker import MockCluster, MockProxy
from mockbroker.outcome import Client
from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.releases import parse
from mockbroker.proxying.framing import Outlet
from mockbroker.proxying.session import Session
from mockbroker.proxying.upstream import Upstream
from mockbroker.rig.client import Client as RawClient
from mockbroker.rig.client import encode, flexible

from ..driving.clients import raw_client

LISTENER = ("127.0.0.1", 19092)


class Between:
    """A session with a broker 1, and what it wrote and said."""

    def __init__(self, *faults: dict[str, Any], kafka: str | None = None, policies: Any = None) -> None:
        self.said: list[str] = []
        shown = None if kafka is None else parse(kafka)
        self.upstream = Upstream(lambda broker: (LISTENER[0], LISTENER[1] + broker - 1), shown, policies)
        self.upstream.told(1, "theirs", 9092)
        self.faults = [self.upstream.faults.add(**each) for each in faults]
        broker, client = self.upstream.brokers[1], Client()
        self.session = Session(self.upstream, broker, client, lambda: None, self.said.append)

    def ask(self, api: str, version: int, correlation_id: int = 7, **fields: Any) -> bytes:
        """Sends a request; returns what the broker gets of all."""
        self.session.from_client(request(api, version, correlation_id, **fields))
        return taken(self.session.to_broker)

    def answer(self, api: ApiKey, version: int, answer: Any, correlation_id: int = 7) -> Any:
        """The broker answers; returns the answer that the client gets."""
        self.session.from_broker(answer_codec(api, version).encode(correlation_id, answer))
        return answer_codec(api, version).decode(taken(self.session.to_client)[4:])


def request(api: str, version: int, correlation_id: int = 7, client: str = "c", **fields: Any) -> bytes:
    key = ApiKey[api.upper()]
    tags = b"\0" * flexible(api, version)
    header = struct.pack(">hhih", key, version, correlation_id, len(client)) + client.encode() + tags
    body = header + encode(api, version, fields)
    return len(body).to_bytes(4) + body


def large(size: int, correlation_id: int, acks: int = -1, client: str = "c") -> bytes:
    """A Produce v9 with records of so many bytes, which only a broker would look at."""
    partition = {"index": 0, "records": bytes(range(256)) * (size // 256)}
    topics = [{"name": "orders", "partition_data": [partition]}]
    fields = {"transactional_id": None, "acks": acks, "timeout": 1000, "topic_data": topics}
    return request("produce", 9, correlation_id, client, **fields)


def taken(outlet: Outlet) -> bytes:
    data = b"".join(outlet.first(1 << 20))
    outlet.written(len(data))
    assert not outlet.size
    return data


@contextmanager
def behind(chosen: Any, **cluster: Any) -> Iterator[tuple[MockCluster, RawClient]]:
    """A cluster of one broker, and a client of the proxy before it."""
    topics = {"orders": 2, "others": 1}
    with (
        MockCluster(brokers=1, topics=topics, **cluster) as upstream,
        MockProxy(upstream.bootstrap_servers, policies=chosen) as proxy,
        raw_client(proxy) as client,
    ):
        yield upstream, client
        assert not proxy.lines
