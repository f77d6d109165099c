"""UnregisterBroker: KIP-631."""

from ..registry import Scene, Steps, question

_UNKNOWN = (0, -1, 99, 2**31 - 1, -(2**31))


def unknown_brokers(s: Scene) -> Steps:
    for broker in _UNKNOWN:
        yield f"{broker}", s.ask(broker_id=broker)


@question(brokers=3)
def unknown_brokers_of_three(s: Scene) -> Steps:
    """Any broker forwards the request to the controller."""
    for rank in range(3):
        yield f"broker {rank}", s.ask(broker_id=99, client=s.new_client(broker=rank))
