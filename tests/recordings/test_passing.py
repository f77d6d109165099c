"""What passes to a cluster while it is recorded: what people are told of those who can't come through."""

from io import BytesIO

import trio

from mockbroker import MockCluster
from mockbroker.addresses import given as address_of
from mockbroker.recordings.file import Writer
from mockbroker.recordings.passing import Direct
from mockbroker.recordings.recorder import Recorder

LIMIT_S = 60


def test_a_client_with_tls_is_told_once_where_there_is_none() -> None:
    lines: list[str] = []

    async def main(direct: Direct) -> None:
        recorder = Recorder(Writer(BytesIO(), values=False), values=False)
        with trio.fail_after(LIMIT_S):
            async with trio.open_nursery() as nursery:
                (here,) = await nursery.start(direct.run, recorder)
                for _ in range(2):
                    async with await trio.open_tcp_stream(*here) as client:
                        await client.send_all(b"\x16\x03\x01\x02\0")
                        assert await client.receive_some() == b""
                nursery.cancel_scope.cancel()

    with MockCluster(brokers=1) as cluster:
        upstream = address_of(cluster.bootstrap_servers, "upstream")
        trio.run(main, Direct([upstream], "127.0.0.1", 0, tell=lines.append))
    assert lines == ["127.0.0.1: closed, it sent a TLS handshake, but this was started without --tls"]
