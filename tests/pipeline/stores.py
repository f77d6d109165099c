"""An object store for tests: moto's S3, and who reads what of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import pytest


class Read(NamedTuple):
    """An object was read with an access key."""

    key: str
    path: str


class Store(NamedTuple):
    """`options` are those of URIs."""

    options: str
    reads: list[Read]


@contextmanager
def s3() -> Iterator[Store]:
    """Skips the test without moto."""
    moto = pytest.importorskip("moto.moto_server.threaded_moto_server")
    application, reads = moto.DomainDispatcherApplication, list[Read]()

    def listening(*arguments: Any) -> Callable[..., Iterable[bytes]]:
        answers: Callable[..., Iterable[bytes]] = application(*arguments)

        def answer(request: dict[str, Any], start: Any) -> Iterable[bytes]:
            _, _, key = request.get("HTTP_AUTHORIZATION", "").partition("Credential=")
            path = request["PATH_INFO"]
            if request["REQUEST_METHOD"] == "GET" and "/" in path.strip("/"):
                reads.append(Read(key.partition("/")[0], path))
            return answers(request, start)

        return answer

    with mock.patch.object(moto, "DomainDispatcherApplication", listening):
        server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        try:
            endpoint = f"scheme=http&endpoint_override={host}:{port}"
            yield Store(f"{endpoint}&region=us-east-1&allow_bucket_creation=true", reads)
        finally:
            server.stop()


def keys(who: str) -> dict[str, str]:
    """The environment of a process with an access key."""
    return {
        "AWS_ACCESS_KEY_ID": who,
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
