"""What every export says, in one order: the verdict first, where it comes from last."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from neverempty._errors import UsageError
from neverempty.report.export_cases import CaseList, cases_table, list_cases
from neverempty.report.export_health import Health, health_of, health_table, unmeasured_table
from neverempty.report.export_judged import shown_metrics, untrusted
from neverempty.report.judged_rates import JUDGED_REMARK, judged_table
from neverempty.report.model import Report
from neverempty.report.reading import REMARK, reading_table
from neverempty.report.status import allows_numbers
from neverempty.report.tables import Table, honesty_tables, metrics_table, provenance_rows

if TYPE_CHECKING:
    import pandas as pd

Tone = Literal["good", "bad", "unsure", "plain"]


class Gated(Protocol):
    """What an export needs of a gate's decision; `neverempty.gating.Decision` has it."""

    @property
    def verdict(self) -> str: ...
    @property
    def exit_code(self) -> int: ...
    @property
    def rules(self) -> Sequence[Any]: ...
    @property
    def warnings(self) -> Sequence[str]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def comparison(self) -> Any: ...
    @property
    def report(self) -> Report | None: ...
    def tables(self) -> list[Table]:
        """Lay the decision out."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Return the decision as strict JSON."""
        ...


class Heading(NamedTuple):
    """The first line of an export.

    Parameters
    ----------
    word : str
        The verdict in a word or two.
    sentence : str
        Why, in one sentence.
    tone : str
        How it should look.
    """

    word: str
    sentence: str
    tone: Tone


class Section(NamedTuple):
    """A part of an export.

    Parameters
    ----------
    key : str
        Its name in links.
    title : str
        Its heading.
    tables : tuple of Table
        What it shows.
    remark : str
        A sentence under the heading, or empty.
    """

    key: str
    title: str
    tables: tuple[Table, ...]
    remark: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Content:
    """All that an export shows, not escaped.

    Parameters
    ----------
    report : Report
        The report.
    decision : Gated or None
        What a gate decided about it.
    heading : Heading
        The verdict.
    metrics : DataFrame
        The metrics as far as they may be shown.
    comparison : Comparison or None
        The decision's, without the metrics of a judge nobody knows.
    cases : CaseList
        The cases that are shown.
    health : list of Health
        The components, the worst first.
    sections : tuple of Section
        In the order of reading.
    """

    report: Report
    decision: Gated | None
    heading: Heading
    metrics: pd.DataFrame
    comparison: Any
    cases: CaseList
    health: list[Health]
    sections: tuple[Section, ...]


_FLIPS: Final = "Flipped cases"
_VERDICTS: Final[dict[str, tuple[str, Tone]]] = {
    "pass": ("Pass", "good"),
    "regression": ("Regression", "bad"),
    "must_pass": ("Must-pass case failed", "bad"),
    "inconclusive": ("Inconclusive", "unsure"),
    "invalid": ("Invalid input", "unsure"),
}


def content_of(subject: Report | Gated) -> Content:
    """Collect what an export of a report or a decision says.

    Parameters
    ----------
    subject : Report or Decision
        A decision must know the report that it is about.

    Returns
    -------
    Content
        Plain text and frames.

    Raises
    ------
    UsageError
        For a decision about frames, which have no provenance.
    """
    decision = None if isinstance(subject, Report) else subject
    report = subject if isinstance(subject, Report) else subject.report
    if report is None:
        raise UsageError(
            "the decision is about frames; gate a Report, which knows where its numbers come from"
        )
    metrics, cases, health = shown_metrics(report), list_cases(report), health_of(report)
    comparison = None if decision is None else _trusted(decision.comparison, untrusted(report))
    sections = (
        _decided(report, decision),
        _honesty(report),
        Section("metrics", "Metrics", (metrics_table(metrics),), _measured(report)),
        *_compared(comparison),
        Section("reading", "The reader's error", (reading_table(report.corrected),), REMARK),
        *_judged(report),
        Section("cases", "Fault cases", (cases_table(cases),)),
        Section("unmeasured", "Not measured", (unmeasured_table(report),)),
        Section("health", "Health", (health_table(health),)),
        Section("provenance", "Provenance", (provenance_rows(report.provenance),)),
    )
    kept = tuple(one for one in map(_with_rows, sections) if one.tables or one.remark)
    return Content(report, decision, heading_of(report, decision), metrics, comparison, cases, health, kept)


def _judged(report: Report) -> tuple[Section, ...]:
    judged = report.judged
    if judged.empty:
        return ()
    return (Section("judged", "The judge's error", (judged_table(judged),), JUDGED_REMARK),)


def heading_of(report: Report, decision: Gated | None) -> Heading:
    """Say the verdict, and why.

    Parameters
    ----------
    report : Report
        The report.
    decision : Gated or None
        The gate's decision, if there is one.

    Returns
    -------
    Heading
        Without a gate nothing passes: a report is measured, or says why it is not.
    """
    if decision is not None:
        word, tone = _VERDICTS[decision.verdict]
        deciding = [rule.message for rule in decision.rules if rule.verdict == decision.verdict]
        more = len(decision.rules) - 1
        why = deciding[0] if deciding else "no rule of the gate fired"
        return Heading(word, why + (f" (and {more} more)" if more > 0 else ""), tone)
    if not allows_numbers(report.status):
        words = report.status.replace("_", " ").capitalize()
        return Heading(words, f"{report.status_reason}; no number is shown", "unsure")
    n, arms = report.provenance.get("n_cases"), len(report.provenance.get("arms") or ())
    what = f"{n} cases under {arms} arms" if arms > 1 else f"{n} cases"
    return Heading("Measured", f"{what}; nothing was gated", "plain")


def _decided(report: Report, decision: Gated | None) -> Section:
    tables: list[Table] = []
    if decision is not None:
        alone: Any = dataclasses.replace(decision, comparison=None)  # type: ignore[type-var]
        tables = alone.tables()
    elif report.warnings:
        tables = [Table("Warnings", ("warning",), [(text,) for text in report.warnings])]
    return Section("verdict", "What decided" if decision is not None else "Warnings", tuple(tables))


def _honesty(report: Report) -> Section:
    title = "What was said"
    tables = tuple(honesty_tables(report))
    remark = "" if tables else "The failure family was not scored, so nobody knows."
    return Section("honesty", title, tables, remark)


def _compared(comparison: Any) -> tuple[Section, Section]:
    """Part what changed from how well it could be compared."""
    tables: list[Table] = comparison.tables() if comparison is not None else []
    first = tuple(table for at, table in enumerate(tables) if not at or table.caption.startswith(_FLIPS))
    rest = tuple(table for table in tables if table not in first)
    return (
        Section("changes", "Against the baseline", first),
        Section("details", "How it compares", rest),
    )


def _measured(report: Report) -> str:
    return "" if allows_numbers(report.status) else f"Numbers are withheld: {report.status_reason}."


def _with_rows(section: Section) -> Section:
    return section._replace(tables=tuple(table for table in section.tables if table.rows))


def _trusted(comparison: Any, cut: set[str]) -> Any:
    """Take the rows of untrusted judges out of a comparison."""
    if comparison is None or not cut:
        return comparison
    frames = {
        name: frame[~frame["metric"].astype("str").isin(cut)].reset_index(drop=True)
        for name in ("metrics", "instability", "flips", "left_out", "usage")
        for frame in [getattr(comparison, name)]
    }
    return dataclasses.replace(comparison, **frames)
