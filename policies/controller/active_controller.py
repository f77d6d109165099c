"""`active-controller`: whether one of the brokers is the controller (KIP-500, KIP-590).

A client of a cluster with ZooKeeper (here up to 3.2) sees the active controller in Metadata, and another one
when that broker goes down. All other brokers answer NOT_CONTROLLER to requests that create or delete topics,
add partitions, elect leaders or move replicas. With KRaft every broker forwards such requests: Metadata names
any broker that is not fenced, drawn anew each time.
"""

from typing import Final, Literal

from ..behaviour import Switch

active_controller: Final = Switch[Literal["one-broker", "any-broker"]](
    name="active-controller",
    summary="which broker Metadata names as the controller",
    answers={"one-broker": True, "any-broker": False},
    history=(("0.11", "one-broker"), ("3.3", "any-broker")),
    ids=("KIP-500", "KIP-590"),
)
