"""The page of `docs/reference/` on the questions that are asked of brokers."""

from collections.abc import Iterator
from itertools import groupby

from mockbroker.conformance.questions import all_questions
from mockbroker.conformance.registry import Question
from mockbroker.rig.client import api_name

_HEAD = """
What `mockbroker conformance ask` asks a broker, by API; `mockbroker conformance list` has the same. Where
no versions are named, a question is asked in each that broker and client have, and where no number of brokers
is, of a cluster of one. [conformance/README.md](../../conformance/README.md) says how another is added.
""".strip().splitlines()


def page() -> Iterator[str]:
    yield "# Questions"
    yield ""
    yield from _HEAD
    for api, questions in groupby(sorted(all_questions(), key=_api), _api):
        yield ""
        yield f"## {api_name(api)}"
        yield ""
        yield "| question | versions | brokers | |"
        yield "|---|---|--:|---|"
        for each in sorted(questions, key=lambda question: question.name):
            about = " ".join(each.doc.split()).replace("|", "\\|")
            brokers = each.brokers if each.brokers > 1 else ""
            yield f"| `{each.name}` | {_versions(each)} | {brokers} | {about} |"


def _api(question: Question) -> str:
    return question.api


def _versions(question: Question) -> str:
    if question.at is not None:
        return ", ".join(map(str, sorted(question.at)))
    if question.newest_only:
        return "the newest"
    since = f"since {question.since}" if question.since else ""
    return " ".join(filter(None, (since, f"up to {question.until}" if question.until < 99 else "")))
