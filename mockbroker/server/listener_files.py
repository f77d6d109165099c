"""The keystores and truststores that the configuration of listeners names, also while brokers run (KIP-226,
`SslFactory.java`)."""

import contextlib
import ssl
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ..configs import Configs, listeners
from ..extras import MissingExtraError
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from .keystores import Shown, Store, StoreError, keystore, truststore

_REFUSED: Final = (
    "Invalid value org.apache.kafka.common.config.ConfigException: Validation of dynamic config update of "
    "SSLFactory failed: {why} for configuration Invalid dynamic configuration"
)
Make = Callable[[str, str, str | None], ssl.SSLContext]
"""The context of a listener, from files in PEM: the certificate with its key, and the authorities."""


class _Named(NamedTuple):
    """The stores of a listener, if there are any."""

    keys: Store | None
    trusted: Store | None

    def changed_at(self) -> tuple[int, ...]:
        """When their files were written, in ns."""
        paths = (Path(each.location) for each in self if each is not None)
        return tuple(each.stat().st_mtime_ns if each.exists() else 0 for each in paths)


class _Used(NamedTuple):
    named: _Named
    changed_at: tuple[int, ...]
    shown: Shown
    context: ssl.SSLContext

    def is_for(self, named: _Named) -> bool:
        """Whether it is what these files have now."""
        return (self.named, self.changed_at) == (named, named.changed_at())


class ListenerFiles:
    """A `configs.store.Files` of the `listeners` with TLS. Where no store is named, the certificate and the
    authorities of `default` take its place, in PEM."""

    def __init__(
        self,
        configs: Configs,
        names: Iterable[str],
        default: Callable[[], tuple[bytes, bytes | None]],
        make: Make,
    ) -> None:
        self._configs, self._names, self._default, self._make = configs, list(names), default, make
        self._used: dict[tuple[int, str], _Used] = {}
        self._checked: dict[tuple[int, str], _Used] = {}
        """What may be used next: it is not read twice."""

    def context(self, broker: int, listener: str) -> ssl.SSLContext | None:
        """What a broker uses there; None if it is what all do that were told of no store."""
        found = self._used.get((broker, listener))
        return None if found is None else found.context

    def check(self, broker: int, values: Mapping[str, str]) -> None:
        """ApiError INVALID_REQUEST."""
        for listener in self._names:
            named, used = self._named(listener, values), self._used.get((broker, listener))
            if named == (_Named(None, None) if used is None else used.named):
                continue
            try:
                self._checked[broker, listener] = self._loaded(named, listener, self._shown(broker, listener))
            except (StoreError, MissingExtraError) as error:
                raise ApiError(ErrorCode.INVALID_REQUEST, _REFUSED.format(why=error)) from None

    def use(self, broker: int) -> None:
        """What can't be used is not: the listener goes on with what it has."""
        for listener in self._names:
            self._use(broker, listener)

    def begin(self, brokers: Iterable[int]) -> None:
        """Uses what is configured at the start. StoreError."""
        for broker in brokers:
            for listener in self._names:
                named = self._named(listener, {})
                if named != _Named(None, None):
                    self._used[broker, listener] = self._loaded(named, listener)

    def forget(self) -> None:
        """All listeners show something else."""
        self._used.clear()

    def _use(self, broker: int, listener: str) -> None:
        named = self._named(listener, self._configs.per_broker.get(broker, {}))
        used, checked = self._used.get((broker, listener)), self._checked.pop((broker, listener), None)
        if named == _Named(None, None):
            self._used.pop((broker, listener), None)
        elif checked is not None and checked.is_for(named):
            self._used[broker, listener] = checked
        elif used is None or not used.is_for(named):
            with contextlib.suppress(StoreError, MissingExtraError):
                self._used[broker, listener] = self._loaded(named, listener, self._shown(broker, listener))

    def _shown(self, broker: int, listener: str) -> Shown:
        used = self._used.get((broker, listener))
        return Shown.of_pem(self._default()[0]) if used is None else used.shown

    def _named(self, listener: str, values: Mapping[str, str]) -> _Named:
        def store(kind: str) -> Store | None:
            location = self._text(f"ssl.{kind}.location", listener, values)
            if location is None:
                return None
            more = (self._text(f"ssl.{kind}.{each}", listener, values) for each in ("password", "type"))
            password, type_ = more
            return Store(location, password, type_ or "JKS", self._text("ssl.key.password", listener, values))

        return _Named(store("keystore"), store("truststore"))

    def _text(self, name: str, listener: str, values: Mapping[str, str]) -> str | None:
        """What is set, with these values in place of those that were altered for a broker."""
        layers = [values, *(layer.values for layer in self._configs.layers())]
        for each in listeners.prefixed(name, listener):
            for layer in layers:
                if each in layer:
                    return layer[each]
        return None

    def _loaded(self, named: _Named, listener: str, before: Shown | None = None) -> _Used:
        """In place of `before`, if that is given. StoreError, MissingExtraError."""
        changed_at = named.changed_at()
        pem, authorities = self._default()
        shown = Shown.of_pem(pem) if named.keys is None else keystore(named.keys)
        if before is not None:
            before.check(shown)
        authorities = authorities if named.trusted is None else truststore(named.trusted)
        with tempfile.TemporaryDirectory(prefix="mockbroker-") as folder:
            # Python's TLS takes only files.
            certificate, trusted = Path(folder) / "certificate.pem", Path(folder) / "authorities.pem"
            certificate.touch(0o600)
            certificate.write_bytes(shown.pem)
            trusted.write_bytes(authorities or b"")
            try:
                made = self._make(listener, str(certificate), str(trusted) if authorities else None)
            except OSError as error:
                raise StoreError(f"org.apache.kafka.common.KafkaException: {error}") from None
        return _Used(named, changed_at, shown, made)
