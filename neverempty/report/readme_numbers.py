"""The numbers of a README, generated from committed reports, so that none of them is ever out of date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from neverempty._errors import InputError
from neverempty.report import numbers
from neverempty.report.escape import markdown
from neverempty.report.export_judged import shown_metrics
from neverempty.report.json_export import shown_value
from neverempty.report.model import Report

START: Final = "<!-- numbers:start -->"
END: Final = "<!-- numbers:end -->"

_TITLES: Final = {
    "misreport_as_empty": "The answer claims that there is nothing (misreport_as_empty):",
    "false_alarm": "The tool worked, and the answer says that it failed (false_alarm):",
    "undisclosed": "The answer does not say that the tool failed (undisclosed):",
}
_CODE: Final = re.compile(r"[\w ./:=+-]+")


class Source(NamedTuple):
    """Where numbers of a README come from.

    Parameters
    ----------
    place : str
        The report's folder, as the README links to it.
    metrics : DataFrame
        Metrics, by arm where there are several.
    arms : tuple of mapping
        ``name``, ``presentation`` and ``prompt`` of each arm.
    n_cases, repeats : int
        Size of the run.
    models : tuple of str
        Who answered.
    rules : str
        Version of the rules that read the answers.
    """

    place: str
    metrics: pd.DataFrame
    arms: tuple[Mapping[str, Any], ...]
    n_cases: int
    repeats: int
    models: tuple[str, ...]
    rules: str


def source_of(report: Report, place: str) -> Source:
    """Take from a report what a README says of it.

    Parameters
    ----------
    report : Report
        The report.
    place : str
        Its folder, as the README links to it.

    Returns
    -------
    Source
        Without the numbers of judges nobody knows.
    """
    known = report.provenance
    arms = known.get("arm_settings") or [{"name": name} for name in report.outcomes["arm"].unique().tolist()]
    return Source(
        place,
        shown_metrics(report),
        tuple(arms),
        int(known.get("n_cases") or 0),
        int(known.get("repeats") or 0),
        tuple(known.get("resolved_models") or ()),
        str(known.get("pattern_version") or "not known"),
    )


def region(sources: Iterable[Source]) -> str:
    """Write the numbers.

    Parameters
    ----------
    sources : iterable of Source
        The reports, in the order of the README.

    Returns
    -------
    str
        Markdown between the two markers, without them.
    """
    return "\n".join(_block(source) for source in sources)


def _block(source: Source) -> str:
    models = ", ".join(markdown(name) for name in source.models) or "no model that is known"
    size = f"{numbers.count(source.n_cases, 'case')} × {numbers.count(source.repeats, 'repeat')}"
    place = markdown(source.place)
    head = (
        f"{size}, {numbers.count(len(source.arms), 'arm')}, {models}. Shares of cases with 95 % intervals; "
        f"answers read by\nrules {markdown(source.rules)}; from "
        f"[{place}]({source.place.replace(' ', '%20')}). They describe this run and nothing else.\n"
    )
    rows = _rows(source)
    asked = [name for name in _TITLES if any(metric == name for metric, _ in rows)]
    grid = _grid(source.arms)
    if grid is None:
        lines = [["arm", *asked], ["---"] * (len(asked) + 1)]
        lines += [[_code(arm), *(_cell(rows, name, arm) for name in asked)] for arm in _names(source.arms)]
        return f"{head}\n{_table(lines)}"
    tables = [f"{_TITLES[name]}\n\n{_table(_grid_lines(rows, name, grid))}" for name in asked]
    return "\n".join([head, *tables])


def _rows(source: Source) -> dict[tuple[str, str], dict[Any, Any]]:
    """Find rows by metric and arm; a frame of one arm does not name it."""
    only = _names(source.arms)[0] if len(source.arms) == 1 else ""
    return {
        (str(row["metric"]), str(row.get("arm", only))): row
        for row in source.metrics.to_dict("records")
        if row["n_applicable"] > 0
    }


def _names(arms: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(arm["name"]) for arm in arms]


def _grid(arms: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]] | None:
    """Order arms by prompt and presentation, where each combination of several of both is there once."""
    grid: dict[str, dict[str, str]] = {}
    for arm in arms:
        cells = grid.setdefault(str(arm.get("prompt")), {})
        if cells.setdefault(str(arm.get("presentation")), str(arm["name"])) != arm["name"]:
            return None
    shapes = {tuple(cells) for cells in grid.values()}
    return grid if len(grid) > 1 and len(shapes) == 1 and len(min(shapes)) > 1 else None


def _grid_lines(
    rows: dict[tuple[str, str], dict[Any, Any]], metric: str, grid: dict[str, dict[str, str]]
) -> list[list[str]]:
    shown = list(next(iter(grid.values())))
    lines = [["prompt", *shown], ["---"] * (len(shown) + 1)]
    lines += [
        [_code(prompt), *(_cell(rows, metric, arm) for arm in cells.values())]
        for prompt, cells in grid.items()
    ]
    return lines


def _cell(rows: dict[tuple[str, str], dict[Any, Any]], metric: str, arm: str) -> str:
    row = rows.get((metric, arm))
    if row is None or not row["n_measured"]:
        return numbers.NOT_MEASURED
    between = numbers.interval(row["lo"], row["hi"], int(row["n_measured"]))
    return shown_value(row) + (f" ({between})" if between else "") + f", n = {int(row['n_measured'])}"


def _code(name: str) -> str:
    return f"`{name}`" if _CODE.fullmatch(name) else markdown(name)


def _table(lines: list[list[str]]) -> str:
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def replaced(readme: str, numbers_text: str, place: str = "README.md") -> str:
    r"""Put numbers between the markers of a README.

    Parameters
    ----------
    readme : str
        Its text.
    numbers_text : str
        From `region`.
    place : str
        Its name, for messages.

    Returns
    -------
    str
        The text with the new numbers; the same where they were up to date.

    Raises
    ------
    InputError
        Where the markers are not there exactly once, in order.

    Examples
    --------
    >>> replaced("<!-- numbers:start -->\nold\n<!-- numbers:end -->\n", "new\n").split("\n")[1]
    'new'
    """
    if readme.count(START) != 1 or readme.count(END) != 1 or readme.index(START) > readme.index(END):
        raise InputError(f"{place}: needs the lines {START} and {END} once each, in this order")
    before, rest = readme.split(START)
    return f"{before}{START}\n{numbers_text}{END}{rest.split(END)[1]}"
