"""`mockbroker proxy` and `mockbroker record`: in front of a real cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion
from .choices import ClientAuth
from .described import SERVE
from .failing import reported

if TYPE_CHECKING:
    from ..security import Security

UpstreamTlsGiven = Annotated[bool, typer.Option("--upstream-tls", help="The cluster's listeners have TLS.")]
UpstreamCa = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What the brokers' certificates are checked with, in PEM, in place of what this machine trusts. "
        "Implies --upstream-tls.",
    ),
]
UpstreamCertificate = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The certificate that brokers are shown, in PEM, if they want one (ssl.client.auth). "
        "Implies --upstream-tls.",
    ),
]
Tls = Annotated[
    bool,
    typer.Option(
        "--tls",
        help="Clients use TLS. The files of a certificate authority for this command alone are named at the "
        "start; that needs the extra security, unless there is a --certificate.",
    ),
]
Certificate = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The certificate that clients are shown, in PEM.")
]
TlsFolder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Where the files of the authority go, instead of a folder that is removed."
    ),
]


def proxy(
    upstream: Annotated[
        str,
        typer.Option(metavar="HOST:PORT[,...]", help="Brokers of the cluster; one that answers is enough."),
    ],
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The first broker's port; the others get the next ones. 0: any free ports."
        ),
    ] = 9092,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'DO FIELD=VALUE ...'",
            autocompletion=completion.faults,
            help="What goes wrong, as for `mockbroker serve`: 'disconnect api=Produce nth=3'. Repeatable.",
        ),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Play a scenario, as `mockbroker run` does, as far as it is about faults and the trace.",
        ),
    ] = None,
    upstream_map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT=HOST:PORT",
            help="A broker that tells the first address is reached at the second one. Repeatable.",
        ),
    ] = None,
    kafka: Annotated[
        str | None,
        typer.Option(
            autocompletion=completion.releases,
            help="Show clients no more versions and features than this release has, such as 3.9.",
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ANSWER",
            autocompletion=completion.policies,
            help="Decide otherwise than the cluster: undefined-epoch=log-end-offset. Repeatable.",
        ),
    ] = None,
    upstream_tls: UpstreamTlsGiven = False,
    upstream_ca: UpstreamCa = None,
    upstream_certificate: UpstreamCertificate = None,
    upstream_key: Annotated[Path | None, SERVE["key"]] = None,
    tls: Tls = False,
    client_auth: Annotated[ClientAuth, SERVE["client_auth"]] = ClientAuth.NONE,
    certificate: Certificate = None,
    key: Annotated[Path | None, SERVE["key"]] = None,
    ca: Annotated[Path | None, SERVE["ca"]] = None,
    tls_folder: TlsFolder = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a trace to this file, for `mockbroker view`: as Parquet if it ends in .parquet, else "
            "as JSON lines.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --trace if it exists.")
    ] = False,
    control: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Serve the control API for faults and the trace on this port of loopback. 0: any free port.",
        ),
    ] = None,
    control_token: Annotated[
        str | None,
        typer.Option(
            help="Answer only requests to the control API that send this token. By default that of the "
            "environment, MOCKBROKER_CONTROL_TOKEN."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the bootstrap address.")] = False,
) -> None:
    """Stand in front of a real cluster, and let its clients' requests go wrong, until interrupted.

    The first line printed is the bootstrap address for clients. At the end it says how often each fault
    fired; exit status 3: one never did, or the scenario failed. Exit status 2: no broker answers, or an
    option or the scenario is not valid.
    """
    from ..addresses import several
    from ..pairs import pairs
    from ..protocol.releases import parse
    from ..proxying.options import ProxyOptions, UpstreamTls, mapped, played
    from .given import faults, refuse_existing, token
    from .proxying import run

    with reported("proxy"):
        options = ProxyOptions(
            several(upstream, "--upstream"),
            host,
            port,
            map=mapped(upstream_map or []),
            faults=faults(fault),
            scenario=played(scenario),
            kafka=None if kafka is None else parse(kafka),
            policies=pairs("--policy", policy),
            trace=trace is not None,
            control=control,
            control_token=token(control_token, control),
            upstream_tls=UpstreamTls.of(upstream_tls, upstream_ca, upstream_certificate, upstream_key),
            security=_security(tls, client_auth, certificate, key, ca, tls_folder),
        )
        if not overwrite:
            refuse_existing(trace)
        status = run(options, quiet=quiet, trace=trace)
    raise typer.Exit(status)


def record(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The recording.")],
    capture: Annotated[
        Path | None,
        typer.Argument(help="A packet capture: of tcpdump, or of `serve --capture`. Or give --upstream."),
    ] = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Pass what clients say on to this cluster, and record it until Ctrl-C.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where clients connect, with --upstream.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Where clients connect, with --upstream; further brokers get the next ports. 0: any.",
        ),
    ] = 9092,
    upstream_tls: UpstreamTlsGiven = False,
    upstream_ca: UpstreamCa = None,
    upstream_certificate: UpstreamCertificate = None,
    upstream_key: Annotated[Path | None, SERVE["key"]] = None,
    tls: Tls = False,
    client_auth: Annotated[ClientAuth, SERVE["client_auth"]] = ClientAuth.NONE,
    certificate: Certificate = None,
    key: Annotated[Path | None, SERVE["key"]] = None,
    ca: Annotated[Path | None, SERVE["ca"]] = None,
    tls_folder: TlsFolder = None,
    values: Annotated[
        bool, typer.Option("--values", help="Keep keys, headers and values of records as they are.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
) -> None:
    """Record what clients and brokers say to each other: from a packet capture, or as it passes.

    Passwords and tokens are never recorded; keys, headers and values of records only with --values.
    `mockbroker replay` plays the file back. Exit status 2: the capture can't be read, or the cluster can't
    be reached.
    """
    from ..proxying.options import UpstreamTls
    from .given import refuse_existing
    from .recording import of_capture, passing

    with reported("record"):
        if (capture is None) == (upstream is None):
            raise ValueError("give a packet capture, or --upstream HOST:PORT")
        behind = UpstreamTls.of(upstream_tls, upstream_ca, upstream_certificate, upstream_key)
        ours = _security(tls, client_auth, certificate, key, ca, tls_folder)
        if capture is not None and (behind or ours):
            raise ValueError("TLS is for --upstream: what a capture has of it can't be read")
        if not overwrite:
            refuse_existing(out)
        if upstream is not None:
            passing(upstream, host, port, out, values=values, upstream_tls=behind, security=ours)
        elif capture is not None:
            of_capture(capture, out, values=values)


def _security(
    tls: bool,
    client_auth: ClientAuth,
    certificate: Path | None,
    key: Path | None,
    ca: Path | None,
    folder: Path | None,
) -> "Security | None":
    """What clients need to come in. ValueError."""
    from .given import security

    return security(tls, None, None, None, client_auth.value, certificate, key, ca, folder, None, None, {})


def register(app: typer.Typer) -> None:
    app.command(short_help="Stand in front of a real cluster, and let requests go wrong.")(proxy)
    app.command(short_help="Record what clients and brokers say to each other, in one file.")(record)
