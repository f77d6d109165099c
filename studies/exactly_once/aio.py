"""The application with aiokafka."""

import asyncio
import contextlib
import json
import subprocess
import sys
import time
from typing import Any

from .case import BATCH, GROUP, INPUT, OUTPUT, PAUSE_MS, RECORDS, TRANSACTIONAL_ID


class AioApplication:
    bumps_epochs = False

    def __init__(self) -> None:
        import aiokafka

        self.name = f"aiokafka {aiokafka.__version__}"

    def move(self, bootstrap: str, limit_s: float) -> list[str]:
        """In a process of its own: a client that was cut off leaves sockets and tasks behind."""
        command = [sys.executable, "-W", "ignore", "-m", __name__, bootstrap, str(limit_s)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * limit_s, check=True)
        told = json.loads(done.stdout)
        if told["late"]:
            raise TimeoutError(told["late"])
        return list(told["errors"])

    def stop(self) -> None: ...


class _Mover:
    def __init__(self, bootstrap: str, end: float) -> None:
        self.bootstrap, self.end = bootstrap, end
        self.errors: list[str] = []
        self.producer: Any = None
        self.consumer: Any = None

    async def run(self) -> list[str]:
        from aiokafka import AIOKafkaConsumer
        from aiokafka.errors import KafkaError

        self.consumer = AIOKafkaConsumer(
            INPUT,
            bootstrap_servers=self.bootstrap,
            group_id=GROUP,
            isolation_level="read_committed",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            fetch_max_wait_ms=50,
            request_timeout_ms=1000,
            retry_backoff_ms=20,
            session_timeout_ms=10_000,
            heartbeat_interval_ms=500,
        )
        try:
            async with asyncio.timeout(self.end - time.monotonic()):
                await self.consumer.start()
                while not await self.all_moved():
                    try:
                        if self.producer is None:
                            await self.open()
                        await self.move_some()
                    except KafkaError as error:
                        self.errors.append(type(error).__name__)
                        await self.close()
        except TimeoutError:
            told = ", ".join(self.errors) or "none"
            raise TimeoutError(f"not all were moved; its errors were {told}") from None
        finally:
            await self.close()
            with contextlib.suppress(asyncio.CancelledError):  # of its own fetches: it lets that out
                await self.consumer.stop()
        return self.errors

    async def open(self) -> None:
        from aiokafka import AIOKafkaProducer

        self.producer = AIOKafkaProducer(
            bootstrap_servers=self.bootstrap,
            transactional_id=TRANSACTIONAL_ID,
            transaction_timeout_ms=20_000,
            request_timeout_ms=1000,
            retry_backoff_ms=20,
        )
        await self.producer.start()
        await self.rewind()

    async def close(self) -> None:
        """Whatever was open is for the next instance to abort."""
        from aiokafka.errors import KafkaError

        producer, self.producer = self.producer, None
        if producer is not None:
            try:
                async with asyncio.timeout(2):
                    await producer.stop()
            except (KafkaError, TimeoutError) as error:
                self.errors.append(type(error).__name__)

    async def move_some(self) -> None:
        found = await self.consumer.getmany(timeout_ms=100, max_records=BATCH)
        if not found:
            return
        sent = []
        async with self.producer.transaction():
            for partition, records in found.items():
                for index, record in enumerate(records):
                    if index == len(records) // 2:
                        await asyncio.sleep(PAUSE_MS / 1000)
                    sent.append(await self.producer.send(OUTPUT, record.value, partition=partition.partition))
            # A commit does not fail for what could not be written: only these tell.
            await asyncio.gather(*sent)
            positions = {each: records[-1].offset + 1 for each, records in found.items()}
            await self.producer.send_offsets_to_transaction(positions, GROUP)

    async def rewind(self) -> None:
        """Back to what is committed."""
        for partition in self.consumer.assignment():
            self.consumer.seek(partition, await self.consumer.committed(partition) or 0)

    async def all_moved(self) -> bool:
        from aiokafka.errors import KafkaError

        try:
            offsets = [await self.consumer.committed(each) or 0 for each in self.consumer.assignment()]
        except KafkaError as error:
            self.errors.append(type(error).__name__)
            return False
        return sum(offsets) == RECORDS


def main(bootstrap: str, limit: str) -> None:
    """Moves all, and writes the result."""
    told = {"late": "", "errors": []}
    try:
        told["errors"] = asyncio.run(_Mover(bootstrap, time.monotonic() + float(limit)).run())
    except TimeoutError as error:
        told["late"] = str(error)
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
