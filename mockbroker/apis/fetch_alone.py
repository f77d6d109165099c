"""The most common Fetch outside of sessions."""

from typing import Final

from ..cluster.call import Call
from ..cluster.fetch_sessions import FINAL_EPOCH
from ..policies.fetching.zstd_for_old_readers import zstd_for_old_readers
from ..protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse
from ..replication.reading import CONSUMER
from .fetched_partitions import read_partition
from .old_fetches import BATCHES_SINCE

ZSTD_SINCE: Final = 10
"""Before, an answer depends on how records may be compressed."""


def read_alone(call: Call, request: FetchRequest) -> FetchResponse | None:
    """The answer to a consumer that asks the leader of one partition for records which are there.

    None for all other requests, which may fail, or have to wait; nothing has changed then.
    """
    if call.asker is not None:
        return None
    topics, version = request.topics, call.version
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return None
    if request.session_id or request.session_epoch != FINAL_EPOCH or not 0 <= request.isolation_level <= 1:
        return None
    if request.replica_state.replica_id != CONSUMER:
        return None
    if version < ZSTD_SINCE and (version < BATCHES_SINCE or call.policies[zstd_for_old_readers] == "refused"):
        return None
    (topic,) = topics
    (asked,) = topic.partitions
    cluster = call.cluster
    found = cluster.topics.get(topic.topic)
    if version >= 13:
        found = cluster.topic_ids.get(topic.topic_id) if topic.topic_id else None
    partition = call.partition(found, asked.partition)
    if partition is None or not partition.leads:
        return None
    log = partition.log
    if not log.start_offset <= asked.fetch_offset < log.high_watermark:
        return None
    if asked.last_fetched_epoch >= 0 and asked.last_fetched_epoch != log.latest_epoch:
        return None
    result = read_partition(call, request, partition, asked, request.max_bytes, True, False)
    if not result.records:
        return None
    size = sum(map(len, result.records))
    if size < request.min_bytes and request.max_wait_ms > 0:
        return None
    partition.stats.bytes_out += size
    return FetchResponse(responses=[FetchableTopicResponse(topic.topic_id, [result], topic.topic)])
