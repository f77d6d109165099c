"""`null-configs`: what becomes of a configuration whose value is null.

Up to 2.4 AlterConfigs closes the connection, and IncrementalAlterConfigs fails with UNKNOWN_SERVER_ERROR
(`closes`). In 2.8 AlterConfigs fails, for all its resources, and IncrementalAlterConfigs answers
INVALID_REQUEST, with the operation in its message (`fails`). In 3.1 the configuration is deleted, as if that
had been asked for (`deletes`). Since 3.2 both answer INVALID_REQUEST (`refused`, `ConfigAdminManager.scala`).
"""

from typing import Final, Literal

from ..behaviour import Behaviour

null_configs: Final = Behaviour[Literal["closes", "fails", "deletes", "refused"]](
    name="null-configs",
    summary="what becomes of a configuration whose value is null",
    answers={"closes": "closes", "fails": "fails", "deletes": "deletes", "refused": "refused"},
    history=(("0.11", "closes"), ("2.5", "fails"), ("3.0", "deletes"), ("3.2", "refused")),
)
