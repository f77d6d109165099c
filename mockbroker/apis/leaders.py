"""The leader that Produce and Fetch name to a client that asked the wrong broker (KIP-951)."""

from ..cluster.call import Call
from ..protocol.messages import fetch, produce


def produce_endpoints(call: Call, answer: produce.ProduceResponse) -> list[produce.NodeEndpoint]:
    ids = sorted(
        {
            p.current_leader.leader_id
            for topic in answer.responses
            for p in topic.partition_responses
            if p.current_leader.leader_id >= 0
        }
    )
    brokers = call.cluster.brokers
    return [produce.NodeEndpoint(i, brokers[i].host, brokers[i].port, brokers[i].rack) for i in ids]


def fetch_endpoints(call: Call, leaders: set[int]) -> list[fetch.NodeEndpoint]:
    brokers = call.cluster.brokers
    return [fetch.NodeEndpoint(i, brokers[i].host, brokers[i].port, brokers[i].rack) for i in sorted(leaders)]
