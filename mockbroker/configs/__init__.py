"""Configuration of brokers, topics, groups and client metrics: definitions by release, and what is set.

`definitions` has Kafka's tables (type, default, validator, whether dynamic) with what changed from release
to release; `values` parses and validates one value; `topic` says what a topic's configuration means to the
core; `store` has the values that are set, and where an effective value comes from.
"""

from .store import Configs, Entry, Layer, Source
from .topic import TopicSettings
from .values import ConfigError

__all__ = ["ConfigError", "Configs", "Entry", "Layer", "Source", "TopicSettings"]
