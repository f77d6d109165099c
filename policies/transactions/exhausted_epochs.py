"""`exhausted-epochs`: what a coordinator does in epoch 32767, after which there is none (KAFKA-20090).

Clients get epochs up to 32766; the one after it is for the coordinator, to fence the last client. From
transaction version 2 on a client can come to it: a transaction of epoch 32766 times out, and the answer to
its late EndTxn is epoch 32767. With `stuck`, up to 4.2, a transaction that is open in that epoch can't be
aborted: InitProducerId and EndTxn get UNKNOWN_SERVER_ERROR, and the check for timeouts ends there, for other
transactional ids too. The last stable offset stands still. With `recovers`, since 4.3, an abort in epoch
32766 brings another producer id, and one in epoch 32767 goes through. Source:
`TransactionMetadata.prepareFenceProducerEpoch`, `prepareAbortOrCommit`.
"""

from typing import Final, Literal

from ..behaviour import Switch

exhausted_epochs: Final = Switch[Literal["stuck", "recovers"]](
    name="exhausted-epochs",
    summary="whether transactions in producer epoch 32767 can be aborted",
    answers={"stuck": False, "recovers": True},
    history=(("0.11", "stuck"), ("4.3", "recovers")),
    ids=("KAFKA-20090",),
)
