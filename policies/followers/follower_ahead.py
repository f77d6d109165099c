"""`follower-ahead`: a follower fetches beyond the leader's log end offset (KAFKA-7414).

With `truncates` the follower truncates its log to the leader's end. With `halts`, as up to 2.0.0, its broker
exits unless the topic allows unclean elections: clients lose their connections to it.
"""

from typing import Final, Literal

from ..behaviour import Switch

follower_ahead: Final = Switch[Literal["truncates", "halts"]](
    name="follower-ahead",
    summary="whether a broker exits when its log is longer than the leader's",
    answers={"truncates": False, "halts": True},
    history=(("0.11", "halts"), ("2.0", "truncates")),
    ids=("KAFKA-7414",),
    fixed="truncates",
)
