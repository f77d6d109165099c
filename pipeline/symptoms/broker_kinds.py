"""The symptoms of brokers."""

from typing import Final

from ..ledgers import Note
from ..readers.log_spans import CONTROLLER
from ..signature import BROKERS, CLIENT, COORDINATORS, OWN
from .kind import HALF_A_MINUTE_MS, MINUTE_MS, STILL, TEN_MINUTES_MS, Kind, at, lasts, took

_HEARTBEAT_MS: Final = 2_000
"""The default of `broker.heartbeat.interval.ms`: a broker that is only late is unfenced by its next
heartbeat."""


def _back(note: Note) -> str:
    if note.detail == STILL:
        return f"and was still away {took(note)} later"
    return f"and came back after {took(note)}"


def _died(note: Note) -> str:
    return f"broker {note.broker} went away without being shut down, {_back(note)}"


def _failed(note: Note) -> str:
    back = "" if note.to_ms == note.from_ms else f"; it came back after {took(note)}"
    who = "a broker" if note.broker is None else f"broker {note.broker}"
    return f"{who} {note.detail}{back}"


def _fenced(note: Note) -> str:
    return f"broker {note.broker} was fenced because its session had timed out, {_back(note)}"


def _shut_down(note: Note) -> str:
    return f"broker {note.broker} was shut down, {_back(note)}"


def _loading(note: Note) -> str:
    loaded = f"broker {note.broker} was loading {at(note)} for {took(note)}"
    return f"{loaded}: meanwhile what it coordinates had no coordinator"


def _times(note: Note) -> str:
    return f"{note.number or 1} time{'s' * ((note.number or 1) != 1)}"


def _unresolved(note: Note) -> str:
    of = "a broker" if note.broker is None else f"broker {note.broker}"
    return f"clients could not resolve {note.detail}, the address of {of}, for {took(note)} ({_times(note)})"


def _rejected(note: Note) -> str:
    by = "a broker" if note.broker is None else f"broker {note.broker}"
    return f"{by} rejected connections for {took(note)} ({_times(note)}): {note.detail}"


def _login(note: Note) -> str:
    by = "brokers" if note.broker is None else f"broker {note.broker}"
    return f"{by} refused logins for {took(note)} ({_times(note)}): {note.detail}"


def _no_codec(note: Note) -> str:
    whose = f"client {note.client}" if note.group is None else f"a client of group {note.group}"
    return f"{whose} could not read records, because it lacks their codec, {note.detail} ({_times(note)})"


def _too_large(note: Note) -> str:
    whose = "a client" if note.client is None else f"client {note.client}"
    return f"{whose} was sent more than the {note.detail} bytes that it takes at once, for {took(note)}"


def _under_replicated(note: Note) -> str:
    return f"for {took(note)} replicas of {note.detail}"


def _throttled(note: Note) -> str:
    whose = f"client {note.client}" if note.client is not None else f"a client of group {note.group}"
    return f"{whose} was throttled: it had to wait {(note.number or 0) // 1000} s in all"


def _timed_out(note: Note) -> str:
    return (
        f"the records of client {note.client} were not acknowledged in time for {took(note)} ({_times(note)})"
    )


def _reassigned(note: Note) -> str:
    if note.detail == STILL:
        return f"a reassignment of {at(note)} had not ended after {took(note)}"
    return f"a reassignment of {at(note)} took {took(note)}"


def _no_topic(note: Note) -> str:
    return f"clients were told that there is no topic {note.topic} for {took(note)} ({_times(note)})"


KINDS: Final = (
    Kind(
        "topic-unknown",
        "topic-unknown",
        "clients are told for half a minute that a topic which they use is not there",
        _no_topic,
        (CONTROLLER,),
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
        wide=True,
    ),
    Kind(
        "broker-unresolved",
        "broker-unresolved",
        "clients can't resolve the address of a broker for half a minute",
        _unresolved,
        (OWN,),
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "connections-rejected",
        "connections-rejected",
        "a broker rejects connections from an address for half a minute, because that has too many",
        _rejected,
        (OWN,),
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "login-refused",
        "login-refused",
        "brokers refuse logins for half a minute",
        _login,
        (CONTROLLER, OWN),
        lasts(HALF_A_MINUTE_MS),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "codec-unknown",
        "codec-unknown",
        "a client lacks the codec with which records are compressed",
        _no_codec,
        (CLIENT,),
        wide=True,
    ),
    Kind(
        "response-too-large",
        "response-too-large",
        "a client is sent responses for half a minute that are larger than it takes",
        _too_large,
        (CLIENT,),
        lasts(HALF_A_MINUTE_MS),
        wide=True,
    ),
    Kind(
        "under-replicated",
        "under-replicated",
        "replicas of a broker, however many, are not in the ISR for ten minutes while it is away, or for a "
        "minute although it is there",
        _under_replicated,
        (OWN, CONTROLLER),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "client-throttled",
        "throttled",
        "a client has to wait for half a minute in all before it may send again, as brokers tell it",
        _throttled,
        (CONTROLLER,),
        lambda note: (note.number or 0) >= HALF_A_MINUTE_MS,
        wide=True,
    ),
    Kind(
        "records-timed-out",
        "records-timed-out",
        "a producer's records are not acknowledged in time for half a minute, so that it gives them up, or "
        "sends them again",
        _timed_out,
        (CONTROLLER, BROKERS),
        lasts(HALF_A_MINUTE_MS),
        wide=True,
    ),
    Kind(
        "reassignment-long",
        "reassignment",
        "a partition's reassignment takes ten minutes and more",
        _reassigned,
        (CONTROLLER, BROKERS),
        lasts(TEN_MINUTES_MS),
        of_partition=True,
    ),
    Kind(
        "broker-died",
        "broker-died",
        "a broker went away without being shut down",
        _died,
        (CONTROLLER, OWN),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "broker-failed",
        "broker-failed",
        "a broker ended itself by a fatal error, which it told",
        _failed,
        (),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "broker-fenced",
        "broker-fenced",
        "a broker was fenced because its session had timed out, and its next heartbeat, two seconds later, "
        "did not end that; nothing tells that it was started again",
        _fenced,
        (CONTROLLER, OWN),
        lasts(_HEARTBEAT_MS),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "broker-away",
        "broker-shut-down",
        "a broker that was shut down is away for ten minutes",
        _shut_down,
        (CONTROLLER, OWN),
        lasts(TEN_MINUTES_MS),
        of_partition=True,
        of_broker=True,
    ),
    Kind(
        "loading-long",
        "loading",
        "a coordinator takes a minute and more to load a partition of its topic",
        _loading,
        (COORDINATORS,),
        lasts(MINUTE_MS),
        of_partition=True,
        of_broker=True,
    ),
)
