"""Kafka's own command-line tools, such as kafka-consumer-groups."""

import subprocess
from pathlib import Path
from typing import Final

from .downloads import SHORT_LIVED, tools_jars

_LIMIT_S: Final = 120.0
_LOG4J: Final = """log4j.rootLogger=INFO, A
log4j.appender.A=org.apache.log4j.ConsoleAppender
log4j.appender.A.Target=System.err
log4j.appender.A.layout=org.apache.log4j.PatternLayout
log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n
"""


class Tools:
    """Kafka's tools of a release. Their logs go to standard error."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.folder = tools_jars(release)
        (self.folder / "log4j.properties").write_text(_LOG4J)

    def run(self, main: str, *arguments: str, folder: Path | None = None) -> tuple[str, str]:
        """Standard output and error, with files named as from `folder`; the tool may fail, as a consumer does
        that times out."""
        logs = f"-Dlog4j.configuration=file:{self.folder}/log4j.properties"
        java = ["java", "-Xmx256m", *SHORT_LIVED, "-Duser.timezone=UTC", logs, "-cp", f"{self.folder}/*"]
        command = [*java, main, *arguments]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_LIMIT_S
        )
        return done.stdout, done.stderr
