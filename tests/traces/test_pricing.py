"""A cost is computed from a dated table, or is unknown for a reason; never zero by default."""

from __future__ import annotations

import pytest

from neverempty.traces import PRICES, Cost, Price, PriceTable, cost_of


def test_a_known_model_costs_its_tokens() -> None:
    assert cost_of("gpt-4o-mini", 1_000_000, 1_000_000) == Cost(0.75, None)
    assert cost_of("claude-haiku-4-5", 2_000, 1_000) == Cost(0.007, None)
    assert cost_of("gpt-4o-mini", 0, 0) == Cost(0.0, None)


@pytest.mark.parametrize("dated", ["gpt-4.1-2025-04-14", "claude-sonnet-4-5-20250929"])
def test_the_date_at_the_end_of_a_name_does_not_matter(dated: str) -> None:
    assert cost_of(dated, 1_000, 1_000).usd is not None


def test_a_dated_name_with_a_price_of_its_own_keeps_it() -> None:
    assert cost_of("gpt-4o-2024-05-13", 1_000_000, 0).usd == 5.0
    assert cost_of("gpt-4o-2024-08-06", 1_000_000, 0).usd == 2.5


@pytest.mark.parametrize(
    ("model", "tokens", "reason"),
    [
        (None, (1, 1), "the model is not known"),
        ("gpt-4o", (None, 1), "'gpt-4o' reported no token counts"),
        ("gpt-4o", (1, None), "'gpt-4o' reported no token counts"),
        ("gpt-4", (1, 1), f"no price for 'gpt-4' in the table of {PRICES.version}"),
        ("gpt-4o-mini-audio", (1, 1), f"no price for 'gpt-4o-mini-audio' in the table of {PRICES.version}"),
    ],
)
def test_an_unknown_cost_has_a_reason(
    model: str | None, tokens: tuple[int | None, int | None], reason: str
) -> None:
    assert cost_of(model, *tokens) == Cost(None, reason)


def test_prices_of_ones_own_are_used_and_named() -> None:
    table = PRICES.with_prices({"local": (0, 0), "gpt-4o": (1, 1)}, version="own")
    assert cost_of("local", 10, 10, table) == Cost(0.0, None)
    assert cost_of("gpt-4o", 1_000_000, 0, table).usd == 1.0
    assert cost_of("gpt-4o", 1_000_000, 0).usd == 2.5
    assert cost_of("none", 1, 1, table).reason == "no price for 'none' in the table of own"


@pytest.mark.parametrize("price", [(-1, 1), (1, float("nan")), (float("inf"), 1)])
def test_an_impossible_price_is_refused(price: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="the price of 'm' must be two numbers of at least 0"):
        PriceTable("x", {"m": Price(*price)})
