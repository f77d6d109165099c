"""How brokers log: as the configuration does that comes with Kafka (config/log4j.properties, log4j2.yaml)."""

from collections.abc import Iterable
from typing import Final

LAYOUT: Final = "[%d] %p %m (%c)%n"
FOLDER_PROPERTY: Final = "kafka.logs.dir"
_FILES: Final = {
    "controller": ("kafka.controller", "org.apache.kafka.controller"),
    "state-change": ("state.change.logger",),
    "kafka-authorizer": ("kafka.authorizer.logger",),
    "log-cleaner": ("kafka.log.LogCleaner", "org.apache.kafka.storage.internals.log.LogCleaner"),
}
"""Files besides server.log, and the loggers that write only there."""


def log4j() -> str:
    """For log4j 1: up to Kafka 3.9."""
    lines = ["log4j.rootLogger=INFO, stdout, server", *_appender("stdout", "ConsoleAppender")]
    for name in ("server", *_FILES):
        lines += _appender(name, "FileAppender")
        lines.append(f"log4j.appender.{name}.File=${{{FOLDER_PROPERTY}}}/{name}.log")
    for name, loggers in _FILES.items():
        for logger in loggers:
            lines += [f"log4j.logger.{logger}=INFO, {name}", f"log4j.additivity.{logger}=false"]
    return "\n".join(lines) + "\n"


def _appender(name: str, kind: str) -> Iterable[str]:
    own = f"log4j.appender.{name}"
    return (
        f"{own}=org.apache.log4j.{kind}",
        f"{own}.layout=org.apache.log4j.PatternLayout",
        f"{own}.layout.ConversionPattern={LAYOUT}",
    )


def log4j2() -> str:
    """For log4j 2: from Kafka 4.0 on."""
    layout = f'<PatternLayout pattern="{LAYOUT}"/>'
    appenders = [f'<Console name="stdout">{layout}</Console>']
    appenders += [
        f'<File name="{name}" fileName="${{sys:{FOLDER_PROPERTY}}}/{name}.log">{layout}</File>'
        for name in ("server", *_FILES)
    ]
    loggers = [
        f'<Logger name="{logger}" level="INFO" additivity="false"><AppenderRef ref="{name}"/></Logger>'
        for name, each in _FILES.items()
        for logger in each
    ]
    root = '<Root level="INFO"><AppenderRef ref="stdout"/><AppenderRef ref="server"/></Root>'
    parts = ["<Configuration><Appenders>", *appenders, "</Appenders><Loggers>", *loggers, root]
    return "\n".join([*parts, "</Loggers></Configuration>"]) + "\n"
