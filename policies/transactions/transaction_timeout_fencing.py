"""`transaction-timeout-fencing`: what happens to a producer whose transaction timed out (KAFKA-6119).

With `not-fenced`, in 0.11.0.0 and 0.11.0.1, the transaction is aborted and the epoch stays: a client that
comes back late can continue to write after the abort. With `fenced` the epoch is bumped, and the client can't
continue. With `recoverable`, in 2.5 and since 4.0.1, the epoch is bumped too, but InitProducerId with the old
epoch answers the new one. With `fenced-twice`, in 4.0.0, the epoch is bumped by two for one abort
(KAFKA-19367), and overflows near the highest one (KAFKA-18660).
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Fencing(NamedTuple):
    """Whether aborting bumps the epoch, keeps the old one as the last epoch, and bumps it once more at the
    end."""

    bumps_epoch: bool
    keeps_last_epoch: bool
    twice: bool = False


transaction_timeout_fencing: Final = Behaviour[Fencing](
    name="transaction-timeout-fencing",
    summary="whether a timed-out transaction fences its producer",
    answers={
        "not-fenced": Fencing(False, False),
        "fenced": Fencing(True, False),
        "recoverable": Fencing(True, True),
        "fenced-twice": Fencing(True, False, twice=True),
    },
    history=(("0.11", "fenced"), ("2.5", "recoverable"), ("2.6", "fenced"), ("4.0", "recoverable")),
    ids=("KAFKA-6119", "KIP-588", "KAFKA-19367", "KAFKA-18660"),
)
