"""What the core is given by its shell: time, timers, randomness, configuration, policies.

Nothing else is shared by all parts of a cluster.
"""

from .environment import Environment
from .owner import Owner
from .randomness import Randomness, Streams
from .timers import Timer

__all__ = ["Environment", "Owner", "Randomness", "Streams", "Timer"]
