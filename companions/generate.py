"""`python -m companions.generate` writes what companions have of the control API."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from . import go, java, node, rust

FILES: Final[Mapping[str, Callable[[], str]]] = {
    "go/verbs.go": go.verbs,
    "go/fault_fields.go": go.faults,
    "node/verbs.js": node.verbs,
    "node/types.d.ts": node.types,
    "rust/src/fault.rs": rust.faults,
    "rust/src/options.rs": rust.options,
    "rust/src/verbs.rs": rust.verbs,
    **{f"java/src/main/java/mockbroker/{name}": write for name, write in java.files().items()},
}
FOLDER: Final = Path(__file__).parent


def main() -> None:
    """Needs gofmt and rustfmt."""
    for name, text in FILES.items():
        (FOLDER / name).write_text(text())


if __name__ == "__main__":
    main()
