"""The choices of options."""

import enum


class LogFormat(enum.StrEnum):
    """How `serve` reports."""

    TEXT = "text"
    JSON = "json"


class Clock(enum.StrEnum):
    """What moves a cluster's time."""

    WALL = "wall"
    MANUAL = "manual"


class ClientAuth(enum.StrEnum):
    """Whether clients have to show a certificate."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


class Fixed(enum.StrEnum):
    """Whether behaviours answer as they would with the fix that was made or proposed."""

    NO = "no"
    YES = "yes"


class Compared(enum.StrEnum):
    """Whether `explore` applies fixes, and what it compares."""

    NO = "no"
    YES = "yes"
    BOTH = "both"
    EACH = "each"


class Search(enum.StrEnum):
    """What `analyze` searches with."""

    AUTO = "auto"
    DUCKDB = "duckdb"
    SPARK = "spark"


class Engine(enum.StrEnum):
    """What `explore` runs on."""

    LOCAL = "local"
    SPARK = "spark"
