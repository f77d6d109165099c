"""Bytes of a connection: frames that come, and what has to be written."""

from collections import deque

from ..protocol.headers import MalformedRequestError
from ..server.foreign import TLS_HANDSHAKE


class Framing:
    """What one side has sent. Frames of more than `most` bytes are refused, or with None no frames.

    A frame that is not whole yet may pass as it comes: `left` is how many bytes are missing of it.
    """

    def __init__(self, most: int | None) -> None:
        self._data: bytes | bytearray = b""
        self._most = most
        self.left = 0

    @property
    def size(self) -> int:
        return len(self._data)

    def is_next(self, data: bytes) -> bool:
        """Whether what has come is the next frame, with its length, and nothing else."""
        if self._data or self.left:
            return False
        size = len(data) - 4
        return 0 <= size == int.from_bytes(data[:4]) and (self._most is None or size <= self._most)

    def add(self, data: bytes) -> bytes:
        """Keeps what has come; returns what of it belongs to the frame that passes as it comes."""
        part = b""
        if self.left:
            part = data if len(data) <= self.left else data[: self.left]
            self.left -= len(part)
            data = data[len(part) :]
        if not self._data:
            self._data = data
        elif data:
            self._changeable().extend(data)
        return part

    def next(self) -> bytes | None:
        """The next frame, with its length; None if it is not there yet. MalformedRequestError."""
        data = self._data
        if len(data) < 4:
            return None
        size = int.from_bytes(data[:4], signed=True)
        if size < 0 or (self._most is not None and size > self._most):
            raise MalformedRequestError(_no_frame(bytes(data[:4]), size))
        end = 4 + size
        if len(data) < end:
            return None
        if len(data) == end:
            # Mostly it came by itself: then it is not copied.
            self._data = b""
            return bytes(data)
        data = self._changeable()
        with memoryview(data) as view:
            frame = bytes(view[:end])
        del data[:end]
        return frame

    def _changeable(self) -> bytearray:
        data = self._data
        if not isinstance(data, bytearray):
            data = self._data = bytearray(data)
        return data

    def beginning(self, most: int) -> bytes:
        """The first bytes of the next frame, without its length."""
        return bytes(self._data[4 : 4 + most])

    def begun(self) -> bytes:
        """What is here of the next frame, which is not whole, with its length. From now on it passes as it
        comes."""
        data = bytes(self._data)
        self._data = b""
        self.left = 4 + int.from_bytes(data[:4]) - len(data)
        return data


def _no_frame(beginning: bytes, size: int) -> str:
    if beginning.startswith(TLS_HANDSHAKE):
        return "it sent a TLS handshake, but the proxy was started without --tls"
    return f"a frame of {size} bytes"


class Outlet:
    """What is to be written to one side; `size` is how many bytes that is."""

    def __init__(self) -> None:
        self._data: deque[bytes | memoryview] = deque()
        self.size = 0

    def add(self, data: bytes | memoryview) -> None:
        self._data.append(data)
        self.size += len(data)

    def first(self, most: int) -> list[bytes | memoryview]:
        """The first buffers, `most` of them."""
        return [self._data[i] for i in range(min(most, len(self._data)))]

    def joined(self, most: int) -> bytes:
        """The first bytes, `most` of them."""
        found: list[memoryview] = []
        left = min(most, self.size)
        for each in self._data:
            if not left:
                break
            found.append(memoryview(each)[:left])
            left -= len(found[-1])
        return b"".join(found)

    def written(self, size: int) -> None:
        """So many bytes were written."""
        self.size -= size
        while size and len(self._data[0]) <= size:
            size -= len(self._data.popleft())
        if size:
            self._data[0] = memoryview(self._data[0])[size:]
