"""Configuration of brokers, topics, groups and client metrics: definitions by release, and values.

`definitions` has Kafka's tables (type, default, validator, whether dynamic), with the changes from release to
release; `values` parses and validates one value; `topic` has a topic's configuration in the form that the
core uses; `store` has the values that are set, and the sources of effective values.
"""

from .store import Configs, Entry, Layer, Source
from .topic import TopicSettings
from .values import ConfigError

__all__ = ["ConfigError", "Configs", "Entry", "Layer", "Source", "TopicSettings"]
