"""Versions of requests and answers that kio does not have yet, with the schemas of kafka-clients 4.4.0."""

import functools
import uuid
from typing import Final

from .kio_modules import kio_class
from .remade import Layouts, Member, remade

NEWEST: Final = {"api_versions": 5, "delete_groups": 3, "txn_offset_commit": 6}
"""The one version of each API that is here."""

_TOPIC_ID: Final = Member("topic_id", uuid.UUID | None, "uuid")
_LAYOUTS: Final[Layouts] = {
    "ApiVersionsRequest": (  # KIP-1242
        "client_software_name",
        "client_software_version",
        Member("cluster_id", str | None, "string", default=None),
        Member("node_id", int, "int32", default=-1),
    ),
    "DeletableGroupResult": ("group_id", "error_code", Member("error_message", str | None, "string")),
    "TxnOffsetCommitRequestTopic": (_TOPIC_ID, "partitions"),
    "TxnOffsetCommitResponseTopic": (_TOPIC_ID, "partitions"),
}
"""What differs from kio's newest version."""


@functools.cache
def load(api: str, kind: str) -> type:
    """The class of the `NEWEST` version of `api` (such as `delete_groups`); `kind` is Request or Response."""
    return remade(kio_class(api, NEWEST[api] - 1, kind), NEWEST[api], _LAYOUTS)
