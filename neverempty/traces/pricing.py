"""What a model call costs, from a dated table; a price that is not known is never taken for zero."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple


class Price(NamedTuple):
    """US dollars per million tokens."""

    input: float
    output: float


class Cost(NamedTuple):
    """A cost in US dollars, or the reason why it is not known; exactly one of the two is None."""

    usd: float | None
    reason: str | None


@dataclass(frozen=True)
class PriceTable:
    """Prices of models, with the version that a report names.

    Parameters
    ----------
    version : str
        Date or name of the list.
    prices : mapping of str to Price
        By the model's name without its date.

    Examples
    --------
    >>> table = PRICES.with_prices({"my-model": (0.1, 0.2)}, version="2026-03-01+own")
    >>> cost_of("my-model", 1_000_000, 500_000, table).usd
    0.2
    """

    version: str
    prices: Mapping[str, Price]

    def __post_init__(self) -> None:
        for model, price in self.prices.items():
            if not all(math.isfinite(part) and part >= 0 for part in price):
                raise ValueError(
                    f"the price of {model!r} must be two numbers of at least 0, got {tuple(price)}"
                )

    def with_prices(self, prices: Mapping[str, tuple[float, float]], version: str) -> PriceTable:
        """Return a table with prices of your own added or replaced.

        Parameters
        ----------
        prices : mapping of str to (float, float)
            US dollars per million input and output tokens, by model.
        version : str
            Name of the new table.

        Returns
        -------
        PriceTable
            The new table.
        """
        own = {model: Price(*price) for model, price in prices.items()}
        return PriceTable(version, MappingProxyType({**self.prices, **own}))


# List prices for text without caching, batch or regional terms, from the vendors' public price pages.
PRICES: Final = PriceTable(
    "2026-03-01",
    MappingProxyType(
        {
            "claude-haiku-4-5": Price(1.00, 5.00),
            "claude-opus-4-1": Price(15.00, 75.00),
            "claude-opus-4-5": Price(5.00, 25.00),
            "claude-sonnet-4-5": Price(3.00, 15.00),
            "gemini-2.5-flash": Price(0.30, 2.50),
            "gemini-2.5-flash-lite": Price(0.10, 0.40),
            "gpt-4.1": Price(2.00, 8.00),
            "gpt-4.1-mini": Price(0.40, 1.60),
            "gpt-4.1-nano": Price(0.10, 0.40),
            "gpt-4o": Price(2.50, 10.00),
            "gpt-4o-2024-05-13": Price(5.00, 15.00),
            "gpt-4o-mini": Price(0.15, 0.60),
            "gpt-5": Price(1.25, 10.00),
            "gpt-5-mini": Price(0.25, 2.00),
            "gpt-5-nano": Price(0.05, 0.40),
            "o3": Price(2.00, 8.00),
            "o4-mini": Price(1.10, 4.40),
        }
    ),
)

_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$", re.ASCII)


def cost_of(
    model: str | None, input_tokens: int | None, output_tokens: int | None, table: PriceTable = PRICES
) -> Cost:
    """Work out what a model call cost.

    Parameters
    ----------
    model : str or None
        The model that answered; a date at its end is left off where the dated name has no price of its own.
    input_tokens, output_tokens : int or None
        The tokens that it read and wrote.
    table : PriceTable, default PRICES
        The prices.

    Returns
    -------
    Cost
        ``usd`` and ``reason``; without a price or a count, ``usd`` is None and the reason says why.

    Examples
    --------
    >>> cost_of("gpt-4o-mini-2024-07-18", 1000, 200)
    Cost(usd=0.00027, reason=None)
    >>> cost_of("house-model", 1000, 200).reason
    "no price for 'house-model' in the table of 2026-03-01"
    """
    if model is None:
        return Cost(None, "the model is not known")
    if input_tokens is None or output_tokens is None:
        return Cost(None, f"{model!r} reported no token counts")
    price = table.prices.get(model) or table.prices.get(_DATE.sub("", model))
    if price is None:
        return Cost(None, f"no price for {model!r} in the table of {table.version}")
    return Cost(round((input_tokens * price.input + output_tokens * price.output) / 1e6, 12), None)
