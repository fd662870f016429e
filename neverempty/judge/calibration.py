"""How far a judge agrees with people, and what may be published of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neverempty._errors import InputError, UsageError
from neverempty.judge.asking import Judge
from neverempty.judge.correcting import correct_by_matrix
from neverempty.judge.labels import INJECTION, Labelled, read_judged, read_labels
from neverempty.judge.verdicts import OUTCOMES, VERDICTS, Judgement
from neverempty.stats import (
    ClassScore,
    ConfusionMatrix,
    CorrectedRate,
    Estimate,
    JudgeTrust,
    Kappa,
    LabelBudget,
    class_scores,
    cohen_kappa,
    confusion_matrix,
    gwet_ac1,
    judge_trust,
    kappa_label_budget,
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
    n_labels, n : int
        Claims with a human label, and of these with a verdict of the judge.
    agreement, kappa : Estimate
        As over all.
    trust : JudgeTrust
        ``not_measured`` where the labels are too few to say.
    """

    language: str
    n_labels: int
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
    unparsed, abstained, unasked : tuple of str
        Claims on which the judge gave no usable reply, was not sure enough, or of which it says nothing.
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
        What may be published: nothing where too few of the labelled claims were judged, however well.
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
    unasked: tuple[str, ...]
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
            "trust": self.trust.level,
            "reason": self.trust.reason,
            "judge_id": self.judge_id,
            "labels": list(self.matrix.labels),
            "matrix": [list(row) for row in self.matrix.counts],
        }

    def labels_for_trust(self, min_kappa: float = 0.6) -> LabelBudget | None:
        """Tell how many labels would make a judge of this kappa trusted, four times out of five.

        Parameters
        ----------
        min_kappa : float, default 0.6
            What kappa's lower bound must reach.

        Returns
        -------
        LabelBudget or None
            With people's labels in the shares that they have here; None where no number of labels would do,
            or kappa is not known.
        """
        kappa = self.kappa.value
        if kappa is None or kappa <= min_kappa:
            return None
        people = [sum(row) / self.matrix.n for row in self.matrix.counts]
        return kappa_label_budget(kappa, min_kappa, people)

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
        return correct_by_matrix(
            self.matrix.counts,
            self.matrix.labels,
            verdict,
            flagged,
            n,
            calibrated_for=self.judge_id if judge_id else None,
            used_judge=judge_id or None,
        )

    def as_dict(self) -> dict[str, Any]:
        """Give everything as plain values for JSON; what is not defined is None, never NaN."""
        return {
            **self.facts(),
            "ac1": self.ac1.value,
            "kappa_reason": self.kappa.reason or None,
            "unparsed": list(self.unparsed),
            "abstained": list(self.abstained),
            "unasked": list(self.unasked),
            "cant_tell": self.n_cant_tell,
            "classes": [
                {
                    "label": one.label,
                    "precision": _interval(one.precision),
                    "recall": _interval(one.recall),
                }
                for one in self.classes
            ],
            "slices": [
                {
                    "language": one.language,
                    "n_labels": one.n_labels,
                    "n": one.n,
                    "agreement": _interval(one.agreement),
                    "kappa": _interval(one.kappa),
                    "trust": one.trust.level,
                    "reason": one.trust.reason,
                }
                for one in self.slices
            ],
            "injections": _interval(self.injections),
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
    judged: str | os.PathLike[str] | Mapping[str, Judgement | str] | None = None,
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
        id to `Judgement` or outcome. Without it, the labels' own ``judge_label``.
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
        name: tuple(one.id for one in told if outcomes.get(one.id) == name)
        for name in ("judge_error", "abstained", None)
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
        silent["judge_error"],
        silent["abstained"],
        silent[None],
        len(known) - len(told),
        wilson_interval(agree, matrix.n),
        kappa,
        gwet_ac1(matrix.counts),
        class_scores(matrix),
        _trust(kappa, len(told), min_kappa),
        tuple(_slices(told, verdicts, min_kappa)),
        wilson_interval(held, len(planted)),
    )


def _trust(kappa: Kappa, n_labels: int, min_kappa: float) -> JudgeTrust:
    """Trust nobody who was silent on the hard claims: the agreement on the others flatters."""
    if kappa.n and kappa.n < ENOUGH_JUDGED * n_labels:
        return JudgeTrust("cut", f"only {kappa.n} of {n_labels} labelled claims were judged")
    return judge_trust(kappa, min_kappa)


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value, "lo": estimate.lo, "hi": estimate.hi, "n": estimate.n}


def _outcomes(labels: list[Labelled], judged: Any, judge: Judge | None) -> tuple[dict[str, str], str | None]:
    """Give the judge's outcomes by claim, and which judge it was."""
    if isinstance(judged, Mapping):
        plain = {name: said.outcome if isinstance(said, Judgement) else said for name, said in judged.items()}
        wrong = [name for name, said in plain.items() if said not in OUTCOMES]
        if wrong:
            raise InputError([f"{name!r}: {plain[name]!r:.60} is nothing a judge can say" for name in wrong])
        return plain, _only(said.judge_id for said in judged.values() if isinstance(said, Judgement))
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
        known = [one for one in labels if (one.language or "not named") == language]
        part = _matrix(known, verdicts)
        kappa = cohen_kappa(part)
        agree = sum(part.counts[at][at] for at in range(len(VERDICTS)))
        trust = _trust(kappa, len(known), min_kappa)
        yield Slice(language, len(known), part.n, wilson_interval(agree, part.n), kappa, trust)
