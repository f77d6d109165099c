"""What a folder of runs belongs to, so that no other exploration is mixed with it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ..errors import MockBrokerError
from ..version import __version__
from .exploring import Variant

ABOUT: Final = "sweep.json"


class ClaimedError(MockBrokerError, ValueError):
    """A folder holds the runs of another exploration; the message names it."""


def claim(folder: Path, variants: Sequence[Variant], engine: str) -> None:
    """Writes the options of an exploration and the version of mockbroker to `folder/sweep.json`.

    More seeds and more variants may be added later. ClaimedError if the same variant has other options there,
    if another version ran it, whose histories may be different, or another engine, whose files are named
    otherwise; OSError.
    """
    mine = {variant.name: json.loads(json.dumps(asdict(variant.options))) for variant in variants}
    about = folder / ABOUT
    if about.exists():
        version, ran, there = _read(about)
        if version != __version__:
            raise _claimed(about, f"of mockbroker {version}, and this is {__version__}")
        if ran != engine:
            raise _claimed(about, f"that was run with --engine {ran}")
        if other := [name for name, options in mine.items() if there.get(name, options) != options]:
            raise _claimed(about, f"with other options for {', '.join(other)}")
        mine = {**there, **mine}
    folder.mkdir(parents=True, exist_ok=True)
    told = {"mockbroker": __version__, "engine": engine, "variants": mine}
    unfinished = about.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(about)


def _read(about: Path) -> tuple[str, str, dict[str, object]]:
    try:
        told = json.loads(about.read_text(encoding="utf-8"))
        return str(told["mockbroker"]), str(told["engine"]), dict(told["variants"])
    except (ValueError, KeyError, TypeError) as error:
        raise _claimed(about, f"that can't be read ({error!r})") from None


def _claimed(about: Path, why: str) -> ClaimedError:
    return ClaimedError(f"{about.parent} holds an exploration {why} ({about}): choose another folder")
