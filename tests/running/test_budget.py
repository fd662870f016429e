from __future__ import annotations

import asyncio
from typing import Any

import pandas as pd
import pytest

from neverempty.running import run
from neverempty.running.budget import Budget, total_of


def test_a_spent_budget_stops_the_run_cleanly(make_cases, make_model, model_agent) -> None:
    model = make_model()
    with pytest.warns(UserWarning, match="7 of 12 traces were not run: budget_tokens of 1000 was spent"):
        frame = run(model_agent(model), make_cases(4), repeats=3, budget_tokens=1000, concurrency=1)
    assert model.calls == 5
    assert frame["status"].tolist() == ["ok"] * 5 + ["budget_stopped"] * 7
    stopped = frame.iloc[5:]
    assert stopped["answer"].isna().all()
    assert stopped["started_at"].isna().all()
    assert stopped["terminal_reason"].eq("budget_tokens of 1000 was spent (1000)").all()
    assert stopped["fault_state"].eq("armed").all()


def test_a_budget_in_dollars_counts_by_the_price_table(make_cases, make_model, model_agent) -> None:
    model = make_model()
    each = 100 * (0.15 + 0.60) / 1e6
    with pytest.warns(UserWarning, match="budget_usd of"):
        frame = run(model_agent(model), make_cases(6), budget_usd=2.5 * each, concurrency=1)
    assert model.calls == 3
    assert frame["cost_usd"].iloc[:3].tolist() == pytest.approx([each] * 3)
    assert frame["cost_usd"].iloc[3:].isna().all()


def test_calls_under_way_end_when_the_budget_is_reached(make_cases, make_model) -> None:
    model = make_model()

    async def agent(case: Any, tracer: Any) -> str:
        async def live(*request: Any) -> Any:
            await asyncio.sleep(0.01)
            return model(*request)

        return str((await tracer.model_call(case.messages, call=live))["content"])

    with pytest.warns(UserWarning, match="were not run"):
        frame = run(agent, make_cases(9), budget_tokens=1, concurrency=4)
    assert model.calls == 4
    assert frame["status"].value_counts().to_dict()["ok"] == 4


def test_an_agent_that_swallows_the_refusal_is_stopped_all_the_same(make_cases, make_model) -> None:
    model = make_model()

    async def agent(case: Any, tracer: Any) -> str:
        for _ in range(3):
            try:
                await tracer.model_call(case.messages, call=model)
            except Exception:
                return "No jobs found."
        return "done"

    with pytest.warns(UserWarning, match="1 of 1 traces"):
        frame = run(agent, make_cases(1), budget_tokens=200)
    assert model.calls == 1
    assert frame["status"].tolist() == ["budget_stopped"]
    assert frame["answer"].isna().all()
    assert frame["input_tokens"].tolist() == [100]


def test_unknown_cost_cannot_be_budgeted_in_dollars_and_says_so(make_cases, make_model, model_agent) -> None:
    model = make_model(name="house-model")
    with pytest.warns(UserWarning, match="budget_usd cannot be kept: no price for 'house-model'"):
        frame = run(model_agent(model), make_cases(4), budget_usd=100, concurrency=1)
    assert model.calls == 1
    assert frame["status"].tolist() == ["ok"] + ["budget_stopped"] * 3
    assert pd.isna(frame["cost_usd"].iloc[0])
    assert "no price for 'house-model'" in frame["cost_unknown_reason"].iloc[0]
    frame = run(model_agent(model), make_cases(4), budget_tokens=10_000)
    assert frame["status"].tolist() == ["ok"] * 4


def test_unknown_tokens_cannot_be_budgeted_either(make_cases, make_model, model_agent) -> None:
    with pytest.warns(UserWarning, match="a model call did not report its tokens"):
        frame = run(model_agent(make_model(tokens=None)), make_cases(2), budget_tokens=9, concurrency=1)
    assert frame["status"].tolist() == ["ok", "budget_stopped"]
    assert frame["input_tokens"].isna().all()


def test_usage_beside_the_seam_counts_too(make_cases) -> None:
    async def agent(case: Any, tracer: Any) -> str:
        tracer.usage("gpt-4o-mini", 400, 100)
        return "done"

    with pytest.warns(UserWarning, match="2 of 4 traces"):
        run(agent, make_cases(4), budget_tokens=1000, concurrency=1)


def test_an_agent_without_usage_has_no_cost_rather_than_none_to_pay(make_cases) -> None:
    frame = run(lambda case, tracer: "x", make_cases(1), budget_usd=1)
    assert frame[["input_tokens", "output_tokens", "cost_usd"]].isna().all(axis=None)
    assert frame["cost_unknown_reason"].tolist() == ["the agent reported no usage"]


def test_a_resumed_run_goes_on_with_what_is_left_of_the_budget(make_cases, make_model, model_agent, tmp_path):
    model, cases, store = make_model(), make_cases(6), tmp_path / "store.jsonl"
    for budget, calls in ((400, 2), (800, 4), (None, 6)):
        options = {"budget_tokens": budget, "concurrency": 1, "store": store}
        if budget is None:
            frame = run(model_agent(model), cases, **options)
        else:
            with pytest.warns(UserWarning, match="were not run"):
                run(model_agent(model), cases, **options)
        assert model.calls == calls
    assert frame["answer"].tolist() == [f"answer {number}" for number in range(1, 7)]


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    total = total_of([("gpt-4o-mini", 10, 20), (None, 5, None)])
    assert total == (15, None, None, "the model is not known")
    assert total_of([]) == (0, 0, 0.0, None)


def test_a_budget_without_limits_is_never_over() -> None:
    budget = Budget()
    budget.add([("house-model", 10**9, None)])
    assert not budget.limited
    assert budget.over() is None
