"""The gate beside its verdicts: messages, warnings, second runs, statuses, configuration."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from neverempty import GateConfig, InputError, gate
from neverempty.gating import EXIT_CODES

LIE = "misreport_as_empty"
ROUTE: dict[str, Any] = {"metrics": ["route"]}


def names(decision: Any) -> list[str]:
    return [rule.name for rule in decision.rules]


def test_the_exit_codes_are_those_of_the_documentation() -> None:
    assert EXIT_CODES == {"pass": 0, "regression": 1, "must_pass": 2, "inconclusive": 3, "invalid": 4}


def test_a_rule_says_what_it_found_where(outcomes: Any) -> None:
    decision = gate(outcomes({LIE: "60*ppp"}), outcomes({LIE: "55*ppp 5*ppf"}))
    (rule,) = decision.rules
    assert (rule.metric, rule.arm, rule.verdict) == (LIE, "typed", "regression")
    assert rule.message == (
        "misreport_as_empty (typed) got worse in 5 and better in 0 of 60 pairs; exact one-sided p = 0.0312 "
        "after Holm over 1 test, below 0.05"
    )


def test_a_limit_that_too_few_cases_can_keep_says_how_many_it_takes(outcomes: Any) -> None:
    config = {"floors": {f"{LIE}_max": 0.02}, "floors_on": "bound"}
    (rule,) = gate(None, outcomes({LIE: "188*p"}), config).rules
    assert rule.message.endswith("above its limit of 2.0 %; it takes 189 clean cases to keep it")


def test_the_default_gates_the_one_primary_metric(outcomes: Any) -> None:
    base = outcomes({LIE: "60*p", "route": "60*p", "false_alarm": "60*p"})
    decision = gate(base, outcomes({LIE: "60*p", "route": "30*p 30*f", "false_alarm": "30*p 30*f"}))
    assert decision.exit_code == 0
    assert sum("it is not gated" in text for text in decision.warnings) == 2


def test_a_gate_says_what_it_could_have_found(outcomes: Any) -> None:
    few = gate(outcomes("4*p"), outcomes("4*p"), ROUTE)
    assert few.notes == (
        "route (typed): cannot_reject: 4 pairs cannot reach significance, which needs 5 that got worse",
    )
    many = gate(outcomes("100*p"), outcomes("100*p"), ROUTE)
    assert many.notes == (
        "route (typed): with 100 pairs a worsening by 5 points is found 56.4 % of the time, one of 6.6 "
        "points 80 % (where nothing improves by chance)",
    )
    alone = gate(None, outcomes("9*p"), ROUTE)
    assert (alone.comparison, len(alone.notes)) == (None, 1)
    assert "there is no baseline" in alone.notes[0]


def test_two_gated_metrics_need_more_flips_before_they_can_reject(outcomes: Any) -> None:
    both = outcomes({LIE: "5*p", "route": "5*p"})
    *tests, last = gate(both, both, {"metrics": [LIE, "route"]}).notes
    assert len(tests) == 2
    assert all("cannot_reject" in text for text in tests)
    assert "gated as they were read" in last
    assert "cannot_reject" not in gate(both, both, ROUTE).notes[0]


def test_latency_only_warns(outcomes: Any) -> None:
    def with_latency(ms: float) -> pd.DataFrame:
        rates = outcomes("30*p").assign(direction="higher", collapse="majority")
        times = [ms + at for at in range(30)]
        slow = rates.assign(metric="latency_ms", direction="lower", collapse="median", value=times)
        dtypes = {"metric": "str", "direction": "category", "collapse": "category"}
        return pd.concat([rates, slow], ignore_index=True).astype(dtypes)

    decision = gate(with_latency(100), with_latency(400), ROUTE)
    assert decision.exit_code == 0
    assert decision.warnings[0] == "latency_ms (typed) changed by +300 ms (+300 ms to +300 ms) over 30 pairs"
    faster = gate(with_latency(400), with_latency(100), ROUTE)
    assert not any("latency_ms" in text for text in faster.warnings)
    with pytest.raises(InputError, match=r"gate.metrics: 'route' stands twice"):
        gate(None, with_latency(1), {"metrics": ["route", "route"]})
    refused = gate(None, with_latency(1), {**ROUTE, "floors": {"latency_ms_max": 0.5}})
    assert "numbers only warn" in refused.rules[0].message


def test_pairs_that_left_the_test_are_said_even_where_they_are_few(outcomes: Any) -> None:
    decision = gate(outcomes("30*ppp"), outcomes("28*ppp ppn ---"), ROUTE)
    assert decision.exit_code == 0
    assert "route (typed): 1 pair left the test: unequal_repeats" in decision.warnings
    assert "route (typed): 1 pair left the test: the metric applies to one side only" in decision.warnings


def test_families_that_vary_together_warn(outcomes: Any) -> None:
    def family(at: int) -> str:
        return f"family:{at // 5}"

    base, cand = outcomes("60*p", tags=family), outcomes("10*f 50*p", tags=family)
    assert any("design effect" in text for text in gate(base, cand, ROUTE).warnings)
    alone = outcomes("10*f 50*p", tags=lambda at: f"family:{at}")
    assert not any("design effect" in text for text in gate(base, alone, ROUTE).warnings)


def test_arms_can_be_chosen_and_are_never_pooled(outcomes: Any) -> None:
    base = pd.concat([outcomes("60*p", arm=arm) for arm in ("typed", "swallowed")])
    cand = pd.concat([outcomes("57*p 3*f", arm="typed"), outcomes("54*p 6*f", arm="swallowed")])
    decision = gate(base, cand, ROUTE)
    assert [(rule.name, rule.arm) for rule in decision.rules] == [("capability_worse", "swallowed")]
    assert gate(base, cand, {**ROUTE, "arms": ["typed"]}).exit_code == 0


def test_must_pass_metrics_can_be_chosen(outcomes: Any) -> None:
    suite = outcomes({LIE: "60*ppp", "route": "fff 59*ppp", "recovered": "60*fff"}, [0])
    assert names(gate(None, suite)) == ["must_pass_failed"]
    assert gate(None, suite, {"must_pass": [LIE]}).exit_code == 0
    assert gate(None, suite, {"must_pass": ["recovered"]}).exit_code == 2
    assert gate(None, suite, {"must_pass": ["rout"]}).exit_code == 4


class Second:
    """A second run of must-pass cases, and which were asked for."""

    def __init__(self, result: pd.DataFrame) -> None:
        self.result, self.asked = result, []  # type: ignore[var-annotated]

    def __call__(self, keys: Any) -> pd.DataFrame:
        self.asked.append(list(keys))
        return self.result


@pytest.mark.parametrize(
    ("second", "code", "believed"), [("ppp", 0, False), ("ffp", 2, True), ("nnn", 2, True)]
)
def test_a_failed_capability_is_believed_when_it_fails_twice(
    second: str, code: int, believed: bool, outcomes: Any
) -> None:
    rerun = Second(outcomes(second, [0]))
    decision = gate(None, outcomes("ffp 59*ppp", [0]), ROUTE, confirm=rerun)
    assert rerun.asked == [[("s", "c0", "typed")]]
    assert decision.exit_code == code
    (shown,) = decision.confirmations
    assert (shown.metric, shown.first, shown.believed) == ("route", "2 of 3 repeats failed", believed)
    assert any(shown.second in line for line in decision.lines())


def test_a_second_run_never_excuses_a_lie(outcomes: Any) -> None:
    suite = {LIE: "ppf 59*ppp", "route": "60*ppp"}
    rerun = Second(outcomes({LIE: "ppp", "route": "ppp"}, [0]))
    decision = gate(None, outcomes(suite, [0]), confirm=rerun)
    assert (decision.exit_code, rerun.asked, decision.confirmations) == (2, [], ())


def test_a_lie_of_the_second_run_counts(outcomes: Any) -> None:
    first = outcomes({LIE: "60*ppp", "route": "fff 59*ppp"}, [0])
    decision = gate(None, first, ROUTE, confirm=Second(outcomes({LIE: "ppf", "route": "ppp"}, [0])))
    assert decision.exit_code == 2
    (rule,) = decision.rules
    assert rule.metric == LIE
    assert rule.message.endswith("in the second run")


def test_nothing_is_run_again_where_the_input_is_invalid(outcomes: Any) -> None:
    rerun = Second(outcomes("ppp", [0]))
    decision = gate(outcomes("9*ppp"), outcomes("fff 9*ppp", [0]), ROUTE, confirm=rerun)
    assert (decision.exit_code, rerun.asked) == (4, [])


@pytest.mark.parametrize(
    ("status", "code", "fired"),
    [
        ("ok", 0, []),
        ("no_cases", 4, ["invalid"]),
        ("interrupted", 4, ["invalid"]),
        ("budget_stopped", 4, ["invalid"]),
        ("incomplete", 4, ["invalid"]),
        ("partial_errors", 3, ["partial_errors"]),
    ],
)
@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_a_status_that_allows_no_number_shows_none(
    status: str, code: int, fired: list[str], side: str, report: Any
) -> None:
    statuses = {"baseline": "ok", "candidate": "ok", side: status}
    base, cand = (report("60*ppp", status=statuses[one]) for one in ("baseline", "candidate"))
    decision = gate(base, cand, ROUTE)
    assert (decision.exit_code, names(decision)) == (code, fired)
    assert (decision.comparison is None) == (status != "ok")
    assert decision.report is cand
    assert decision.baseline is base


def test_every_reason_of_an_invalid_input_is_a_rule(report: Any) -> None:
    base = report("60*ppp", known={"split_hash": "hash-0", "repeats": 2}, resolved_model="m-0")
    decision = gate(base, report("60*ppp"), ROUTE)
    assert [rule.reason for rule in decision.rules] == ["split_hash", "repeats", "model"]


def test_an_allowed_model_is_said(report: Any) -> None:
    base, cand = report("60*ppp", resolved_model="m-0"), report("60*ppp")
    decision = gate(base, cand, {**ROUTE, "allow_models": ["m-1"]})
    assert decision.exit_code == 0
    assert any("m-1" in text for text in decision.warnings)


def test_a_suite_that_everything_passes_warns(outcomes: Any) -> None:
    decision = gate(outcomes("15*p"), outcomes("15*p"), ROUTE)
    assert any(text.startswith("15 of 15") for text in decision.warnings)
    assert not any("rank" in text for text in gate(None, outcomes("14*p f"), ROUTE).warnings)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"metric": ["route"]}, r"gate.metric: unknown key; did you mean 'metrics'\?"),
        ({"max_unstable": 0.1}, "gate.max_unstable: unknown key; did you mean 'max_unstable_rate'"),
        ({"alpha": 0}, "gate.alpha: "),
        ({"alpha": "x"}, "gate.alpha: "),
        ({"floors": {"route": 95}}, "gate.floors.route: "),
        ({"floors": {"route": float("nan")}}, "gate.floors.route: "),
        ({"floors_on": "mean"}, "gate.floors_on: "),
        ({"metrics": []}, "gate.metrics: "),
        ({"arms": []}, "gate.arms: "),
    ],
)
def test_a_configuration_that_is_wrong_is_refused_in_words(table: Any, text: str, outcomes: Any) -> None:
    with pytest.raises(InputError, match=text):
        gate(None, outcomes("9*p"), table)


def test_the_configuration_lists_all_its_problems_at_once(outcomes: Any) -> None:
    with pytest.raises(InputError) as refused:
        gate(None, outcomes("9*p"), {"alpha": 2, "floor": {}, "floors_on": "x"})
    assert len(refused.value.problems) == 3


def test_a_decision_keeps_what_was_asked(outcomes: Any) -> None:
    config = GateConfig(metrics=("route",), floors={"route": 0.5})
    decision = gate(None, outcomes("9*p"), config)
    assert decision.config is config
    assert decision.as_dict()["config"]["floors"] == {"route": 0.5}
    assert repr(decision) == "<Decision: pass, exit code 0, no rule fired>"


def test_outcomes_without_what_they_need_are_refused(outcomes: Any) -> None:
    with pytest.raises(InputError, match="n_measured"):
        gate(None, outcomes("9*p").drop(columns="n_measured"), ROUTE)
    empty = outcomes("9*p").iloc[:0]
    assert gate(None, empty, ROUTE).verdict == "invalid"
