"""Shell completion of names, which are looked up only when needed."""

from collections.abc import Iterable


def releases(incomplete: str) -> list[str]:
    """Kafka's releases."""
    from ..protocol.releases import names

    return _beginning(incomplete, names())


def policies(incomplete: str) -> list[str]:
    """`NAME=`, and then its answers."""
    from ..policies import CATALOGUE

    name = incomplete.partition("=")[0]
    if name in CATALOGUE:
        return _beginning(incomplete, (f"{name}={answer}" for answer in CATALOGUE[name].answers))
    return _beginning(incomplete, (f"{each}=" for each in CATALOGUE))


def faults(incomplete: str) -> list[str]:
    """The actions of faults."""
    from ..faults.actions import ACTIONS

    return _beginning(incomplete, sorted(ACTIONS))


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [each for each in names if each.startswith(incomplete)]
