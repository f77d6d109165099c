"""Changes of an encoded request: each is (name, place, ...), with places as fractions of the frame."""

from typing import Any


def mutate(frame: bytes, mutations: tuple[tuple[Any, ...], ...]) -> bytes:
    """The frame (header and body, without its length) after every change, in order."""
    made = bytearray(frame)
    for name, *arguments in mutations:
        if name == "set":
            at, value = arguments
            if at < len(made):
                made[at] = value
        elif name == "flip":
            at, mask = arguments
            if at < len(made):
                made[at] ^= mask
        elif name == "cut":
            (count,) = arguments
            del made[max(0, len(made) - count) :]
        elif name == "drop":
            at, count = arguments
            del made[at : at + count]
        elif name == "insert":
            at, data = arguments
            made[at:at] = bytes.fromhex(data)
        elif name == "append":
            (data,) = arguments
            made += bytes.fromhex(data)
        else:
            raise ValueError(f"no mutation {name}")
    return bytes(made)
