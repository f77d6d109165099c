"""`mockbroker doctor`: what is missing on this machine, what needs it, and how to get it."""

import importlib.util
import shutil
from collections.abc import Iterator
from typing import Final, NamedTuple

from ..extras import how_to_install
from ..pipeline.errors import PipelineError
from ..pipeline.session import need_java
from ..version import __version__
from .tables import table, width, write


class Need(NamedTuple):
    """What some part needs. `modules` are Python's, `programs` are on the PATH, each with how to get it."""

    what: str
    needed_for: str
    modules: tuple[str, ...] = ()
    programs: tuple[tuple[str, str], ...] = ()
    extra: str | None = None
    """What installs the modules."""


_JDK: Final = "install a JDK, 17 or newer"
_SPARKS_JAVA: Final = "java 17"
_JAVA: Final = (("java", _JDK), ("javac", _JDK), ("mvn", "install Maven"))
NEEDS: Final = (
    Need("TLS, signed tokens", "serve --tls and --signed-tokens", ("trustme", "joserfc"), (), "security"),
    Need("regular expressions", "groups that subscribe by pattern (KIP-848)", ("re2",), (), "regex"),
    Need("Parquet", "serve --trace FILE.parquet", ("pyarrow",), (), "parquet"),
    Need("analyze", "analyze, reproduce", ("duckdb", "numpy", "pyarrow"), (), "analyze"),
    Need("Spark", "--engine spark", ("pyspark", "pandas"), ((_SPARKS_JAVA, _JDK),), "spark"),
    Need("Java", "Java clients in check and hunt; real brokers", (), _JAVA),
    Need(
        "Node.js",
        "KafkaJS and @platformatic/kafka in check and hunt",
        (),
        (("node", "install Node.js"), ("npm", "install npm")),
    ),
    Need("Go", "franz-go, sarama and kafka-go in check and hunt", (), (("go", "install Go"),)),
    Need(
        "Rust",
        "rdkafka for Rust in check and hunt",
        (),
        (("cargo", "install Rust"), ("make", "install make"), ("cc", "install a C compiler")),
    ),
    Need("Chromium", "tests of the console", ("playwright",), (("chromium", "install Chromium"),)),
    Need("tshark", "tests of captures", (), (("tshark", "install tshark (Wireshark)"),)),
    Need("kcat", "kcat as a client, in tests and examples", (), (("kcat", "install kcat"),)),
)


def show() -> None:
    """Prints a line for each need."""
    write(_lines())


def _lines() -> Iterator[str]:
    yield f"mockbroker {__version__}. Nothing else is needed to serve brokers; this is for the rest:"
    yield ""
    rows = []
    for need in NEEDS:
        missing, how = found(need)
        rows.append((need.what, f"missing: {', '.join(missing)}" if missing else "ok", need.needed_for, how))
    yield from table(("what", "here", "needed for", "how to get it"), rows, width())


def found(need: Need) -> tuple[list[str], str]:
    """What is missing, and how to get it."""
    modules = [each for each in need.modules if importlib.util.find_spec(each) is None]
    programs = [(name, how) for name, how in need.programs if not _is_there(name)]
    ways = [how for _, how in programs]
    if modules:
        ways.insert(0, how_to_install(need.extra) if need.extra else f"pip install {' '.join(modules)}")
    return [*modules, *(name for name, _ in programs)], "; ".join(dict.fromkeys(ways))


def _is_there(program: str) -> bool:
    return _spark_has_java() if program == _SPARKS_JAVA else shutil.which(program) is not None


def _spark_has_java() -> bool:
    try:
        need_java()
    except PipelineError:
        return False
    return True
