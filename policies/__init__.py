"""The decisions of a broker: a package for each subject, a module for each behaviour; chosen by release or
name."""

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
