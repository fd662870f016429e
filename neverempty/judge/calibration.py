"""How far a judge agrees with people, and what may be published of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neverempty._errors import InputError, UsageError
from neverempty.judge.asking import Judge
from neverempty.judge.labels import INJECTION, Labelled, read_judged, read_labels
from neverempty.judge.verdicts import VERDICTS
from neverempty.stats import (
    ClassScore,
    ConfusionMatrix,
    CorrectedRate,
    Estimate,
    JudgeTrust,
    Kappa,
    class_scores,
    cohen_kappa,
    confusion_matrix,
    corrected_rate,
    gwet_ac1,
    judge_trust,
    wilson_interval,
)

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.judge.labels import Labels

ENOUGH_JUDGED: Final = 0.9
"""Share of the labelled claims that a judge must have judged for its agreement to count."""


@dataclass(frozen=True)
class Slice:
    """The agreement on the claims of one language.

    Parameters
    ----------
    language : str
        The language; ``"not named"`` without one.
    n : int
        Claims labelled by both.
    agreement, kappa : Estimate
        As over all.
    trust : JudgeTrust
        ``not_measured`` where the labels are too few to say.
    """

    language: str
    n: int
    agreement: Estimate
    kappa: Kappa
    trust: JudgeTrust


@dataclass(frozen=True)
class Calibration:
    """The agreement of one judge with people.

    Parameters
    ----------
    judge_id : str or None
        Hash of model, prompt and rubric; the agreement belongs to it alone.
    matrix : ConfusionMatrix
        Rows are people's labels, columns the judge's.
    n_labels : int
        Claims with a human label.
    n_judged : int
        Of these, with a verdict of the judge.
    unparsed, abstained : tuple of str
        Claims on which the judge gave no usable reply, or was not sure enough.
    n_cant_tell : int
        Claims on which the annotator could not tell; they are in no other count.
    agreement : Estimate
        Share of judged claims on which both agree.
    kappa : Kappa
        Cohen's; without a value, with the reason, where chance agreement is certain.
    ac1 : Estimate
        Gwet's, an explanation beside kappa, never in its place.
    classes : tuple of ClassScore
        Precision and recall of each label.
    trust : JudgeTrust
        What may be published.
    slices : tuple of Slice
        By language.
    injections : Estimate
        Share of the claims with planted orders on which the judge said what people said.
    """

    judge_id: str | None
    matrix: ConfusionMatrix
    n_labels: int
    n_judged: int
    unparsed: tuple[str, ...]
    abstained: tuple[str, ...]
    n_cant_tell: int
    agreement: Estimate
    kappa: Kappa
    ac1: Estimate
    classes: tuple[ClassScore, ...]
    trust: JudgeTrust
    slices: tuple[Slice, ...]
    injections: Estimate

    @property
    def enough_judged(self) -> bool:
        """Whether so many of the labelled claims were judged that the agreement counts."""
        return self.n_labels > 0 and self.n_judged >= ENOUGH_JUDGED * self.n_labels

    def facts(self) -> dict[str, Any]:
        """Give what a report's provenance says of a judge.

        Returns
        -------
        dict
            Agreement, kappa with its interval, counts, trust and the judge's hash; numbers that are not
            defined are None.
        """
        return {
            "agreement": self.agreement.value,
            "kappa": self.kappa.value,
            "lo": self.kappa.lo,
            "hi": self.kappa.hi,
            "n": self.n_judged,
            "n_labels": self.n_labels,
            "trust": self.trust.level if self.enough_judged else "cut",
            "reason": self.trust.reason
            if self.enough_judged
            else f"only {self.n_judged} of {self.n_labels} labelled claims were judged",
            "judge_id": self.judge_id,
        }

    def corrected(
        self, flagged: int, n: int, verdict: str = "contradicted", *, judge_id: str | None = None
    ) -> CorrectedRate:
        """Correct the share of claims to which the judge gave a verdict for its sensitivity and specificity.

        Parameters
        ----------
        flagged, n : int
            Claims with that verdict, and judged claims.
        verdict : str, default "contradicted"
            The verdict.
        judge_id : str, optional
            The judge that judged them; another one than was calibrated makes the calibration stale.

        Returns
        -------
        CorrectedRate
            With an interval that covers both sources of error.

        Raises
        ------
        UsageError
            For an unknown verdict.
        """
        if verdict not in VERDICTS:
            raise UsageError(f"there is no verdict {verdict!r}; there are {', '.join(VERDICTS)}")
        at, counts = self.matrix.labels.index(verdict), self.matrix.counts
        tp, m_pos = counts[at][at], sum(counts[at])
        m_neg = self.matrix.n - m_pos
        tn = m_neg - (sum(row[at] for row in counts) - tp)
        asked = self.judge_id if judge_id else None
        return corrected_rate(
            flagged, n, tp, m_pos, tn, m_neg, calibrated_for=asked, used_judge=judge_id or None
        )

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values for JSON; what is not defined is None, never NaN."""
        return {
            **self.facts(),
            "labels": list(self.matrix.labels),
            "matrix": [list(row) for row in self.matrix.counts],
            "ac1": self.ac1.value,
            "kappa_reason": self.kappa.reason or None,
            "unparsed": list(self.unparsed),
            "abstained": list(self.abstained),
            "cant_tell": self.n_cant_tell,
            "classes": [
                {"label": one.label, "precision": one.precision.value, "recall": one.recall.value}
                for one in self.classes
            ],
            "slices": [
                {
                    "language": one.language,
                    "n": one.n,
                    "agreement": one.agreement.value,
                    "kappa": one.kappa.value,
                    "trust": one.trust.level,
                }
                for one in self.slices
            ],
            "injections": {
                "held": round((self.injections.value or 0) * self.injections.n),
                "n": self.injections.n,
            },
        }

    def frame(self) -> pd.DataFrame:
        """Give the matrix as a frame: people's labels down, the judge's across, with what it left open."""
        import pandas as pd

        labels = list(self.matrix.labels)
        frame = pd.DataFrame([list(row) for row in self.matrix.counts], index=labels, columns=labels)
        frame["no verdict"] = [self.matrix.judge_abstained.get(label, 0) for label in labels]
        return frame.rename_axis("people").rename_axis("judge", axis="columns")


