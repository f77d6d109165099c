"""Kafka's own command-line tools, such as kafka-consumer-groups: jars by Maven, as for real brokers."""

import subprocess
from typing import Final

from .real_broker import cache_folder

_LIMIT_S: Final = 120.0
_POM: Final = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>mockbroker</groupId><artifactId>tools</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies></project>"""
_DEPENDENCY: Final = """<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
<exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId></exclusion>
<exclusion><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId></exclusion>
<exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-log4j12</artifactId></exclusion>
</exclusions></dependency>"""


class Tools:
    """Kafka's tools of a release. Their logs go to standard error."""

    def __init__(self, release: str) -> None:
        self.release = release
        self.folder = cache_folder() / "tools" / release
        if not (self.folder / "complete").exists():
            self._fetch()

    def _fetch(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = [("org.apache.kafka", "kafka_2.13", self.release)]
        if int(self.release.split(".")[0]) > 2:
            wanted.append(("org.apache.kafka", "kafka-tools", self.release))
        wanted.append(("org.slf4j", "slf4j-reload4j", "1.7.36"))
        pom = self.folder / "pom.xml"
        pom.write_text(_POM.format("".join(_DEPENDENCY.format(*each) for each in wanted)))
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
        command = ["mvn", "-B", "-q", "-f", str(pom), goal, f"-DoutputDirectory={self.folder}"]
        subprocess.run([*command, "-DincludeScope=runtime"], check=True)
        (self.folder / "log4j.properties").write_text(
            "log4j.rootLogger=INFO, A\n"
            "log4j.appender.A=org.apache.log4j.ConsoleAppender\n"
            "log4j.appender.A.Target=System.err\n"
            "log4j.appender.A.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.A.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
        )
        (self.folder / "complete").touch()

    def run(self, main: str, *arguments: str) -> tuple[str, str]:
        """Standard output and error; the tool may fail, as a consumer does that times out."""
        logs = f"-Dlog4j.configuration=file:{self.folder}/log4j.properties"
        java = ["java", "-Xmx256m", "-Duser.timezone=UTC", logs, "-cp", f"{self.folder}/*"]
        command = [*java, main, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
        return done.stdout, done.stderr
