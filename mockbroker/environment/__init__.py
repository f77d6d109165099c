"""What the core is given by its shell: time, timers, randomness, configuration, policies.

The parts of a cluster share nothing else.
"""

from .environment import Environment
from .nobody import Nobody
from .owner import Owner
from .randomness import Randomness, Streams
from .timers import Timer

__all__ = ["Environment", "Nobody", "Owner", "Randomness", "Streams", "Timer"]
