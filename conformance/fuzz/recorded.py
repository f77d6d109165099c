"""What real clients send: `clients/*.json` has the frames of each of their connections in hex, a few of each
kind.

`python -m mockbroker.conformance.fuzz record` writes them again, from captures of a served cluster.
"""

import asyncio
import functools
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ...protocol import capture_files
from ...server.mock_cluster import MockCluster

FOLDER: Final = Path(__file__).parent / "clients"
_TIMEOUT: Final = 20.0
_OF_A_KIND: Final = 3
"""How many requests of each API and version are kept for each connection."""


@functools.cache
def sessions() -> list[list[bytes]]:
    """The frames of each connection, without their sizes."""
    return [
        [bytes.fromhex(frame) for frame in frames]
        for file in sorted(FOLDER.glob("*.json"))
        for frames in json.loads(file.read_text())
    ]


def record(folder: Path = FOLDER) -> None:
    """Runs every client and keeps what it sent. ImportError if one is not installed."""
    for client in (confluent, aiokafka, kafka_python):
        with tempfile.TemporaryDirectory() as temporary:
            capture = Path(temporary) / "capture.pcapng"
            with MockCluster(seed=1, brokers=1, topics={"t0": 1}, capture=capture) as cluster:
                client(cluster.bootstrap_servers)
            with capture.open("rb") as file:
                kept = [[frame.hex() for frame in frames] for frames in _connections(file)]
        (folder / f"{client.__name__}.json").write_text(json.dumps(kept, indent=0) + "\n")


def _connections(file: Any) -> Iterator[list[bytes]]:
    """What was sent on each connection. Segments are in order: they never left the machine."""
    streams: dict[tuple[Any, Any], bytearray] = {}
    for segment in capture_files.read(file):
        if (segment.target, segment.source) not in streams:
            streams.setdefault((segment.source, segment.target), bytearray()).extend(segment.payload)
    for data in streams.values():
        kinds: Counter[bytes] = Counter()
        frames = []
        while data:
            end = 4 + int.from_bytes(data[:4], "big")
            frame = bytes(data[4:end])
            del data[:end]
            kinds[frame[:4]] += 1
            if kinds[frame[:4]] <= _OF_A_KIND:
                frames.append(frame)
        if frames:
            yield frames


def confluent(bootstrap: str) -> None:
    """librdkafka: transactions, a group, administration."""
    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    settings: dict[str, Any] = {"bootstrap.servers": bootstrap}
    admin = AdminClient(settings)
    for created in admin.create_topics([NewTopic("t1", 2, 1)]).values():
        created.result(_TIMEOUT)
    producer = Producer({**settings, "transactional.id": "x0", "compression.type": "lz4"})
    producer.init_transactions(_TIMEOUT)
    for finish in (producer.commit_transaction, producer.abort_transaction):
        producer.begin_transaction()
        producer.produce("t0", b"value", b"key")
        producer.flush(_TIMEOUT)
        finish(_TIMEOUT)
    consumer = Consumer({**settings, "group.id": "g0", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t0"])
    _until(lambda: consumer.poll(0.1))
    consumer.commit(asynchronous=False)
    consumer.close()
    for deleted in admin.delete_topics(["t1"]).values():
        deleted.result(_TIMEOUT)


def aiokafka(bootstrap: str) -> None:
    """aiokafka: an idempotent producer, a group."""
    from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

    async def both() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True)
        await producer.start()
        await producer.send_and_wait("t0", b"value", b"key")
        await producer.stop()
        consumer = AIOKafkaConsumer(
            "t0", bootstrap_servers=bootstrap, group_id="g0", auto_offset_reset="earliest"
        )
        await consumer.start()
        await asyncio.wait_for(consumer.getone(), _TIMEOUT)
        await consumer.commit()
        await consumer.stop()

    asyncio.run(both())


def kafka_python(bootstrap: str) -> None:
    """kafka-python: a producer, a group."""
    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=bootstrap, compression_type="gzip")
    producer.send("t0", b"value", b"key").get(_TIMEOUT)
    producer.close()
    consumer = KafkaConsumer("t0", bootstrap_servers=bootstrap, group_id="g1", auto_offset_reset="earliest")
    _until(lambda: consumer.poll(100))
    consumer.commit()
    consumer.close()


def _until(poll: Callable[[], Any]) -> None:
    for _ in range(int(_TIMEOUT / 0.1)):
        if poll():
            return
    raise TimeoutError("no record came")
