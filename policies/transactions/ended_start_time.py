"""`ended-start-time`: whether DescribeTransactions still tells when the last transaction began, once its
producer has got another epoch.

Up to 4.0 a coordinator keeps that time in memory, so it is told until the coordinator moves. Since 4.1 it is
-1. Brokers of 3.9.2 and 4.4.0 were asked; the release is known from source (`TransactionMetadata.scala`,
`completeTransitionTo`).
"""

from typing import Final, Literal

from ..behaviour import Switch

ended_start_time: Final = Switch[Literal["kept", "cleared"]](
    name="ended-start-time",
    summary="the start time in DescribeTransactions after InitProducerId has followed a transaction",
    answers={"kept": True, "cleared": False},
    history=(("0.11", "kept"), ("4.1", "cleared")),
)
