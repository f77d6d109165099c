"""`idempotent-write`: what an idempotent producer without transactions has to be allowed (KIP-679).

A client needed IDEMPOTENT_WRITE on the cluster, for InitProducerId and for each Produce, or it got
CLUSTER_AUTHORIZATION_FAILED. Since 2.8 it is enough that it may write to some topic.
"""

from typing import Final, Literal

from ..behaviour import Switch

idempotent_write: Final = Switch[Literal["cluster", "some-topic"]](
    name="idempotent-write",
    summary="whether an idempotent producer needs IDEMPOTENT_WRITE on the cluster, or WRITE on some topic",
    answers={"cluster": False, "some-topic": True},
    history=(("0.11", "cluster"), ("2.8", "some-topic")),
    ids=("KIP-679",),
)
