"""Topics that are created because a client uses them (`auto.create.topics.enable`)."""

from ..controller.topic_creation import check_name, place
from ..protocol.api_error import ApiError
from .cluster import Cluster


def auto_create(cluster: Cluster, name: str) -> None:
    """Creates a topic that a client asked for by Metadata, if its name and the defaults allow it; otherwise
    notes why it was not created."""
    if name == "__consumer_offsets":
        cluster.internal_topics.create_offsets_topic()
        return
    if name == "__transaction_state":
        cluster.internal_topics.create_transaction_topic()
        return
    if name == "__share_group_state" and cluster.internal_topics.has_share_state:
        cluster.internal_topics.create_share_state_topic()
        return
    try:
        check_name(cluster.controller, name)
        cluster.create_topic(name, place(cluster.controller, -1, -1))
    except ApiError as error:
        # The client was answered before the controller refused.
        cluster.notes.topic_not_created(name, error.told)
