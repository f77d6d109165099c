"""Whether a broker runs."""

import enum


class Liveness(enum.Enum):
    """Whether a broker runs."""

    RUNNING = "serves its clients"
    STOPPED = "was shut down"
    KILLED = "died without telling the controller"
    RETURNING = "was started again: comes back when it can register with the controller"
