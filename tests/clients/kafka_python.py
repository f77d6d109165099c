"""kafka-python, whose import uses a deprecated function of Python."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient as KafkaAdminClient
    from kafka import KafkaConsumer as KafkaConsumer
    from kafka import KafkaProducer as KafkaProducer
    from kafka import OffsetAndMetadata as OffsetAndMetadata
    from kafka import TopicPartition as TopicPartition
    from kafka import errors as errors
    from kafka.codec import has_gzip, has_lz4, has_snappy, has_zstd

PACKAGES = {"snappy": "python-snappy", "lz4": "lz4", "zstd": "zstandard"}
HAS = {"none": lambda: True, "gzip": has_gzip, "snappy": has_snappy, "lz4": has_lz4, "zstd": has_zstd}


@contextmanager
def leaving_nothing() -> Iterator[None]:
    """It does not close sockets whose TLS handshake was given up. Without this the collector would find them
    in another test, which would fail."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
