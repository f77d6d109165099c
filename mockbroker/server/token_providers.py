"""What clients of Python take tokens from."""

from collections.abc import Callable
from typing import Any

from ..control.access import Issued


def provider(client: str, ask: Callable[[], Issued]) -> dict[str, Any]:
    """The setting of a client that has it `ask` for a token whenever it needs one. ImportError if the client
    is not installed."""
    if client == "confluent-kafka":

        def oauth_cb(config: str) -> tuple[str, float]:
            token, expires_s = ask()
            return token, float(expires_s)

        return {"oauth_cb": oauth_cb}
    return {"sasl_oauth_token_provider": _aiokafka(ask) if client == "aiokafka" else _kafka_python(ask)}


def _aiokafka(ask: Callable[[], Issued]) -> object:
    import asyncio

    from aiokafka.abc import AbstractTokenProvider

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        async def token(self) -> str:
            # The cluster answers from a thread of its own.
            return (await asyncio.to_thread(ask)).token

    return Provider()


def _kafka_python(ask: Callable[[], Issued]) -> object:
    try:
        from kafka.net.sasl.oauth import AbstractTokenProvider
    except ImportError:
        # Before 3.0.
        from kafka.sasl.oauth import AbstractTokenProvider

    class Provider(AbstractTokenProvider):  # type: ignore[misc]
        def token(self) -> str:
            return ask().token

    return Provider()
