"""Questions a mock is known to answer differently from the release it plays, with the reason."""

from typing import Final

_RE2: Final = "regular expressions are read by RE2: docs/left-out.md"
_UNANSWERED: Final = "APIs that are not answered yet are not advertised: docs/reference/apis.md"

KNOWN: Final[dict[str, str]] = {
    "api_versions.versions": _UNANSWERED,
    "api_versions.besides_versions": _UNANSWERED,
    "list_transactions.large_patterns": _RE2,
    "consumer_group_heartbeat.large_subscribed_patterns": _RE2,
    "get_telemetry_subscriptions.matched_patterns_of_java": _RE2,
    "metadata.odd_tags@3.9.2": "a negative number of tagged fields is refused as by 4.4",
}
"""Question id (`metadata.internal_topic`, or `metadata.internal_topic@4.4.0` for one release) → reason."""


def reason(question: str, release: str) -> str | None:
    """Why this question may differ under `release`, or None."""
    return KNOWN.get(question) or KNOWN.get(f"{question}@{release}")
