"""Asks a Kafka cluster, real or mock, and compares its answers with those of real brokers.

`ask` is the entry point for tests, `python -m mockbroker.conformance` the one for people.
"""

from ..rig.setup import BROKER_CONFIG, RELEASES
from .asking import Result, ask
from .moved import find_by_old_names
from .recordings import nearest_release

__all__ = ["BROKER_CONFIG", "RELEASES", "Result", "ask", "nearest_release"]

find_by_old_names()
