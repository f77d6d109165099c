"""`repeated-changes`: what IncrementalAlterConfigs makes of a configuration that it names twice.

With `named` and `refused` the resource fails with INVALID_REQUEST; up to 2.8 the message names the
configurations. In 3.1 the last change counts (`last`), as in AlterConfigs.
"""

from typing import Final, Literal

from ..behaviour import Behaviour

repeated_changes: Final = Behaviour[Literal["named", "last", "refused"]](
    name="repeated-changes",
    summary="what IncrementalAlterConfigs makes of a configuration that it names twice",
    answers={"named": "named", "last": "last", "refused": "refused"},
    history=(("0.11", "named"), ("3.0", "last"), ("3.2", "refused")),
)
