"""The leader that Produce and Fetch name to a client that asked the wrong broker (KIP-951)."""

from ..cluster.call import Call
from ..protocol.messages.common import NodeEndpoint
from ..protocol.messages.produce import ProduceResponse


def produce_endpoints(call: Call, answer: ProduceResponse) -> list[NodeEndpoint]:
    named = {p.current_leader.leader_id for topic in answer.responses for p in topic.partition_responses}
    return fetch_endpoints(call, {leader for leader in named if leader >= 0})


def fetch_endpoints(call: Call, leaders: set[int]) -> list[NodeEndpoint]:
    found = []
    for leader in sorted(leaders):
        broker = call.cluster.brokers[leader]
        told = call.told(broker)
        found.append(NodeEndpoint(leader, told.host, told.port, broker.rack))
    return found
