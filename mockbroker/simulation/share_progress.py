"""Where a share group is in a partition: its start offset, offsets that are altered, and what is left."""

from collections.abc import Iterator
from typing import Any

from ..cluster.broker import Broker
from ..cluster.call import Call
from ..cluster.led_share import LedShare
from ..policies.share_groups.log_start_in_a_batch import log_start_in_a_batch
from ..policies.share_groups.log_start_in_a_gap import log_start_in_a_gap
from ..protocol.errors import ErrorCode
from .ledger import Place
from .share_view import ShareView
from .shared_records import SharedPlace


class ShareProgress:
    """Of one group, whose records are delivered `limit` times at most."""

    def __init__(self, view: ShareView, limit: int) -> None:
        self._view, self._limit = view, limit

    def follow(self, broker: Broker, place: Place, *, sure: bool = True) -> None:
        """Looks where the group is; `sure` is whether all deliveries are known."""
        shared, led = self._view.place(place), self._view.known(broker, place)
        share = None if led is None else led.share
        if (
            led is None
            or share is None
            or self._view.excused(place)
            or not self._view.is_leader(broker, place)
        ):
            return
        start = share.start_offset
        if shared.led is led:
            if start < shared.start:
                text = f"the start offset goes back from {shared.start} to {start}"
                self._view.violated("share-start-back", place, text)
        elif not shared.began:
            shared.checked = max(shared.checked, start)
        shared.led, shared.start = led, start
        if shared.is_judged(led) and start > shared.checked:
            skipped = self._unfinished(place, shared.checked, start)
            if skipped and sure:
                self._view.violated(
                    "share-record-skipped",
                    place,
                    f"the start offset moves from {shared.checked} to {start}, past {len(skipped)} records "
                    f"that are not done, from offset {skipped[0]} on",
                )
            shared.checked = start

    def _unfinished(self, place: Place, first: int, end: int) -> list[int]:
        """The records from `first` to before `end` that the group still has to get."""
        shared = self._view.place(place)
        left = [
            offset
            for offset in range(first, end)
            if (given := shared.given.get(offset)) is None
            or not (given.settled or max(given.count, given.apart) >= self._limit)
        ]
        if not left:
            return []
        partition = self._view.scene.partition(place)
        there = {offset for offsets in self._view.scene.numbers_in(partition).values() for offset in offsets}
        return [offset for offset in left if offset in there and offset >= partition.log.start_offset]

    # -- offsets that are altered

    def altering(self, call: Call, request: Any) -> None:
        """Somebody asks for that."""
        for place, _ in _altered(request):
            self._view.place(place).altering[call] = self._view.leaders(place)

    def altered(self, call: Call, request: Any, answer: Any) -> None:
        """The answer to that."""
        codes = {
            (topic.topic_name, part.partition_index): part.error_code
            for topic in answer.responses
            for part in topic.partitions
        }
        for place, offset in _altered(request):
            shared = self._view.place(place)
            before, error = shared.altering[call], codes.get(place)
            if answer.error_code or error in (None, ErrorCode.NONE):
                del shared.altering[call]
            if not answer.error_code and error is None and not self._view.excused(place):
                text = f"nothing begins at {offset}, though nobody says why"
                self._view.violated("altered-offset-ignored", place, text)
            elif not answer.error_code and error == ErrorCode.NONE:
                shared.begins_anew(offset, before, self._view.leaders(place))

    def goes_on(self, place: Place, shared: SharedPlace, led: LedShare) -> None:
        """A leader that had read the state before it was altered has written it."""
        if led.share is not None and led.share.start_offset != shared.altered:
            self._view.violated(
                "altered-offset-ignored",
                place,
                f"broker {led.partition.broker} goes on at {led.share.start_offset}, after the group was "
                f"told to begin at {shared.altered}",
            )

    # -- when it is quiet

    def check_end(self) -> None:
        """Everything was delivered until it was done."""
        for place in self._view.scene.shared:
            partition = self._view.scene.partition(place)
            if partition.leader < 0 or self._view.excused(place) or self._view.awaits_state(place):
                continue
            broker = self._view.cluster.brokers[partition.leader]
            self.follow(broker, place)
            shared = self._view.place(place)
            if (not shared.began and shared.led is None) or self._view.known(broker, place) in shared.stale:
                # A leader that had read the state before notices that when it writes next.
                continue
            left = self._unfinished(place, shared.checked, partition.log.high_watermark)
            if left:
                text = f"{len(left)} records are not done, from {left[0]} on: "
                at = _where(self._view.known(broker, place), partition.log.start_offset)
                self._view.violated("share-group-stuck", place, f"{text}{at}")


def _where(led: LedShare | None, log_start: int) -> str:
    """Where a group is that gets nothing more."""
    if led is None or led.share is None:
        return "nobody reads"
    asked = led.share.next_fetch_offset()
    if asked < log_start:
        why = log_start_in_a_batch if led.share.open_gap() is None else log_start_in_a_gap
        return f"it asks for {asked}, before the log start {log_start} ({why.name})"
    return f"it is at {led.share.start_offset}"


def _altered(request: Any) -> Iterator[tuple[Place, int]]:
    for topic in request.topics:
        for part in topic.partitions:
            yield (topic.topic_name, part.partition_index), part.start_offset
