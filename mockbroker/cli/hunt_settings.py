"""What `mockbroker hunt` is started with."""

import shlex
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Self

from rich.console import Console

from ..clients.drivers import command_for
from ..clients.hunt.applications import Application, application_campaign
from ..clients.hunt.campaign import Campaign, campaign
from ..clients.hunt.drawing import SHARES, draw, draw_application
from ..clients.hunt.drawn_access import secured
from ..clients.hunt.drawn_faults import Guide
from ..clients.hunt.plan import Fields, Plan
from ..clients.upstream.upstream import Upstream

_WHICH: Final = "which client? Give --client NAME, --client-command COMMAND or --application COMMAND"


@dataclass(frozen=True)
class Settings:
    """`versions` are releases of the client that each finding is played with; `shrink_s` is how long a
    smaller plan is looked for, in seconds; `illegal` is whether brokers also answer what no broker does,
    `security` whether clients log in."""

    client: str | None
    version: str | None
    command: str | None
    kafka: str
    lanes: int
    shrink_s: float
    versions: Sequence[str]
    out: Path | None
    illegal: bool = False
    application: Application | None = None
    known: Fields = field(default_factory=dict)
    """The application, as far as plans need it."""
    partitions: int = 2
    """Of each of its topics."""
    coverage: Path | None = None
    """The file of what was played before, which steers what is played."""
    ruled: Path | None = None
    """The file of known violations."""
    security: bool = False
    share: bool = False
    """Whether members of share groups are played, and nothing else."""
    upstream: Upstream | None = None
    """The real cluster with which plans are played, too."""

    def of_application(self, command: str, fields: Fields, partitions: int, settle_s: float) -> Self:
        """For a whole application."""
        application = Application(shlex.split(command), settle_s=settle_s)
        return replace(self, application=application, known=fields, partitions=partitions)

    def campaign(self, lanes: int, version: str | None = None) -> AbstractAsyncContextManager[Campaign[Any]]:
        """ValueError; BuildError."""
        if self.application is None:
            return campaign(self.driver(version), lanes, upstream=self.upstream)
        if self.upstream is not None:
            raise ValueError("--upstream is for clients: give --client NAME")
        if self.client or self.command:
            raise ValueError("a client or an application? Give only one of them")
        if self.versions or self.version:
            raise ValueError("an application has no versions: give --client NAME")
        return application_campaign(self.application, lanes)

    def drawn(
        self, seed: int, capabilities: frozenset[str], kafka: str, *, guide: Guide | None = None
    ) -> Plan:
        if self.application is None:
            if self.share and "share" not in capabilities:
                raise ValueError("the client has no share consumers: its driver does not say `share`")
            plan = draw(seed, capabilities, kafka, self.workload, illegal=self.illegal, guide=guide)
            return secured(plan, capabilities) if self.security else plan
        return draw_application(seed, self.known, self.partitions, kafka, illegal=self.illegal)

    @property
    def workload(self) -> str | None:
        """The only one that is played, if there is one."""
        return SHARES if self.share else None

    def driver(self, version: str | None = None) -> Sequence[str]:
        """The command of the client's driver, which is built if need be. ValueError; BuildError."""
        if (self.client is None) == (self.command is None):
            raise ValueError(_WHICH)
        if self.command is not None:
            if self.versions or self.version:
                raise ValueError("a driver of your own has no versions: give --client NAME")
            return shlex.split(self.command)
        assert self.client is not None
        with Console(emoji=False, stderr=True).status(f"building the driver of {self.client}"):
            return command_for(self.client, version or self.version)
