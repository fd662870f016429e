"""JUnit XML: a testcase per case and metric; no signal is an error, never a skip."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from neverempty.report.escape import plain
from neverempty.report.export_content import Content
from neverempty.report.export_judged import CUT, untrusted
from neverempty.report.status import allows_numbers

# What XML 1.0 cannot hold even as a reference, beyond what `plain` makes visible.
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST_TEXT: Final = 2_000
# A failed recovery is counted, and is nobody's failure.
_NO_CHECK: Final = ("recovered",)
_ASKS: Final = {"failure": "failed", "error": "has no signal"}


class TestCase(NamedTuple):
    """One testcase.

    Parameters
    ----------
    suite, classname, name : str
        Where it stands.
    kind : str
        Empty where it passed, else ``failure`` or ``error``.
    text : str
        Why.
    """

    suite: str
    classname: str
    name: str
    kind: str
    text: str


def junit(content: Content) -> str:
    """Write an export as JUnit XML.

    Parameters
    ----------
    content : Content
        What to write.

    Returns
    -------
    str
        XML 1.0: a suite for the gate and the report, and one per arm; what a judge without agreement said of
        a case is an error, whatever it said. The text of a failure is repeated in
        the body of its element, since some readers ignore the attribute.
    """
    suites: dict[str, list[TestCase]] = {}
    for case in [*_whole(content), *_outcomes(content)]:
        suites.setdefault(case.suite, []).append(case)
    every = [case for cases in suites.values() for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="neverempty" {_counts(every)}>']
    for name, cases in suites.items():
        lines.append(f"<testsuite name={_attribute(name)} {_counts(cases)}>")
        lines += map(_element, cases)
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _whole(content: Content) -> Iterator[TestCase]:
    report, decision = content.report, content.decision
    kind = "" if allows_numbers(report.status) else "error"
    yield TestCase("report", "neverempty.report", "status", kind, f"{report.status}: {report.status_reason}")
    if decision is None:
        return
    for at, rule in enumerate(decision.rules, 1):
        kind = "error" if rule.verdict in ("inconclusive", "invalid") else "failure"
        yield TestCase(
            "gate", "neverempty.gate", f"{at} {rule.name}", kind, f"{rule.verdict}: {rule.message}"
        )
    if not decision.rules:
        yield TestCase("gate", "neverempty.gate", "verdict", "", "")


def _outcomes(content: Content) -> Iterator[TestCase]:
    outcomes = content.report.outcomes
    apart = outcomes["metric"].isin(_NO_CHECK) | (outcomes["collapse"] == "median")
    asked = outcomes[~apart & (outcomes["verdict"].astype("str") != "not_applicable")]
    cut = untrusted(content.report)
    columns = ["suite", "case_id", "arm", "metric", "verdict", "reason", "hits", "n_measured", "n_repeats"]
    for row in asked[columns].to_dict("records"):
        kind = {"fail": "failure", "no_signal": "error"}.get(str(row["verdict"]), "")
        why = _why(row) if kind else ""
        if row["metric"] in cut:
            kind, why = "error", f"{row['metric']} is {CUT}"
        name = f"{row['case_id']}: {row['metric']}"
        yield TestCase(str(row["arm"]), f"{row['suite']}.{row['arm']}", name, kind, why)


def _why(row: dict[Any, Any]) -> str:
    reason = f": {row['reason']}" if isinstance(row["reason"], str) else ""
    if str(row["verdict"]) == "no_signal":
        return f"no signal in {row['n_repeats']} repeats{reason}"
    return f"{row['metric']} failed; hits in {row['hits']} of {row['n_measured']} measured repeats{reason}"


def _counts(cases: list[TestCase]) -> str:
    failures, errors = (sum(case.kind == kind for case in cases) for kind in ("failure", "error"))
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}" skipped="0"'


def _element(case: TestCase) -> str:
    opening = f"<testcase classname={_attribute(case.classname)} name={_attribute(case.name)}"
    if not case.kind:
        return f"{opening}/>"
    text = _xml(case.text)
    first = _attribute(case.text.partition("\n")[0])
    why = f'<{case.kind} type="{_ASKS[case.kind]}" message={first}>{escape(text)}</{case.kind}>'
    return f"{opening}>{why}</testcase>"


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", plain(text, _MOST_TEXT))


def _attribute(text: str) -> str:
    return quoteattr(_xml(text), {"\n": "&#10;", "\t": "&#9;"})
