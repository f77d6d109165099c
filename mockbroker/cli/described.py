"""What is said of the options of `serve`; what they are, and their defaults, is said by its parameters."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

import typer

from . import completion
from .serving import LIMITS


def _limits(name: str) -> dict[str, Any]:
    return dict(zip(("min", "max"), LIMITS[name], strict=True))


SERVE: Final[Mapping[str, Any]] = {
    "kafka": typer.Option(help="Release to act as: 0.11 to 4.4.", autocompletion=completion.releases),
    "brokers": typer.Option(**_limits("brokers"), help="How many brokers."),
    "port": typer.Option(
        **_limits("port"), help="The first broker's port; the others get the next ones. 0: any free ports."
    ),
    "host": typer.Option(help="Address to listen on."),
    "advertise": typer.Option(
        metavar="HOST[:PORT]",
        help="The address to tell clients, if brokers listen on another one, as with "
        "containers and forwarded ports. HOST: for all brokers, each with its own port. HOST:PORT: for "
        "the first broker; the others get the next ports. Repeated: one for each broker.",
    ),
    "topic": typer.Option(metavar="NAME[:PARTITIONS]", help="Create a topic. Repeatable."),
    "config": typer.Option(metavar="NAME=VALUE", help="Broker configuration. Repeatable."),
    "policy": typer.Option(
        metavar="NAME=ANSWER",
        autocompletion=completion.policies,
        help="Override a behaviour; with NAME@topic:T, NAME@broker:ID or both for that topic or broker "
        "only. Repeatable.",
    ),
    "fixed": typer.Option(help="Apply every fix that was made or proposed; --policy takes precedence."),
    "rack": typer.Option(metavar="BROKER=RACK", help="A broker's rack. Repeatable."),
    "seed": typer.Option(help="Seed of random ids: the same seed gives the same ids."),
    "fault": typer.Option(
        metavar="'DO FIELD=VALUE ...'",
        autocompletion=completion.faults,
        help="A fault that is there from the start, written as for `mockbroker ctl faults add`: "
        "'disconnect api=Produce nth=3'. Repeatable.",
    ),
    "clock": typer.Option(
        help="What moves the cluster's time: the wall clock, or only `mockbroker ctl clock advance`."
    ),
    "offsets": typer.Option(
        metavar="FILE",
        help="Start with the offsets topic of another cluster, and the topics that it names. FILE is one "
        "of its segments, a folder with folders __consumer_offsets-N, output of `kafka-dump-log "
        "--offsets-decoder`, or what a console consumer printed with OffsetsMessageFormatter. "
        "Repeatable.",
    ),
    "now": typer.Option(
        metavar="TIME",
        help="The time at which the cluster starts: such as 2026-03-01T12:30:00Z, Unix time in ms, or "
        "wall. By default that of the last record of --offsets, or else that of the wall clock.",
    ),
    "trace": typer.Option(
        help="Write a trace to this file: as Parquet if it ends in .parquet, else as JSON lines."
    ),
    "capture": typer.Option(help="Write a packet capture to this file, as pcapng."),
    "tls": typer.Option(
        "--tls",
        help="Clients use TLS. The files of a certificate authority for this cluster alone are named at the "
        "start; that needs the extra security, unless there is a --certificate.",
    ),
    "sasl": typer.Option(
        metavar="MECHANISM",
        help="Clients log in: by plain, scram-sha-256, scram-sha-512 or oauthbearer. Repeatable.",
    ),
    "user": typer.Option(
        metavar="NAME:PASSWORD", help="Who logs in by PLAIN and SCRAM, with what password. Repeatable."
    ),
    "listener": typer.Option(
        metavar="NAME=PROTOCOL",
        help="A listener of each broker: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. Repeatable; those after "
        "the first have the next ports.",
    ),
    "client_auth": typer.Option(help="Whether clients have to show a certificate (ssl.client.auth)."),
    "certificate": typer.Option(metavar="FILE", help="The brokers' certificate, in PEM."),
    "key": typer.Option(metavar="FILE", help="Its key, in PEM, if it is not in the same file."),
    "ca": typer.Option(metavar="FILE", help="What clients' certificates are checked with, in PEM."),
    "tls_folder": typer.Option(
        metavar="FOLDER",
        help="Where the files of the authority and of signed tokens go, instead of a folder that is removed.",
    ),
    "signed_tokens": typer.Option(
        "--signed-tokens",
        help="Tokens of OAUTHBEARER are signed. The JWKS file of a key for this cluster alone is named at "
        "the start, and `mockbroker ctl tokens issue` gives tokens; that needs the extra security.",
    ),
    "jwks": typer.Option(metavar="FILE", help="A JWKS file of your own, with which they are checked."),
    "issuer": typer.Option(metavar="NAME", help="The issuer (iss) that they have; any by default."),
    "audience": typer.Option(
        metavar="NAME", help="The audience (aud) of which they have to have one. Repeatable."
    ),
    "scope_claim": typer.Option(metavar="NAME", help="Their claim with the scope; scope by default."),
    "sub_claim": typer.Option(metavar="NAME", help="Their claim with the user; sub by default."),
    "token_expires_in": typer.Option(
        metavar="SECONDS", help="How long tokens are valid that clients ask for; 3600 by default."
    ),
    "acl": typer.Option(
        metavar="ACL",
        help="What somebody may do, as 'alice allow read,write on topic:orders': nobody may do more. "
        "Repeatable.",
    ),
    "super_user": typer.Option(metavar="NAME", help="Who may do everything. Repeatable."),
    "control": typer.Option(
        metavar="PORT",
        help="Serve the HTTP control API on this port, on loopback only; 0: any free port. Its address "
        "is the second line printed.",
    ),
    "overwrite": typer.Option(
        "--overwrite", help="Replace the files of --trace and --capture if they exist."
    ),
    "control_token": typer.Option(
        metavar="TOKEN",
        help="Answer only control requests that send this token. Better give it in the environment as "
        "MOCKBROKER_CONTROL_TOKEN, where other users of the machine can't see it.",
    ),
    "console": typer.Option(
        "--console", help="Serve a page that shows the cluster, with the control API. Prints its address."
    ),
    "until_stdin_closes": typer.Option(
        "--until-stdin-closes",
        help="End when stdin closes, as a pipe does when the program that started this one is gone, even if "
        "it was killed.",
    ),
    "quiet": typer.Option("--quiet", "-q", help="Print only the addresses."),
    "log": typer.Option(help="Report as text or as JSON lines."),
}
"""An option of typer for each parameter."""


def described(function: Callable[..., None], options: Mapping[str, Any]) -> Callable[..., None]:
    """A function with the same parameters, for typer to read."""

    def command(**given: Any) -> None:
        function(**given)

    shown = [
        each.replace(annotation=Annotated[each.annotation, options[each.name]])
        for each in inspect.signature(function).parameters.values()
    ]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in shown}
    command.__doc__ = function.__doc__
    return command
