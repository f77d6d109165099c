"""`mockbroker serve`, with the values of its options: those that typer read, or `plain`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..protocol.releases import NEWEST
from .choices import ClientAuth, Clock, Fixed, LogFormat
from .failing import reported

LIMITS: Final[Mapping[str, tuple[int, int | None]]] = {"brokers": (1, None), "port": (0, 65535)}
"""The least and the most that an option may be."""
SHORT: Final = {"-q": "--quiet"}


def serve(
    *,
    kafka: str = NEWEST,
    brokers: int = 3,
    port: int = 9092,
    host: str = "127.0.0.1",
    advertise: list[str] | None = None,
    topic: list[str] | None = None,
    config: list[str] | None = None,
    policy: list[str] | None = None,
    fixed: Fixed = Fixed.NO,
    rack: list[str] | None = None,
    seed: int | None = None,
    fault: list[str] | None = None,
    clock: Clock = Clock.WALL,
    offsets: list[Path] | None = None,
    now: str | None = None,
    trace: Path | None = None,
    capture: Path | None = None,
    tls: bool = False,
    sasl: list[str] | None = None,
    user: list[str] | None = None,
    listener: list[str] | None = None,
    client_auth: ClientAuth = ClientAuth.NONE,
    certificate: Path | None = None,
    key: Path | None = None,
    ca: Path | None = None,
    tls_folder: Path | None = None,
    signed_tokens: bool = False,
    jwks: Path | None = None,
    issuer: str | None = None,
    audience: list[str] | None = None,
    scope_claim: str | None = None,
    sub_claim: str | None = None,
    token_expires_in: int | None = None,
    acl: list[str] | None = None,
    super_user: list[str] | None = None,
    control: int | None = None,
    overwrite: bool = False,
    control_token: str | None = None,
    console: bool = False,
    until_stdin_closes: bool = False,
    quiet: bool = False,
    log: LogFormat = LogFormat.TEXT,
) -> None:
    """Serve a cluster until interrupted. The first line printed is the bootstrap address."""
    from ..pairs import pairs
    from .given import faults, racks, refuse_existing, security, token, topics
    from .offsets import offsets_topic
    from .serve import Observing, Report, run

    with reported("serve"):
        if not overwrite:
            refuse_existing(trace, capture)
        report: Observing = Report(quiet)
        if log is LogFormat.JSON:
            from .json_report import JsonReport

            report = JsonReport()
        run(
            report,
            kafka=kafka,
            brokers=brokers,
            host=host,
            port=port,
            advertise=advertise,
            config=pairs("--config", config),
            policies=pairs("--policy", policy),
            topics=topics(topic),
            seed=seed,
            racks=racks(rack),
            fixed=fixed is Fixed.YES,
            faults=faults(fault),
            clock=clock.value,
            offsets=offsets_topic(offsets, quiet=quiet),
            now=now,
            until_stdin_closes=until_stdin_closes,
            trace_file=trace,
            capture=capture,
            security=security(
                tls,
                sasl,
                user,
                listener,
                client_auth.value,
                certificate,
                key,
                ca,
                tls_folder,
                acl,
                super_user,
                {
                    "signed_tokens": signed_tokens,
                    "jwks": jwks,
                    "issuer": issuer,
                    "audience": audience,
                    "scope_claim": scope_claim,
                    "sub_claim": sub_claim,
                    "token_expires_in": token_expires_in,
                },
            ),
            control=0 if console and control is None else control,
            control_token=token(control_token, 0 if console else control),
            console=console,
        )
