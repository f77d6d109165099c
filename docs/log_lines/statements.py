"""Log statements at INFO and above in the sources of brokers and clients."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from .calls import calls, template

_JAVA: Final = re.compile(
    r"\b(?:\w*(?:log|LOG|[lL]ogger|LOGGER))(?:\(\))?\s*\.\s*(?P<level>info|warn|error)\("
)
_SCALA: Final = re.compile(
    r"(?<![\w.$])(?P<level>info|warn|error|fatal)\("
    r"|\b\w*[lL]og(?:ger)?(?:\s*\.\w+(?:\([^()\n]*\))?){0,3}\s*\.(?P<other>info|warn|error|fatal)\("
)
_C: Final = re.compile(
    r"\b(?P<how>rd_kafka_log0?|rd_rkb_log|rd_kafka_dbg|rd_rkb_dbg|rd_kafka_op_err|rd_kafka_consumer_err|"
    r"rd_kafka_broker_fail|rd_kafka_set_fatal_error|rd_kafka_txn_set_(?:abortable|fatal)_error)\("
)
_FRANZ: Final = re.compile(r"\.Log\((?=LogLevel(?:Warn|Error|Info))")
_SARAMA: Final = re.compile(r"\b(?:\w*[lL]ogger)\.Print(?P<how>f|ln)?\(")
_KAFKA_GO: Final = re.compile(r"\b(?:l|log|logger|errorLogger)\.Printf\(")
_KAFKAJS: Final = re.compile(r"\b(?:\w*[lL]ogger)\.(?P<level>info|warn|error)\(")
_LEVELS: Final = {"warning": "WARN", "critical": "ERROR", "exception": "ERROR", "fatal": "ERROR"}
_OF_C: Final = {
    "LOG_EMERG": "ERROR",
    "LOG_ALERT": "ERROR",
    "LOG_CRIT": "ERROR",
    "LOG_ERR": "ERROR",
    "LOG_WARNING": "WARN",
    "LOG_NOTICE": "INFO",
    "LOG_INFO": "INFO",
}
_LOGGERS: Final = ("log", "logger", "_log")
_FLOW: Final = re.compile(r"\s+")


class Statement(NamedTuple):
    """`where` is a class of Java or Scala, else the name of a file."""

    level: str
    where: str
    template: str


def _java(name: str, source: str) -> Iterator[Statement]:
    where = PurePosixPath(name).stem
    scala = name.endswith(".scala")
    for each in calls(source, _SCALA if scala else _JAVA):
        level = str(each.callee["level"] or each.callee.groupdict().get("other"))
        if not each.arguments[0] or (scala and _declared(source, each.at)):
            continue
        arguments = each.arguments[1:] if _marker(each.arguments) else each.arguments
        yield Statement(_LEVELS.get(level, level.upper()), where, template(arguments, source[: each.at]))


def _declared(source: str, at: int) -> bool:
    return source[max(at - 5, 0) : at].endswith("def ")


def _marker(arguments: list[str]) -> bool:
    return len(arguments) > 1 and arguments[0].endswith(("Marker", "marker"))


def _c(name: str, source: str) -> Iterator[Statement]:
    where = PurePosixPath(name).stem
    for each in calls(source, _C):
        how, arguments = each.callee["how"], each.arguments
        level = next((_OF_C[part] for part in arguments[:3] if part in _OF_C), None)
        texts = [nth for nth, part in enumerate(arguments) if part.startswith('"')]
        if how.endswith(("_error", "_err")):
            level = "ERROR"
            if not texts:
                continue
            yield Statement(level, where, template(arguments[texts[0] :], formats=True))
        elif how == "rd_kafka_broker_fail" and level is not None and texts:
            yield Statement(level, f"{where}:FAIL", template(arguments[texts[0] :], formats=True))
        elif level is not None:
            facility = texts[0] if texts else None
            first = next((nth for nth in texts if nth != facility), None)
            if first is None:
                continue
            yield Statement(
                level,
                f"{where}:{arguments[texts[0]].strip(chr(34))}",
                template(arguments[first:], formats=True),
            )


def _franz(name: str, source: str) -> Iterator[Statement]:
    for each in calls(source, _FRANZ):
        level = each.arguments[0].removeprefix("LogLevel").upper()
        text = template(each.arguments[1:2], source[: each.at])
        names = [part.strip('"') for part in each.arguments[2::2] if part.startswith('"')]
        yield Statement(
            level,
            PurePosixPath(name).stem,
            f"{text}; " + ", ".join(f"{key}: {{{key}}}" for key in names) if names else text,
        )


def _sarama(name: str, source: str) -> Iterator[Statement]:
    for each in calls(source, _SARAMA):
        arguments = each.arguments
        if each.callee["how"] != "f":
            text = " ".join(template([part], source[: each.at]).strip() for part in arguments)
        else:
            text = template(arguments, source[: each.at], formats=True)
        yield Statement("INFO", PurePosixPath(name).stem, text)


def _kafka_go(name: str, source: str) -> Iterator[Statement]:
    for each in calls(source, _KAFKA_GO):
        before = source[: each.at]
        error = (
            before.rfind("withErrorLogger(") > before.rfind("withLogger(") or "rrorLogger" in each.callee[0]
        )
        yield Statement(
            "ERROR" if error else "INFO",
            PurePosixPath(name).stem,
            template(each.arguments, before, formats=True),
        )


def _kafkajs(name: str, source: str) -> Iterator[Statement]:
    path = PurePosixPath(name)
    where = f"{path.parent.name}/{path.stem}"
    for each in calls(source, _KAFKAJS):
        text = template(each.arguments[:1], source[: each.at])
        yield Statement(each.callee["level"].upper(), where, text)


def _python(name: str, source: str) -> Iterator[Statement]:
    where = ".".join(PurePosixPath(name).with_suffix("").parts[-3:])
    tree = ast.parse(source)
    assigned = [
        (node.lineno, target.id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=logger) | ast.Attribute(attr=logger), attr=level),
                args=[text, *values],
            ) if logger in _LOGGERS and (level in ("info", "error", "warn", "log") or level in _LEVELS):
                if level == "log":
                    # Its level is computed: at worst a warning.
                    level, text, *values = "warning", *values
                if isinstance(text, ast.Name):
                    known = [
                        (line, value)
                        for line, named, value in assigned
                        if named == text.id and line < node.lineno
                    ]
                    text = max(known, key=lambda each: each[0])[1] if known else text
                yield Statement(_LEVELS.get(level, level.upper()), where, _of_python(text, values))


def _of_python(text: ast.expr, values: list[ast.expr]) -> str:
    match text:
        case ast.Constant(value=str(said)):
            rest = iter(values)
            return re.sub(
                r"%(?:\((\w+)\))?[-+# 0]*\d*(?:\.\d+)?[a-zA-Z]|%%",
                lambda found: "%" if found[0] == "%%" else f"{{{found[1] or _value(next(rest, None))}}}",
                said,
            )
        case ast.JoinedStr(values=parts):
            return "".join(
                str(each.value) if isinstance(each, ast.Constant) else f"{{{_value(each)}}}" for each in parts
            )
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _of_python(left, values) + _of_python(right, [])
        case ast.BinOp(op=ast.Mod(), left=left, right=right):
            return _of_python(left, right.elts if isinstance(right, ast.Tuple) else [right])
        case ast.Call(func=ast.Attribute(value=left, attr="format"), args=right):
            return re.sub(r"\{\w*\}", "{}", _of_python(left, right))
    return f"{{{_value(text)}}}"


def _value(node: ast.AST | None) -> str:
    names = (
        [
            each.attr if isinstance(each, ast.Attribute) else each.id
            for each in ast.walk(node)
            if isinstance(each, ast.Attribute | ast.Name)
        ]
        if node
        else []
    )
    return names[0] if names else ""


_Language = Callable[[str, str], Iterator[Statement]]
LANGUAGES: Final[dict[str, _Language]] = {
    "java": _java,
    "librdkafka": _c,
    "franz-go": _franz,
    "sarama": _sarama,
    "kafka-go": _kafka_go,
    "kafkajs": _kafkajs,
    "python": _python,
}


def statements(language: str, files: Iterator[tuple[str, str]]) -> Iterator[Statement]:
    """Those in files, which are given as names and texts; blanks in a row count as one."""
    for name, source in files:
        for each in LANGUAGES[language](name, source):
            text = "\n".join(_FLOW.sub(" ", line).strip() for line in each.template.strip().split("\n"))
            yield each._replace(template=text.replace("\n", " ⏎ "))
