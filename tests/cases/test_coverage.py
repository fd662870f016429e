"""Coverage says where cases are missing for the number that is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.cases import Case, coverage


def cases(*branches: tuple[str, str, str | None]) -> list[Case]:
    made: list[Case] = []
    for number, (suite, kind, language) in enumerate(branches):
        faults: list[dict[str, Any]] = [] if kind == "none" else [{"tool": "t", "kind": kind}]
        fields = {"id": str(number), "suite": suite, "language": language, "faults": faults}
        made.append(Case.model_validate({**fields, "input": {"payload": 1}}))
    return made


def test_every_branch_is_held_against_the_need() -> None:
    frame = coverage(cases(*[("s", "timeout", "en")] * 3, ("s", "empty", "en"), ("s", "none", "en")), need=2)
    rows = frame.set_index("fault_kind")[["n", "need", "missing", "status"]]
    assert rows.loc["timeout"].tolist() == [3, 2, 0, "ok"]
    assert rows.loc["empty"].tolist() == [1, 2, 1, "short"]


def test_what_is_absent_stands_with_no_case() -> None:
    frame = coverage(cases(("s", "timeout", "en"), ("s", "auth", "hi"), ("clean", "none", None)), need=1)
    counts = {(row.suite, row.fault_kind, row.language): row.n for row in frame.itertuples()}
    assert counts[("s", "timeout", "hi")] == 0
    assert counts[("s", "empty", "en")] == 0
    assert counts[("s", "none", "hi")] == 0
    assert {key for key in counts if key[0] == "clean"} == {("clean", "none", "")}


def test_a_limit_on_the_interval_asks_for_the_cases_it_needs() -> None:
    def need(limit: float) -> int:
        return int(coverage(cases(("s", "none", "en")), need=limit)["need"].iloc[0])

    assert need(0.02) == 189
    assert need(0.05) == 73
    z2 = 1.959963984540054**2
    for limit in (0.01, 0.02, 0.05, 0.1, 0.5):
        assert z2 / (need(limit) + z2) <= limit < z2 / (need(limit) - 1 + z2)


def test_other_branches_can_be_asked_for() -> None:
    frame = coverage(cases(("s", "timeout", "en"), ("s", "none", "hi")), need=1, by=["split", "must_pass"])
    assert frame.to_dict("records") == [
        {"split": "dev", "must_pass": "False", "n": 2, "need": 1, "missing": 0, "status": "ok"}
    ]


@pytest.mark.parametrize("need", [0, -3, 1.5, float("nan"), float("inf"), True])
def test_an_impossible_need_is_refused(need: float) -> None:
    with pytest.raises(UsageError, match="neither a number of cases nor a limit"):
        coverage(cases(("s", "none", "en")), need=need)


def test_an_unknown_branch_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'fault_kind'"):
        coverage([], by=["fault_kinds"])
    with pytest.raises(UsageError, match="name at least one"):
        coverage([], by=[])


def test_no_cases_have_no_branches() -> None:
    assert coverage([], need=1).empty