def calibrate(
    labels: Labels,
    judged: str | os.PathLike[str] | Mapping[str, str] | None = None,
    *,
    judge: Judge | None = None,
    min_kappa: float = 0.6,
) -> Calibration:
    """Measure how far a judge agrees with people.

    Parameters
    ----------
    labels : path-like, DataFrame or iterable of mapping
        Human labels, as for `read_labels`.
    judged : path-like or mapping, optional
        What the judge said, by claim: a JSONL file with ``id``, ``outcome`` and ``judge_id``, or a mapping of
        id to outcome. Without it, the labels' own ``judge_label``.
    judge : Judge, optional
        Asked about every labelled claim, where there is no ``judged``.
    min_kappa : float, default 0.6
        What kappa's lower bound must reach for trust.

    Returns
    -------
    Calibration
        Matrix, agreement, kappa, trust, slices by language. A reply that could not be used is counted and
        listed, never mapped to a label.

    Raises
    ------
    InputError
        Where labels cannot be read, or come from several judges.
    UsageError
        Where nothing says what the judge said.

    Examples
    --------
    >>> rows = [{"id": str(i), "label": "supported", "judge_label": "supported"} for i in range(5)]
    >>> found = calibrate(rows)
    >>> found.agreement.value, found.kappa.value, found.kappa.status
    (1.0, None, 'undefined')
    """
    known = read_labels(labels)
    outcomes, judge_id = _outcomes(known, judged, judge)
    told = [one for one in known if one.label is not None]
    silent = {
        name: [one.id for one in told if outcomes.get(one.id) == name]
        for name in ("judge_error", "abstained")
    }
    verdicts = {name: said if said in VERDICTS else None for name, said in outcomes.items()}
    matrix = _matrix(told, verdicts)
    kappa = cohen_kappa(matrix)
    agree = sum(matrix.counts[at][at] for at in range(len(VERDICTS)))
    planted = [one for one in told if INJECTION in one.tags]
    held = sum(verdicts.get(one.id) == one.label for one in planted)
    return Calibration(
        judge_id,
        matrix,
        len(told),
        matrix.n,
        tuple(silent["judge_error"]),
        tuple(silent["abstained"]),
        len(known) - len(told),
        wilson_interval(agree, matrix.n),
        kappa,
        gwet_ac1(matrix.counts),
        class_scores(matrix),
        judge_trust(kappa, min_kappa),
        tuple(_slices(told, verdicts, min_kappa)),
        wilson_interval(held, len(planted)),
    )


def _outcomes(labels: list[Labelled], judged: Any, judge: Judge | None) -> tuple[dict[str, str], str | None]:
    """Give the judge's outcomes by claim, and which judge it was."""
    if isinstance(judged, Mapping):
        return {str(name): str(said) for name, said in judged.items()}, None
    if judged is not None:
        replayed = read_judged(judged)
        return {name: said for name, (said, _) in replayed.items()}, _only(of for _, of in replayed.values())
    if judge is not None:
        said = {one.id: judge.judge(one.claim, one.evidence).outcome for one in labels if one.label}
        return dict(said), judge.judge_id
    found = {one.id: one.judged for one in labels if one.judged is not None}
    if labels and not found:
        raise UsageError(
            "nothing says what the judge said; give judged=, judge=, or labels with a judge_label"
        )
    return found, _only(one.judge_id for one in labels if one.judged is not None)


def _only(judges: Iterable[str | None]) -> str | None:
    named = sorted({one for one in judges if one is not None})
    if len(named) > 1:
        raise InputError(
            f"the verdicts come from {len(named)} judges ({', '.join(named[:3])}); agreement belongs to one"
        )
    return named[0] if named else None


def _matrix(labels: list[Labelled], verdicts: Mapping[str, str | None]) -> ConfusionMatrix:
    people = [one.label for one in labels]
    return confusion_matrix(people, [verdicts.get(one.id) for one in labels], VERDICTS)


def _slices(labels: list[Labelled], verdicts: Mapping[str, str | None], min_kappa: float) -> Iterable[Slice]:
    for language in sorted({one.language or "not named" for one in labels}):
        part = _matrix([one for one in labels if (one.language or "not named") == language], verdicts)
        kappa = cohen_kappa(part)
        agree = sum(part.counts[at][at] for at in range(len(VERDICTS)))
        yield Slice(language, part.n, wilson_interval(agree, part.n), kappa, judge_trust(kappa, min_kappa))
