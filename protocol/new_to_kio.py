"""Requests and answers of APIs of which kio has nothing, with the schemas of kafka-clients 4.4.0. They have
one version, 0, and it is flexible."""

import functools
from typing import Final

from .kio_modules import kio_class
from .remade import Member, anew, several

KEYS: Final = {"streams_group_topology_description_update": 93, "unregister_controller": 94}
"""Of each API."""
_LIKE: Final = "unregister_broker"
"""An API of kio's with the headers that these have."""

_TEXTS: Final = tuple[str, ...]
_THROTTLED: Final = (
    Member("throttle_time", int, "timedelta_i32"),
    # kio does not know of the newest ones.
    Member("error_code", int, "int16"),
    Member("error_message", str | None, "string", default=None),
)


@functools.cache
def topology_description() -> type:
    """Of a streams group (KIP-1331)."""
    node = anew(
        "TopologyDescriptionNode",
        (
            Member("name", str, "string"),
            Member("node_type", int, "int8"),
            Member("source_topics", _TEXTS, "string"),
            Member("sink_topic", str | None, "string", default=None),
            Member("stores", _TEXTS, "string"),
            Member("successors", _TEXTS, "string"),
        ),
    )
    subtopology = anew(
        "TopologyDescriptionSubtopology",
        (Member("subtopology_id", str, "string"), Member("nodes", several(node))),
    )
    global_store = anew("TopologyDescriptionGlobalStore", (Member("source", node), Member("processor", node)))
    return anew(
        "TopologyDescription",
        (Member("subtopologies", several(subtopology)), Member("global_stores", several(global_store))),
    )


def _members(name: str) -> tuple[Member, ...]:
    """The fields of a message."""
    messages: dict[str, tuple[Member, ...]] = {
        "StreamsGroupTopologyDescriptionUpdateRequest": (
            Member("group_id", str, "string"),
            Member("member_id", str, "string"),
            Member("topology_epoch", int, "int32"),
            Member("topology_description", topology_description()),
        ),
        "StreamsGroupTopologyDescriptionUpdateResponse": _THROTTLED,
        "UnregisterControllerRequest": (Member("controller_id", int, "int32"),),
        "UnregisterControllerResponse": _THROTTLED,
    }
    return messages[name]


@functools.cache
def load(api: str, kind: str) -> type:
    """The class of `api` (such as `unregister_controller`); `kind` is Request or Response."""
    name = "".join(part.capitalize() for part in api.split("_")) + kind
    like = kio_class(_LIKE, 0, kind)
    kept = {each: getattr(like, each) for each in ("__type__", "__header_schema__")}
    return anew(name, _members(name), **kept, __api_key__=KEYS[api])
