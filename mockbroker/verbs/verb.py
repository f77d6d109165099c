"""A verb, and the decorator that makes a function one."""

from collections.abc import Callable
from functools import cached_property
from typing import Concatenate, Generic, ParamSpec, TypeVar

from ..cluster.cluster import Cluster
from ..errors import ConflictError
from .signatures import Parameter, parameters
from .subjects import Subject

S = TypeVar("S")
P = ParamSpec("P")


class Verb(Generic[S, P]):
    """`name` is what faults and steps call it; `subjects` are the kinds of things that it can act on."""

    def __init__(
        self,
        name: str,
        subjects: tuple[Subject[S], ...],
        do: Callable[Concatenate[Cluster, S, P], None],
        unless: Callable[Concatenate[Cluster, S, P], str],
    ) -> None:
        self.name = name
        self.subjects = subjects
        self._do = do
        self._unless = unless

    @cached_property
    def help(self) -> str:
        """What it does, in a sentence or two."""
        return " ".join((self._do.__doc__ or "").split())

    @cached_property
    def parameters(self) -> dict[str, Parameter]:
        """Its parameters besides the subject, by the name that users write."""
        return parameters(self._do, behind=2)

    def nothing_to_do(self, cluster: Cluster, subject: S, *args: P.args, **given: P.kwargs) -> str:
        """Why it would change nothing now; empty if it would change something."""
        return self._unless(cluster, subject, *args, **given)

    def do(self, cluster: Cluster, subject: S, *args: P.args, **given: P.kwargs) -> None:
        """Does it without any checks."""
        self._do(cluster, subject, *args, **given)

    def attempt(self, cluster: Cluster, subject: S, *args: P.args, **given: P.kwargs) -> bool:
        """Does it, and returns True; returns False if it would change nothing."""
        if self._unless(cluster, subject, *args, **given):
            return False
        self.do(cluster, subject, *args, **given)
        return True

    def __call__(self, cluster: Cluster, subject: S, *args: P.args, **given: P.kwargs) -> None:
        """Checks the arguments, then does it. ConflictError says why it would change nothing; OptionError,
        NotThereError."""
        keywords = [each.keyword for each in self.parameters.values()]
        named = {**dict(zip(keywords, args, strict=False)), **given}
        for each in self.parameters.values():
            if each.keyword in named:
                each.check(each.name, named[each.keyword])
                each.find(cluster, named[each.keyword])
        if why := self._unless(cluster, subject, *args, **given):
            raise ConflictError(why)
        self.do(cluster, subject, *args, **given)

    def __repr__(self) -> str:
        return f"<verb {self.name}>"


def verb(
    name: str, *subjects: Subject[S], unless: Callable[Concatenate[Cluster, S, P], str]
) -> Callable[[Callable[Concatenate[Cluster, S, P], None]], Verb[S, P]]:
    """Makes a function a verb. Its docstring is the verb's help, and its parameters after the cluster and the
    subject are the verb's parameters. `unless` says beforehand why the verb would change nothing."""

    def add(do: Callable[Concatenate[Cluster, S, P], None]) -> Verb[S, P]:
        return Verb(name, subjects, do, unless)

    return add
