"""`mockbroker serve`, whose share groups may have more in flight, and longer, than configurations allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from mockbroker.cli import main as command_line
from mockbroker.coordinators.share import settings
from mockbroker.share_partitions.flight import ShareLimits

MOST: Final = 100_000
LOCK_MS: Final = 24 * 3600 * 1000


def main() -> None:
    configured = settings.limits

    def limits(*given: Any, **named: Any) -> ShareLimits:
        return replace(configured(*given, **named), records=MOST, lock_ms=LOCK_MS, delivery_count=10)

    settings.limits = limits
    command_line()


if __name__ == "__main__":
    main()
