"""A report as tables of a terminal."""

from collections.abc import Iterator
from typing import Final

from rich.table import Table
from rich.text import Text

from ..report import Report
from ..verdicts import NOT_REACHED, NOT_SUPPORTED, RIGHT, Judged

_STYLES: Final = {RIGHT: "green", NOT_SUPPORTED: "dim", NOT_REACHED: "yellow"}


def tables(report: Report) -> Iterator[Table]:
    columns = report.columns
    scenarios = Table("scenario", *columns, title=report.client)
    for (scenario, answers), cells in report.rows():
        name = f"{scenario.name}\n  {answers.replace(', ', chr(10) + '  ')}" if answers else scenario.name
        told = [cell(cells[column]) if column in cells else Text("") for column in columns]
        scenarios.add_row(name, *told)
    yield scenarios
    if any(each.verdict.heard for each in report.accessing):
        told_users = Table("scenario", "user", "is told")
        for each in report.accessing:
            for heard in each.verdict.heard:
                told_users.add_row(each.cell.scenario.name, heard.user, Text(heard.told))
        yield told_users
    if report.behaviours:
        others = Table("behaviour", "scenario", "verdict")
        for each in report.behaviours:
            if each.verdict.word != RIGHT:
                others.add_row(each.cell.answers, each.cell.scenario.name, cell(each))
        right = sum(each.verdict.word == RIGHT for each in report.behaviours)
        others.caption = f"{right} other answers changed nothing"
        yield others


def cell(judged: Judged) -> Text:
    return Text(judged.told, "red" if judged.unexpected else _STYLES.get(judged.verdict.word, "yellow"))
