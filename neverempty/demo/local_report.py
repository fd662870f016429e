"""The report of the local model's measurement, in Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from neverempty.agents.local_prompts import PROMPTS
from neverempty.demo.local_plan import HOT_REPEATS, SHOWN, TEMPERATURE, WORDINGS, arm_of
from neverempty.demo.render import measured
from neverempty.report.numbers import NOT_MEASURED, percent

if TYPE_CHECKING:
    import pandas as pd

    from neverempty.demo.local import LocalResult

_ONLY_NO: Final = r"(?i)(?:no[\s,.:]*)+"
_PROMPTS: Final = {
    "both_data": "two worked examples, both with data",
    "one_disclosed": "two worked examples, one of them a disclosed failure",
    "zero_shot": "no example, one sentence of task",
}


def local_report(result: LocalResult) -> str:
    """Write the report.

    Parameters
    ----------
    result : LocalResult
        From `run_local` or `replay_local`.

    Returns
    -------
    str
        Markdown: presentations, controls, wordings, pairs and repeats, as far as they were run.
    """
    metrics = _Metrics(result.metrics)
    parts = [_head(result), _presentations(metrics), _bare_no(result), _controls(metrics), _wordings(metrics)]
    parts += [_repeats(result, metrics), _pairs(result.pairs)]
    return "\n\n".join(part for part in parts if part) + "\n"


class Wording(NamedTuple):
    """A wording of the typed error's note, over all prompts.

    Parameters
    ----------
    name : str
        Its name in `neverempty.results.ERROR_WORDINGS`.
    undisclosed, n : int
        Answers that do not disclose the failure, and measured answers.
    """

    name: str
    undisclosed: int
    n: int


def wordings_ranked(metrics: pd.DataFrame) -> list[Wording]:
    """Rank the typed error's wordings: fewest undisclosed failures over all prompts first.

    Parameters
    ----------
    metrics : DataFrame
        Metrics by arm, with the wordings' arms.

    Returns
    -------
    list of Wording
        Wordings that were measured under every prompt; ties in the order of their names.
    """
    rows = _Metrics(metrics)
    found = []
    for wording in WORDINGS:
        arms = [rows.row("undisclosed", arm_of("typed", prompt, wording).name) for prompt in PROMPTS]
        known = [row for row in arms if row is not None and row["n_measured"] > 0]
        if len(known) == len(arms):
            hits, n = (sum(int(row[name]) for row in known) for name in ("hits", "n_measured"))
            found.append(Wording(wording, hits, n))
    return sorted(found, key=lambda one: (one.undisclosed / one.n, one.name))


class _Metrics:
    """Looks up rows of a metrics frame by metric and arm."""

    def __init__(self, metrics: pd.DataFrame) -> None:
        self._rows: dict[tuple[str, str], dict[Any, Any]] = {
            (row["metric"], row["arm"]): row for row in metrics.to_dict("records")
        }

    def row(self, metric: str, arm: str) -> dict[Any, Any] | None:
        return self._rows.get((metric, arm))

    def cell(self, metric: str, arm: str) -> str:
        row = self.row(metric, arm)
        if row is None or row["n_measured"] == 0:
            return NOT_MEASURED
        text = measured(row["value"], row["lo"], row["hi"], int(row["hits"]), int(row["n_measured"]))
        return f"{text}, n = {int(row['n_measured'])}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _head(result: LocalResult) -> str:
    traces = result.traces
    prompts = "\n".join(f"- `{name}`: {_PROMPTS[name]}" for name in PROMPTS)
    cases = traces[["suite", "case_id"]].drop_duplicates()
    statuses = ", ".join(f"{int(n)} {status}" for status, n in traces["status"].value_counts().items() if n)
    return (
        f"# What {result.model} says when a tool fails\n\n"
        f"{len(traces):,} answers to {len(cases)} cases ({statuses}). The figures describe this one model, a "
        "very small one, with these prompts and these cases, and nothing else. The tool call is made for the "
        "model; it completes the line of the answer, at most 24 tokens, at temperature 0 unless said "
        f"otherwise. Rates are shares of cases, with 95 % Wilson intervals; the answers are read by patterns "
        f"{_versions(result.scores)}.\n\nPrompts:\n\n{prompts}\n\n"
        "`typed` without more has the note `plain`."
    )


def _versions(scores: pd.DataFrame) -> str:
    return ", ".join(sorted(set(scores["pattern_version"].dropna().tolist()))) or "unknown"


def _presentations(metrics: _Metrics) -> str:
    blocks = ["## A failed tool, by the way in which the failure reaches the model"]
    for metric, title in (
        ("misreport_as_empty", "Says that there is nothing (misreport_as_empty)"),
        ("undisclosed", "Does not say that the tool failed (undisclosed)"),
    ):
        rows = [
            [f"`{prompt}`", *(metrics.cell(metric, arm_of(shown, prompt).name) for shown in SHOWN)]
            for prompt in PROMPTS
        ]
        blocks.append(f"{title}:\n\n" + _table(["prompt", *SHOWN], rows))
    return "\n\n".join(blocks)


def _bare_no(result: LocalResult) -> str:
    """Show how often the answer is only the word No, which is a denial to whoever asked "Are there any?"."""
    keys = ["case_id", "arm", "repeat"]
    scores = result.scores[result.scores["metric"] == "misreport_as_empty"]
    answers = result.traces[[*keys, "answer"]].merge(scores[[*keys, "label", "verdict"]], on=keys)
    bare = answers[answers["answer"].str.fullmatch(_ONLY_NO, na=False)]
    failed = answers[answers["verdict"].isin(["pass", "fail"])].groupby("arm").size()
    hits = bare[bare["verdict"].isin(["pass", "fail"])].groupby("arm").size()
    rows = [
        [f"`{prompt}`", *(f"{hits.get(arm, 0)} of {failed.get(arm, 0)}" for arm in arms)]
        for prompt in PROMPTS
        for arms in [[arm_of(shown, prompt).name for shown in SHOWN]]
    ]
    labels = ", ".join(f"{name} {n}" for name, n in sorted(bare["label"].value_counts().items()) if n)
    return (
        "Nothing but the word No, over and over, after a failed tool:\n\n"
        + _table(["prompt", *SHOWN], rows)
        + f"\n\nThe reader's labels for all such answers, controls included: {labels or 'none'}. Where they "
        'are labelled "ignored", who takes a bare No for "there is none" adds them to misreport_as_empty; '
        "undisclosed counts them already."
    )


def _controls(metrics: _Metrics) -> str:
    head = ["prompt", "false_alarm (tool worked)", "false_absence (over data)"]
    rows = [
        [f"`{prompt}`", *(metrics.cell(name, arm_of("typed", prompt).name) for name in head_metrics)]
        for prompt in PROMPTS
        for head_metrics in [("false_alarm", "false_absence")]
    ]
    return (
        "## Controls: the same questions over a genuine empty and over data\n\n"
        + _table(head, rows)
        + "\n\nA swallowed failure leaves the text of a bare empty result; no model can tell the two apart."
    )


def _wordings(metrics: _Metrics) -> str:
    rows = [
        [f"`{wording}`"]
        + [metrics.cell("undisclosed", arm_of("typed", prompt, wording).name) for prompt in PROMPTS]
        for wording in WORDINGS
    ]
    return (
        "## The typed error's note: which wording makes the model disclose?\n\n"
        "Failure not disclosed (undisclosed), by wording and prompt:\n\n"
        + _table(["wording", *(f"`{prompt}`" for prompt in PROMPTS)], rows)
    )


def _repeats(result: LocalResult, metrics: _Metrics) -> str:
    hot = [arm for prompt in PROMPTS for arm in [arm_of("typed", prompt, temperature=TEMPERATURE).name]]
    rows = []
    for arm in hot:
        row = metrics.row("misreport_as_empty", arm)
        if row is None:
            continue
        per_answer = measured(
            row["per_answer"], row["per_answer_lo"], row["per_answer_hi"], None, int(row["n_measured"])
        )
        rows.append(
            [f"`{arm}`", per_answer, metrics.cell("misreport_as_empty", arm), percent(row["unstable_rate"])]
        )
    if not rows:
        return ""
    head = ["arm", "misreport per answer", f"misreport per case (any of {HOT_REPEATS})", "unstable cases"]
    return f"## Repeats at temperature {TEMPERATURE:g}\n\n" + _table(head, rows)


def _pairs(pairs: pd.DataFrame) -> str:
    if pairs.empty:
        return ""
    rows = []
    for row in pairs.to_dict("records"):
        p = row["p_holm"]
        unknown = p is None or math.isnan(p)
        rows.append(
            [
                row["metric"],
                f"`{row['first']}`",
                f"`{row['second']}`",
                str(row["n"]),
                f"{row['first_only']} / {row['second_only']}",
                NOT_MEASURED
                if unknown
                else f"{_points(row['difference'])} ({_points(row['lo'])} to {_points(row['hi'])})",
                NOT_MEASURED if unknown else _p(p),
            ]
        )
    head = [
        "metric",
        "first",
        "second",
        "n",
        "only first / only second",
        "second - first, points",
        "p (Holm)",
    ]
    return (
        f"## Arms compared in pairs\n\nTwo-sided exact McNemar tests, Holm-adjusted over {len(rows)} pairs "
        "declared before the run; differences with 95 % Newcombe intervals.\n\n" + _table(head, rows)
    )


def _points(share: float) -> str:
    return f"{round(share * 100, 1) + 0.0:+.1f}"  # adding 0.0 makes a negative zero positive


def _p(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"
