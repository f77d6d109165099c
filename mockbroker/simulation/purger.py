"""Deletes records that a group has committed, as Kafka Streams does with its repartition topics: the use case
of KIP-360."""

from typing import Any

from ..protocol.api_keys import ApiKey
from ..protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from .client import NO_BROKER, ModelClient
from .ledger import Place
from .scene import Scene

_TIMEOUT_MS = 1_000


class Purger(ModelClient):
    """Sends each request once; if one fails, the next one deletes the rest."""

    def __init__(self, scene: Scene, name: str) -> None:
        super().__init__(scene, name, {ApiKey.METADATA: 9, ApiKey.DELETE_RECORDS: 2})

    def purge(self, place: Place, offset: int) -> None:
        """Deletes all records below `offset`."""
        leader = self.leader_of(*place).leader
        if leader == NO_BROKER:
            self.refresh(place[0])
            return
        self.scene.deleted(self.scene.partition(place), offset)
        if self.scene.recording:
            self.tell(f"deletes records below {offset}")
        asked = DeleteRecordsTopic(place[0], [DeleteRecordsPartition(place[1], offset)])

        def answered(answer: Any) -> None:
            if answer is None or answer.topics[0].partitions[0].error_code:
                self.refresh(place[0])

        request = DeleteRecordsRequest([asked], _TIMEOUT_MS)
        self.ask(leader, ApiKey.DELETE_RECORDS, request, answered, "admin")
