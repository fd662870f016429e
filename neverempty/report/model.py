"""The report: all frames of one evaluation with where they come from, in memory and in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from neverempty._errors import UsageError
from neverempty.report.files import load_report, save_report
from neverempty.report.status import ReportStatus, Status, allows_numbers

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.judge import Calibration

FRAMES: Final = ("traces", "scores", "outcomes", "metrics")


class Report:
    """What one evaluation found.

    Made by `evaluate` and `make_report`, saved to and loaded from a folder. A loaded report reads each frame
    when it is first asked for.

    Parameters
    ----------
    frames : mapping of str to DataFrame
        The frames ``traces``, ``scores``, ``outcomes`` and ``metrics``.
    provenance : mapping
        Where the numbers come from, as strict JSON.
    status : Status
        Status and the sentence that explains it.
    source : path-like, optional
        Folder from which frames that are not given are read.
    """

    def __init__(
        self,
        frames: Mapping[str, pd.DataFrame],
        provenance: Mapping[str, Any],
        status: Status,
        source: str | os.PathLike[str] | None = None,
    ) -> None:
        self._frames = dict(frames)
        self._source = None if source is None else Path(source)
        self.provenance = dict(provenance)
        self._status = status

    @property
    def status(self) -> ReportStatus:
        """``ok``, or why the report is less than a whole measured run."""
        return self._status.status

    @property
    def status_reason(self) -> str:
        """One sentence about the status; empty for ``ok``."""
        return self._status.reason

    @property
    def traces(self) -> pd.DataFrame:
        """One row per case, arm and repeat."""
        return self._frame("traces")

    @property
    def calls(self) -> pd.DataFrame:
        """One row per tool call."""
        from neverempty.frames import calls_frame

        return calls_frame(self.traces)

    @property
    def scores(self) -> pd.DataFrame:
        """One row per case, arm, repeat and metric."""
        return self._frame("scores")

    @property
    def outcomes(self) -> pd.DataFrame:
        """One row per case, arm and metric."""
        return self._frame("outcomes")

    @property
    def metrics(self) -> pd.DataFrame:
        """One row per metric, and group."""
        return self._frame("metrics")

    @property
    def honesty(self) -> pd.DataFrame:
        """What happened × what was said, per arm; counts alone where the status allows no numbers."""
        from neverempty.metrics import honesty_table

        table = honesty_table(self.scores)
        return table if allows_numbers(self.status) else table.assign(share=float("nan"))

    @property
    def corrected(self) -> pd.DataFrame:
        """The headline rates per answer, corrected for the reader's error, where numbers are allowed."""
        from neverempty.metrics import correct_for_reading
        from neverempty.report.reading import earned_correction

        return earned_correction(correct_for_reading(self.outcomes), self.status)

    @property
    def judged(self) -> pd.DataFrame:
        """The shares of claims that trusted judges flagged, corrected for the judges' errors."""
        from neverempty.report.export_judged import is_trusted, judged_metrics
        from neverempty.report.judged_rates import correct_for_judge
        from neverempty.report.reading import earned_correction

        trusted = {name: facts for name, facts in judged_metrics(self).items() if is_trusted(facts)}
        return earned_correction(correct_for_judge(self.scores, trusted), self.status)

    def with_calibration(self, calibration: Calibration) -> Self:
        """Say how far the judge of this report's metrics agrees with people.

        Parameters
        ----------
        calibration : Calibration
            From `neverempty.judge.calibrate`. It counts for the metrics that the very judge scored which it
            is about; those of another model, prompt or rubric stay without agreement.

        Returns
        -------
        Report
            The same report, whose trusted and provisional judged numbers are shown.

        Raises
        ------
        UsageError
            Where none of the metrics was scored by that judge.
        """
        from neverempty.report.export_judged import JUDGES, metrics_of_judge

        names = metrics_of_judge(self.scores, calibration.judge_id)
        if not names:
            raise UsageError(
                f"no metric here was scored by the judge {calibration.judge_id!r}: its agreement is that of "
                "another model, prompt or rubric"
            )
        known = dict(self.provenance.get(JUDGES) or {})
        provenance = self.provenance | {JUDGES: known | {name: calibration.facts() for name in names}}
        return type(self)(self._frames, provenance, self._status, source=self._source)

    @property
    def warnings(self) -> list[str]:
        """What a reader must know about the suite, as that every case passes everything."""
        from neverempty.report.status import ceiling

        text = ceiling(self.outcomes) if allows_numbers(self.status) else None
        return [text] if text else []

    def _frame(self, name: str) -> pd.DataFrame:
        if name not in self._frames:
            from neverempty.report.files import load_frame

            self._frames[name] = load_frame(self._source, name)
        return self._frames[name]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the report into a folder: one JSONL file per frame, and ``report.json``.

        Every file is first written in full beside its place, then all are moved there, ``report.json`` with
        the digests of the others last: a reader never takes a half-saved report for a whole one. Other files
        of the folder are left alone.

        Parameters
        ----------
        folder : path-like
            Made where it does not exist.

        Returns
        -------
        pathlib.Path
            The folder.
        """
        frames = {name: self._frame(name) for name in FRAMES}
        return save_report(folder, frames, self.provenance, self._status)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read a report that `save` wrote.

        Parameters
        ----------
        folder : path-like
            The folder.

        Returns
        -------
        Report
            Equal to the one that was saved.

        Raises
        ------
        InputError
            Where there is no report, or its files do not belong together.
        """
        provenance, status = load_report(folder)
        return cls({}, provenance, status, source=folder)

    def render(self, to: Literal["markdown", "html"] = "markdown") -> str:
        """Render the report for readers.

        Parameters
        ----------
        to : {"markdown", "html"}, default "markdown"
            The form; ``html`` is a fragment without scripts.

        Returns
        -------
        str
            The text, with everything that an agent wrote escaped.

        Raises
        ------
        UsageError
            For another form.
        """
        if to == "markdown":
            from neverempty.report.markdown import render_markdown

            return render_markdown(self)
        if to == "html":
            from neverempty.report.html_fragment import render_html

            return render_html(self)
        raise UsageError(f"render: {to!r} is neither 'markdown' nor 'html'")

    def to_markdown(self) -> str:
        """Render the report as Markdown.

        Returns
        -------
        str
            The text.
        """
        return self.render("markdown")

    def _repr_html_(self) -> str:
        return self.render("html")

    def __repr__(self) -> str:
        arms = ", ".join(map(str, self.provenance.get("arms") or ())) or "no arm"
        return (
            f"<Report: {self.status}, {self.provenance['n_cases']} cases, "
            f"{self.provenance['n_traces']} traces, arms: {arms}>"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Report):
            return NotImplemented
        return (
            self._status == other._status
            and self.provenance == other.provenance
            and all(self._frame(name).equals(other._frame(name)) for name in FRAMES)
        )

    __hash__ = None  # type: ignore[assignment]  # frames can change
