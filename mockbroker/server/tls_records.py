"""Where the records of TLS end in what a client sends."""

from .foreign import RECORD_HEAD


class Records:
    """Follows a connection from its first byte on (RFC 8446, 5.1)."""

    def __init__(self) -> None:
        self._head = b""
        """What has come of the head of a record, up to all but one byte."""
        self._left = 0
        """How many bytes are still to come of a record whose head has come."""

    def first(self, data: bytes, most: int) -> int:
        """How long the first `most` records are of what has come next; the last may not be whole. The rest of
        one that has begun before does not count. What follows has to be given again."""
        at = min(self._left, len(data))
        self._left -= at
        while most and at < len(data):
            head = self._head + data[at : at + RECORD_HEAD - len(self._head)]
            at += len(head) - len(self._head)
            if len(head) < RECORD_HEAD:
                self._head = head
                break
            self._head = b""
            size = int.from_bytes(head[3:])
            taken = min(size, len(data) - at)
            at += taken
            self._left = size - taken
            most -= 1
        return at
