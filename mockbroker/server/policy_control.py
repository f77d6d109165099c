"""The behaviours of a running cluster."""

from typing import TYPE_CHECKING

from ..control import policies
from .calls import Calls

if TYPE_CHECKING:
    from ..names import AnswerName, BehaviourName, OwnAnswer

__tracebackhide__ = True


class PolicyControl:
    """Changes the behaviour of a running cluster: everywhere, for a topic, on a broker, or both.

    UnknownPolicyError for a behaviour, an answer or a broker that does not exist; nothing is changed then.
    """

    def __init__(self, cluster: Calls) -> None:
        self._cluster = cluster

    def set(
        self,
        name: "BehaviourName",
        answer: "AnswerName | OwnAnswer",
        *,
        topic: str | None = None,
        broker: int | None = None,
    ) -> None:
        """Gives behaviour `name` another answer, from the next request on."""
        self._cluster.do(policies.set_answer, name, answer, topic, broker)

    def reset(self, name: "BehaviourName", *, topic: str | None = None, broker: int | None = None) -> None:
        """Removes the answer that was set for exactly this scope."""
        self._cluster.do(policies.reset, name, topic, broker)

    def answer(self, name: "BehaviourName", *, topic: str | None = None, broker: int | None = None) -> str:
        """The name of the answer in force."""
        return self._cluster.run(lambda core: core.policies.answer(name, topic=topic, broker=broker))
