"""`large-group-record`: a coordinator loads a record that is larger than `offsets.load.buffer.size`.

With `never-loaded`, as up to 1.1 and in 2.0.0, the load reads nothing, and tries again for ever: all groups
of that partition get COORDINATOR_LOAD_IN_PROGRESS (NOT_COORDINATOR up to 1.1) until another broker leads,
which comes to the same place. A group with many members can have such a record (KAFKA-7286).
"""

from typing import Final, Literal

from ..behaviour import Switch

large_group_record: Final = Switch[Literal["loaded", "never-loaded"]](
    name="large-group-record",
    summary="a coordinator loads a record that is larger than its buffer",
    answers={"loaded": False, "never-loaded": True},
    history=(("0.11", "never-loaded"), ("2.0", "loaded")),
    ids=("KAFKA-7286",),
)
