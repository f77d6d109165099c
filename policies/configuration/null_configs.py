"""`null-configs`: what becomes of a configuration whose value is null.

Up to 1.1, and from 2.6 to 2.8, AlterConfigs fails with UNKNOWN_SERVER_ERROR, for all its resources, and
IncrementalAlterConfigs, which came with 2.3, answers INVALID_REQUEST, with the operation in its message
(`fails`). In between AlterConfigs closes the connection, and IncrementalAlterConfigs fails (`closes`). In 3.1
the configuration is deleted, as if that had been asked for (`deletes`). Since 3.2 both answer INVALID_REQUEST
(`refused`, `ConfigAdminManager.scala`).
"""

from typing import Final, Literal

from ..behaviour import Behaviour

null_configs: Final = Behaviour[Literal["closes", "fails", "deletes", "refused"]](
    name="null-configs",
    summary="what becomes of a configuration whose value is null",
    answers={"closes": "closes", "fails": "fails", "deletes": "deletes", "refused": "refused"},
    history=(("0.11", "fails"), ("2.0", "closes"), ("2.6", "fails"), ("3.0", "deletes"), ("3.2", "refused")),
)
