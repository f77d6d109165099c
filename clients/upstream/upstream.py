"""Runs with a real cluster: each has a proxy, and names, of its own."""

import contextlib
import itertools
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import trio

from mockbroker.addresses import joined
from mockbroker.errors import MockBrokerError
from mockbroker.policies import UnknownPolicyError
from mockbroker.proxying.options import Address, ProxyOptions
from mockbroker.proxying.proxy import Proxy

from ..drivers import Driver
from ..drivers.names import Names
from .asking import Asking
from .cluster import NotWithUpstreamError, UpstreamCluster

_NAME: Final = "mockbroker"


class Upstream:
    """The cluster at these addresses. What runs make there has names that begin with `prefix`, and is deleted
    when they end; `tell` gets a line where that fails."""

    def __init__(self, addresses: list[Address], tell: Callable[[str], None]) -> None:
        self.addresses = addresses
        self.prefix: Final = f"{_NAME}-{secrets.token_hex(3)}"
        self._tell = tell
        self._runs = itertools.count(1)

    def __str__(self) -> str:
        return ",".join(joined(*each) for each in self.addresses)

    @contextlib.asynccontextmanager
    async def served(self, driver: Driver, policies: Mapping[str, str]) -> AsyncIterator[UpstreamCluster]:
        """The cluster for one run of a driver. OSError, UpstreamError if it can't be asked;
        NotWithUpstreamError for a behaviour that can't be decided on answers."""
        names = Names(f"{self.prefix}-{next(self._runs)}-")
        asking = await trio.to_thread.run_sync(Asking, self.addresses[0])
        driver.names = names
        failed: Exception | None = None
        try:
            async with self._proxy(policies).running() as proxy:
                cluster = UpstreamCluster(proxy, asking, names)
                try:
                    yield cluster
                except Exception as error:
                    # It leaves as it is, not in a group.
                    failed = error
                finally:
                    with trio.CancelScope(shield=True):
                        await self._clean_up(cluster)
        finally:
            driver.names = Names("")
            asking.close()
        if failed is not None:
            raise failed

    def _proxy(self, policies: Mapping[str, str]) -> Proxy:
        try:
            return Proxy(ProxyOptions(self.addresses, trace="requests", policies=policies), self._tell)
        except UnknownPolicyError:
            chosen = ", ".join(f"{name}={answer}" for name, answer in policies.items())
            raise NotWithUpstreamError(f"the behaviour {chosen}") from None

    async def _clean_up(self, cluster: UpstreamCluster) -> None:
        try:
            left = await trio.to_thread.run_sync(cluster.clean_up)
        except (OSError, MockBrokerError) as error:
            self._tell(f"what a run has made could not be deleted: {error}")
        else:
            for each in left:
                self._tell(f"could not be deleted: {each}")
