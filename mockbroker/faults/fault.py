"""Faults: rules that say what goes wrong with which requests, and how often it did."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from ..cluster.call import Call
from ..cluster.client_quotas import KEY_OF
from ..nearest import nearest
from ..protocol.api_keys import ApiKey
from .actions import Action, When
from .callback import Callback, name_of
from .exchange import Exchange
from .match import Counter, FaultError, Match, api_name
from .unmet import UnmetConditions, enumerated

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster

OVER_KEPT: Final = 50
"""How many removed faults are remembered that fired as they should."""
CLIENTS_KEPT: Final = 20
"""Of how many client ids it is remembered what they requested: the last."""
_MATCH_FIELDS = frozenset(each.name for each in fields(Match))


class Fault:
    """One rule. `hits` is the number of requests that it has acted on, `held` of those that it is holding."""

    def __init__(self, do: str, match: Match, action: Action, when: When, optional: bool) -> None:
        self.do = do
        self.match = match
        self.action = action
        self.when = when
        self.optional = optional
        self.name = ""
        """What its user calls it, if anything."""
        self.hits = 0
        self.missed = ""
        """Why it had no effect on the last request that it matched, if it had none."""
        self.removed = False
        self.on_hit: list[Callable[[], None]] = []
        """Called at each hit, and when it is removed."""
        self.on_act: list[Callable[[Fault, Exchange], None]] = []
        """Called at each hit with the request on which it is about to act."""
        self.came: Collection[ApiKey] = ()
        """The APIs that clients have requested from the cluster, even before the fault was added."""
        self.came_from: Callable[[], Mapping[str, Collection[ApiKey]]] = dict
        """The same by client id."""
        self._unmet = UnmetConditions()
        self._counter = Counter(match)
        self._paused = action.holds
        self._held: list[Exchange] = []
        self._arm: Callable[[], None] = _alone

    def acts_before(self, api: ApiKey) -> bool:
        """Whether it acts before the work is done."""
        return self.when != "after" and not self.action.needs_answer(api)

    @property
    def paused(self) -> bool:
        """Whether it holds the requests that it matches."""
        return self._paused

    @property
    def held(self) -> int:
        return len(self._held)

    def wants(self, api: ApiKey, call: Call, request: Any) -> bool:
        """Whether it acts on the request, which counts from now on."""
        if not self.match.concerns(api):
            return False
        unmet = self.match.unmet(call, api, request)
        if unmet is not None:
            if not self.hits:
                self._unmet.count(unmet)
            return False
        if not self._counter.fires():
            return False
        if self._counter.used_up:
            self._arm()
        return True

    @property
    def matched(self) -> int:
        """How many requests have met its conditions, whichever of them it acts on."""
        return self._counter.seen

    def armed_by(self, arm: Callable[[], None]) -> None:
        """`arm` is called when it is used up, and when it no longer is."""
        self._arm = arm

    @property
    def used_up(self) -> bool:
        return self._counter.used_up

    @property
    def why(self) -> str:
        """Why it has not fired: which of its conditions no request met. Empty when it has."""
        return self._why(" before it was removed" if self.removed else " since it was added")

    @property
    def illegal(self) -> str:
        """Why no broker does what it does, as far as that is known before a request came; empty if some
        may."""
        return self.action.illegal(self.match)

    @property
    def hits_in_words(self) -> str:
        """What it is, and how often it has fired."""
        return f"{self}: {self.hits} hit" + "s" * (self.hits != 1)

    @property
    def why_so_far(self) -> str:
        """As `why`, for a text that says up to when requests were counted."""
        return self._why("")

    def _why(self, when: str) -> str:
        if self.hits:
            return ""
        if why := self.missed or self._counter.why_none():
            return why
        if why := self._never_sent():
            return why
        apis = ", ".join(map(api_name, self.match.api))
        if count := self._unmet.requests:
            requests = f"{apis} request".lstrip() + "s" * (count != 1)
            return f"{count} {requests} came, {self._unmet.told(self.match.shown())}"
        # The caller may be in another thread than the cluster's.
        came = list(self.came)
        if not came:
            return "no client sent anything"
        if any(map(self.match.concerns, came)):
            return f"no {apis or 'request'} came{when}"
        meanwhile = when if self.removed else ""
        return f"no {apis} came{meanwhile}; the clients sent {enumerated(map(api_name, came))}"

    def _never_sent(self) -> str:
        """Which clients that the fault is for never sent what it is for; empty if that is not the reason."""
        if self.match.client_id is None:
            return ""
        # The caller may be in another thread than the cluster's.
        sent = {
            name: list(apis)
            for name, apis in list(self.came_from().items())
            if self.match.covers_client(name)
        }
        every = dict.fromkeys(api for apis in sent.values() for api in apis)
        if not sent or any(map(self.match.concerns, every)):
            return ""
        clients = f"the client{'s' * (len(sent) > 1)} {enumerated(sent, quoted=True)}"
        wanted = " or ".join(map(api_name, self.match.api))
        return f"{clients} never sent {wanted}, but {enumerated(map(api_name, every))}"

    def touch(self, exchange: Exchange) -> bool:
        """Acts on a request; False if the request waits from now on. A request that leaves it nothing to do
        does not count as a hit."""
        self.missed = self.action.nothing_to_do(exchange, self.match)
        if self.missed:
            self._counter.take_back()
            self._arm()
            return True
        self.hits += 1
        for tell in self.on_act:
            tell(self, exchange)
        held = self._paused
        if held:
            self._held.append(exchange)
        self.tell()
        return not held and self._act(exchange)

    def tell(self) -> None:
        """Wakes those who wait for it."""
        for tell in list(self.on_hit):
            # This may release the fault, and the request continues at once.
            tell()

    def _act(self, exchange: Exchange) -> bool:
        return self.action.apply(exchange, self.match, self.when)

    def pause(self) -> None:
        """Holds every request that it matches, until `release`."""
        self._paused = True

    def release(self) -> None:
        """Lets go of the requests that it holds, in the order in which they came, and holds none from now
        on."""
        self._paused = False
        held, self._held = self._held, []
        for exchange in held:
            exchange.again(self._act)

    @property
    def told(self) -> str:
        """As the trace has it: with its name, if its user gave it one."""
        return f"{self} name={self.name}" if self.name else str(self)

    def __str__(self) -> str:
        return f"{self.do} {self.when} {self.match}".strip()


def _alone() -> None:
    """For a fault that is in no cluster."""


class Faults:
    """The faults of a cluster: `rules` are those in force.

    `armed` has, by API key, those that may still act on a request of that API, and an entry for each API that
    client quotas limit, so that requests of other APIs need not be checked.
    """

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self.rules: list[Fault] = []
        self._added: dict[Fault, None] = {}
        self._over: deque[Fault] = deque()
        self.armed: dict[int, list[Fault]] = {}
        self.came: dict[ApiKey, None] = {}
        """The APIs that clients have requested so far, with or without faults."""
        self._came_from: dict[str, dict[ApiKey, None]] = {}
        cluster.controller.on_client_quotas.append(self._arm)
        self._arm()

    def note(self, api: ApiKey, client_id: str | None) -> None:
        """A client requests an API, perhaps not for the first time."""
        self.came[api] = None
        name = client_id or ""
        if name not in self._came_from and len(self._came_from) >= CLIENTS_KEPT:
            del self._came_from[next(iter(self._came_from))]
        self._came_from.setdefault(name, {})[api] = None

    @property
    def added(self) -> list[Fault]:
        """Those in force, removed ones that should have fired and never did, and the last of the other
        removed ones; in the order in which they were added."""
        return list(self._added)

    def add(self, do: str | None, **given: Any) -> Fault:
        """From now on `do` happens to the requests that `given` describes: see `Match`, `Action`.

        FaultError.
        """
        return self._put(self.checked(do, **given))

    def checked(self, do: str | None, **given: Any) -> Fault:
        """The fault that `add` would add. FaultError."""
        return self._of_cluster(parse({"do": do, **given}))

    def call(self, function: Callable[[Any], None], **given: Any) -> Fault:
        """From now on `function` is called with each request that `given` describes, and decides what happens
        to it: see `ClientRequest`. FaultError."""
        fault = _made(f"call {name_of(function)}", Callback, {"function": function, **given})
        return self._put(self._of_cluster(fault))

    def _of_cluster(self, fault: Fault) -> Fault:
        fault.match.check(self._cluster)
        fault.action.prepare(self._cluster)
        fault.came, fault.came_from = self.came.keys(), lambda: self._came_from
        return fault

    def _put(self, fault: Fault) -> Fault:
        fault.armed_by(self._arm)
        self.rules.append(fault)
        self._added[fault] = None
        self._arm()
        return fault

    def remove(self, fault: Fault) -> None:
        """Removes a fault; requests that it holds go on. May be called twice."""
        if fault in self.rules:
            self.rules.remove(fault)
            fault.removed = True
            fault.release()
            if fault.hits or fault.optional:
                self._over.append(fault)
            if len(self._over) > OVER_KEPT:
                del self._added[self._over.popleft()]
            fault.tell()
        self._arm()

    def _arm(self) -> None:
        quotas = self._cluster.controller.image.client_quotas.values()
        self.armed = {api: [] for api, key in KEY_OF.items() if any(key in values for values in quotas)}
        for fault in self.rules:
            if not fault.used_up:
                for api in fault.match.api or ApiKey:
                    self.armed.setdefault(api, []).append(fault)

    def touching(self, api: ApiKey, call: Call, request: Any) -> Sequence[Fault]:
        """The faults that act on a request, in the order in which they were added."""
        return [fault for fault in self.armed.get(api, ()) if fault.wants(api, call, request)]


def parse(given: Mapping[str, Any]) -> Fault:
    """A fault from its fields, as in a test's marker, a scenario or a control request.

    FaultError says what is wrong.
    """
    from .actions import ACTIONS

    values = dict(given)
    do = values.pop("do", None)
    if do is None:
        raise FaultError(
            f"a fault needs 'do', which says what goes wrong: one of {', '.join(sorted(ACTIONS))}", "do"
        )
    if not isinstance(do, str) or do not in ACTIONS:
        raise FaultError(f"no fault {do!r}{nearest(do, ACTIONS)}", "do")
    return _made(do, ACTIONS[do], values)


def _made(do: str, kind: type[Action], values: dict[str, Any]) -> Fault:
    own = {each.name for each in fields(kind) if each.init}
    # `from` can't be a name in Python.
    values = {f"{name}_" if f"{name}_" in own else name: value for name, value in values.items()}
    known = _MATCH_FIELDS | own | {"when", "optional"}
    for name in values:
        if name not in known:
            raise FaultError(f"a fault {do!r} has no field {name!r}{nearest(name, known)}", name)
    when = values.pop("when", kind.when[0])
    if when not in kind.when:
        raise FaultError(f"{do} can't happen {when!r} the work{nearest(when, kind.when)}", "when")
    optional = values.pop("optional", False)
    if not isinstance(optional, bool):
        raise FaultError(f"optional is {optional!r}: give true or false", "optional")
    if kind.usual_api is not None:
        values.setdefault("api", kind.usual_api)
    match = Match.parse({name: value for name, value in values.items() if name in _MATCH_FIELDS})
    try:
        action = kind(**{name: value for name, value in values.items() if name in own})
    except TypeError as error:
        missing = str(error).rpartition(":")[2].strip()
        raise FaultError(f"{do} needs {missing}", missing.split("'")[1]) from None
    action.check(match)
    return Fault(do, match, action, when, optional)
