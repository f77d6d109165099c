"""Operations on the behaviours of a cluster."""

from typing import Annotated, TypedDict

from ..errors import NotThereError
from ..nearest import nearest
from ..policies import CATALOGUE, UnknownPolicyError
from .registry import operation
from .target import Target

PolicyName = Annotated[str, "A behaviour's name."]
OfTopic = Annotated[str | None, "Only for this topic."]
OnBroker = Annotated[int | None, "Only on this broker."]


class NoSuchBehaviourError(NotThereError, UnknownPolicyError):
    """No behaviour of that name."""


class Override(TypedDict):
    """An answer that was chosen: everywhere, for a topic, on a broker, or both."""

    topic: str | None
    broker: int | None
    answer: str


class PolicyState(TypedDict):
    """`answer` is the one in force in the scope that was asked for, `default` that of the release;
    `overrides` are all that were set, in any scope."""

    name: str
    answer: str
    default: str
    overrides: list[Override]
    answers: list[str]
    summary: str


@operation("policies list", "GET", "/policies")
def list_policies(target: Target, topic: OfTopic = None, broker: OnBroker = None) -> list[PolicyState]:
    """Lists every behaviour and the answer in force."""
    return [show(target, name, topic, broker) for name in CATALOGUE]


@operation("policies show", "GET", "/policies/{name}")
def show(target: Target, name: PolicyName, topic: OfTopic = None, broker: OnBroker = None) -> PolicyState:
    """Shows one behaviour and the answer in force."""
    _check(target, name, broker)
    policies, behaviour = target.cluster.policies, CATALOGUE[name]
    return {
        "name": name,
        "answer": policies.answer(name, topic=topic, broker=broker),
        "default": behaviour.default(policies.release),
        "overrides": [
            {"topic": where.topic, "broker": where.broker, "answer": answer}
            for where, answer in policies.overrides(name).items()
        ],
        "answers": list(behaviour.answers),
        "summary": behaviour.summary,
    }


@operation("policies set", "PUT", "/policies/{name}")
def set_answer(
    target: Target,
    name: PolicyName,
    answer: Annotated[str, "The answer's name."],
    topic: OfTopic = None,
    broker: OnBroker = None,
) -> PolicyState:
    """Gives a behaviour another answer, from the next request on."""
    _check(target, name, broker)
    policies = target.cluster.policies
    policies.set(name, answer, topic=topic, broker=broker)
    target.trace.policy(name, policies.answer(name, topic=topic, broker=broker), topic, broker)
    return show(target, name, topic, broker)


@operation("policies reset", "DELETE", "/policies/{name}")
def reset(target: Target, name: PolicyName, topic: OfTopic = None, broker: OnBroker = None) -> PolicyState:
    """Removes the answer that was set for exactly this scope."""
    _check(target, name, broker)
    policies = target.cluster.policies
    policies.reset(name, topic=topic, broker=broker)
    target.trace.policy(name, policies.answer(name, topic=topic, broker=broker), topic, broker)
    return show(target, name, topic, broker)


def _check(target: Target, name: str, broker: int | None) -> None:
    if name not in CATALOGUE:
        raise NoSuchBehaviourError(f"no behaviour {name!r}{nearest(name, CATALOGUE)}")
    target.cluster.check_scope(broker)
