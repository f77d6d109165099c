"""Which behaviours a proxy can decide, and for which requests it does."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from ...cluster.call import Call
from ...faults.answers import unanswered
from ...faults.match import api_name
from ...policies import CATALOGUE, Policies, UnknownPolicyError
from ...policies import scope as scopes
from ...policies.producers.unknown_producer import unknown_producer
from ...policies.transactions.epoch_bump import epoch_bump
from ...protocol.api_keys import ApiKey
from ...protocol.releases import Release
from .bumping import decide_epoch_bump
from .epochs import decide_undefined_epoch
from .fencing import decide_fenced_error
from .producers import (
    decide_stale_duplicate,
    decide_unknown_producer,
    decide_unknown_producer_refused,
)
from .steps import VERSIONS, Asked, Inner, Steps

_NONE: Final = (0, -1)
"""The versions of an API that is not there."""


class Earlier(NamedTuple):
    """How a behaviour is decided with a cluster that has no such version of `api`, but those of `needs`."""

    api: ApiKey
    version: int
    decide: Callable[[Asked, Inner], Steps]
    needs: Mapping[ApiKey, int]


class Decision(NamedTuple):
    """How a behaviour is decided: on requests of `apis`, with questions of `asks` to the cluster."""

    decide: Callable[[Asked, Inner], Steps]
    apis: tuple[ApiKey, ...]
    asks: tuple[ApiKey, ...] = ()
    earlier: Earlier | None = None


DECISIONS: Final[Mapping[str, Decision]] = {
    "epoch-bump": Decision(decide_epoch_bump, (ApiKey.API_VERSIONS, ApiKey.INIT_PRODUCER_ID)),
    "fenced-error": Decision(
        decide_fenced_error,
        (
            ApiKey.INIT_PRODUCER_ID,
            ApiKey.ADD_PARTITIONS_TO_TXN,
            ApiKey.ADD_OFFSETS_TO_TXN,
            ApiKey.END_TXN,
        ),
    ),
    "stale-duplicate": Decision(decide_stale_duplicate, (ApiKey.PRODUCE,), (ApiKey.DESCRIBE_PRODUCERS,)),
    "undefined-epoch": Decision(
        decide_undefined_epoch, (ApiKey.OFFSET_FOR_LEADER_EPOCH,), (ApiKey.LIST_OFFSETS,)
    ),
    "unknown-producer": Decision(
        decide_unknown_producer,
        (ApiKey.PRODUCE,),
        (ApiKey.DESCRIBE_PRODUCERS, ApiKey.LIST_OFFSETS),
        # KIP-360 came with InitProducerId v3, and UNKNOWN_PRODUCER_ID with Produce v5 (KAFKA-5793).
        Earlier(ApiKey.INIT_PRODUCER_ID, 3, decide_unknown_producer_refused, {ApiKey.PRODUCE: 5}),
    ),
}
"""The behaviours that answers of the cluster, and questions to it, are enough for."""


class Decider:
    """Has the answers of behaviours that were chosen, by name, with a scope where `Policies` allows one.

    UnknownPolicyError, also for behaviours and answers that a proxy can't bring about.
    """

    def __init__(self, release: Release, chosen: Mapping[str, Any]) -> None:
        names = {_decidable(text) for text in chosen}
        self.policies = Policies(release, chosen)
        _refuse_accepting(self.policies)
        _refuse_bumping(self.policies)
        self._chosen = self._decisions = [DECISIONS[each] for each in sorted(names)]
        self.asks = any(each.asks for each in self._decisions)
        """Whether a cluster has to `meet` what is asked of it."""
        self.apis = frozenset(int(api) for each in self._decisions for api in each.apis)
        """Of requests on which something may be decided."""

    def meet(self, there: Mapping[int, tuple[int, int]]) -> None:
        """Decides from now on as this cluster needs it, by the lowest and highest version of each API that it
        answers. ConnectionError if it lacks some."""
        met = [_met(each, there) for each in self._chosen]
        for _, needs in met:
            for api, version in needs.items():
                low, high = there.get(api, _NONE)
                if not low <= version <= high:
                    raise ConnectionError(
                        f"behaviours need {api_name(api)} v{version}, which it does not answer"
                    )
        self._decisions = [decision for decision, _ in met]

    def begin(self, call: Call, api: ApiKey, request: Any, tell: Callable[[str], None]) -> Steps | None:
        """The steps by which a request is answered; None if nothing is decided on it. `tell` tells a user
        what could not be decided."""
        decisions = [each for each in self._decisions if api in each.apis]
        if not decisions or unanswered(api, request):
            return None
        asked = Asked(call, api, request, self.policies, tell)
        inner: Inner = _passed_on
        for each in decisions:
            inner = partial(_decided, each, asked, inner)
        return inner(request)


def _met(decision: Decision, there: Mapping[int, tuple[int, int]]) -> tuple[Decision, Mapping[ApiKey, int]]:
    """How that is decided with a cluster, and what it has to answer."""
    earlier = decision.earlier
    if earlier is not None and there.get(earlier.api, _NONE)[1] < earlier.version:
        return decision._replace(decide=earlier.decide), earlier.needs
    return decision, {api: VERSIONS[api] for api in decision.asks}


def _passed_on(request: Any) -> Steps:
    return (yield request)


def _decided(decision: Decision, asked: Asked, inner: Inner, request: Any) -> Steps:
    return decision.decide(asked._replace(request=request), inner)


def _decidable(text: str) -> str:
    name, _ = scopes.parse(text)
    if name in CATALOGUE and name not in DECISIONS:
        raise UnknownPolicyError(
            f"{name} is decided in the cluster itself, which a proxy can't change; it can decide "
            f"{', '.join(DECISIONS)}"
        )
    return name


def _refuse_accepting(policies: Policies) -> None:
    """A cluster that refuses a batch can't be made to take it."""
    for where in policies.overrides(unknown_producer.name):
        if not policies.at(*where)[unknown_producer]:
            raise UnknownPolicyError(
                f"{unknown_producer.name}: a proxy can't make a cluster accept batches; it can refuse them, "
                "with unknown-producer-id or out-of-order-sequence-number"
            )


def _refuse_bumping(policies: Policies) -> None:
    """A cluster that does not bump epochs at the end of transactions can't be made to do so."""
    for where in policies.overrides(epoch_bump.name):
        if policies.at(*where)[epoch_bump].per_transaction:
            raise UnknownPolicyError(
                f"{epoch_bump.name}: a proxy can't make a cluster bump epochs at the end of transactions; it "
                "can prevent that, with on-request or by-new-instance"
            )
