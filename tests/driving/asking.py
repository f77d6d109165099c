"""Raw requests to the brokers of a cluster, and what they tell."""

import socket
from typing import Any

from mockbroker import MockCluster

from .clients import address, raw_client


class Asking:
    def __init__(self, cluster: MockCluster, client_id: str = "conformance") -> None:
        self.cluster = cluster
        self._client_id = client_id

    def ask(self, api: str, version: int, broker: int = 1, **fields: Any) -> dict[str, Any]:
        with raw_client(self.cluster, self._client_id, broker=broker) as client:
            return client.call(api, version, fields)

    def heartbeat(self, broker: int = 1) -> str:
        return str(self.ask("heartbeat", 3, broker, group_id="billing")["error_code"])

    def leaders(self) -> list[int]:
        topic = self.ask("metadata", 9, 2, topics=[{"name": "orders"}])["topics"][0]
        return [each["leader_id"] for each in sorted(topic["partitions"], key=lambda p: p["partition_index"])]

    def is_up(self, broker: int) -> bool:
        try:
            socket.create_connection(address(self.cluster, broker), 5).close()
        except ConnectionRefusedError:
            return False
        return True

    def coordinator(self) -> int:
        return int(self.ask("find_coordinator", 3, key="billing")["node_id"])
