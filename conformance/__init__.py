"""Asks a Kafka cluster, real or mock, and compares its answers with those of real brokers.

`ask` is the entry point for tests, `python -m mockbroker.conformance` the one for people.
"""

from .asking import Result, ask
from .recordings import nearest_release
from .setup import BROKER_CONFIG, RELEASES

__all__ = ["BROKER_CONFIG", "RELEASES", "Result", "ask", "nearest_release"]
