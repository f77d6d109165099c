"""The addresses that clients are told, if they differ from those on which brokers listen."""

import re
from collections.abc import Sequence
from typing import Final

from ..addresses import joined
from ..errors import OptionError

Address = tuple[str, int]

_WRITTEN: Final = re.compile(r"(?P<host>[^\s:,/\[\]]+|\[[0-9a-fA-F:.%]+\])(:(?P<port>\d+))?")


def addresses(given: str | Sequence[str] | None, brokers: int) -> list[Address] | None:
    """Host and port of each broker; port 0 means the port on which it listens. None if nothing is given.

    `HOST:PORT` is the first broker's address, and the others have the next ports; `HOST` is the host of all
    brokers, with their own ports; a list, or several addresses with commas, has one for each broker, in order
    of id. OptionError.
    """
    if given is None:
        return None
    if not isinstance(given, str | Sequence) or not all(isinstance(each, str) for each in given):
        raise OptionError(
            f"advertise is {given!r}: give an address such as 'localhost:9092', or a list of them"
        )
    listed = [given] if isinstance(given, str) else given
    found = [_address(each.strip()) for text in listed for each in text.split(",")]
    if len(found) == 1:
        host, first = found[0]
        found = [(host, first + number if first else 0) for number in range(brokers)]
    if len(found) != brokers:
        raise OptionError(
            f"{len(found)} addresses to advertise for {brokers} brokers: give one for each, or only that of "
            "the first"
        )
    if max(port for _, port in found) > 65535:
        raise OptionError(
            f"advertised ports would go up to {found[-1][1]}: choose a lower one, 65535 is the last"
        )
    if (again := next((each for each in found if each[1] and found.count(each) > 1), None)) is not None:
        raise OptionError(f"{joined(*again)} is advertised for two brokers: give each its own address")
    return found


def _address(text: str) -> Address:
    written = _WRITTEN.fullmatch(text)
    if written is None or written["port"] == "0":
        raise OptionError(f"advertise {text!r}: write it as HOST or HOST:PORT")
    return written["host"].strip("[]"), int(written["port"] or 0)
