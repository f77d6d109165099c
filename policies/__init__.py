"""The decisions of a broker: a package per subject, a module per behaviour, chosen by release or by name."""

from .behaviour import Behaviour, Switch, UnknownPolicyError
from .catalogue import CATALOGUE, fixes, module_of
from .in_force import Policies
from .own import OwnPolicyError
from .scope import EVERYWHERE, Scope, Source

__all__ = [
    "CATALOGUE",
    "EVERYWHERE",
    "Behaviour",
    "OwnPolicyError",
    "Policies",
    "Scope",
    "Source",
    "Switch",
    "UnknownPolicyError",
    "fixes",
    "module_of",
]
