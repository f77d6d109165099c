"""`same-epoch-marker`: a marker of transaction version 2 whose epoch the partition knows already
(KAFKA-19446, KAFKA-19999, KAFKA-20090).

From transaction version 2 on the end of a transaction bumps the epoch, so a marker that has the epoch of an
open transaction is a late one. Up to 4.1 it is `accepted`, and ends that transaction. With `refused` such a
marker gets INVALID_PRODUCER_EPOCH whether a transaction is open or not: a coordinator that sends its markers
again, because it has moved or lost an answer, gives up, and the producer gets CONCURRENT_TRANSACTIONS until
the coordinator moves once more, and then again. None of 4.0.1, 4.1.2, 4.2.0, 4.3.1 and
4.4.0 does that. Since 4.2 markers are refused only while a transaction is open (`refused-in-transaction`);
since 4.3 epoch 32767, after which there is none, is accepted even then (`accepted-at-limit`). Source:
`ProducerAppendInfo.checkProducerEpoch`.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class SameEpochMarker(NamedTuple):
    """What is refused: markers for an open transaction, those of the last epoch among them, and others."""

    open: bool
    open_at_limit: bool
    ended: bool


same_epoch_marker: Final = Behaviour[SameEpochMarker](
    name="same-epoch-marker",
    summary="a marker of transaction version 2 with the epoch that the partition knows already",
    answers={
        "accepted": SameEpochMarker(open=False, open_at_limit=False, ended=False),
        "refused": SameEpochMarker(open=True, open_at_limit=True, ended=True),
        "refused-in-transaction": SameEpochMarker(open=True, open_at_limit=True, ended=False),
        "accepted-at-limit": SameEpochMarker(open=True, open_at_limit=False, ended=False),
    },
    history=(("0.11", "accepted"), ("4.2", "refused-in-transaction"), ("4.3", "accepted-at-limit")),
    ids=("KAFKA-19446", "KAFKA-19999", "KAFKA-20090"),
)
