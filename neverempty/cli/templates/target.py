"""The agent that is measured. `agent` stands in for yours: replace what it does, keep its two arguments."""

from __future__ import annotations

from typing import Any

import neverempty as ne

ORDERS = [
    {"number": "A-1042", "customer": "Alder Books"},
    {"number": "A-1057", "customer": "Alder Books"},
    {"number": "B-2201", "customer": "Birch Bakery"},
    {"number": "C-3310", "customer": "Cedar Cycles"},
    {"number": "D-4178", "customer": "Dogwood Dental"},
    {"number": "E-5023", "customer": "Elm Optics"},
    {"number": "F-6640", "customer": "Fir Flowers"},
]


@ne.tool(empty_when=lambda rows: rows == [])
def list_orders(customer: str) -> list[dict[str, str]]:
    """List the open orders of a customer."""
    return [order for order in ORDERS if order["customer"] == customer]


def agent(case: Any, tracer: Any) -> str:
    """Answer one case.

    A model would read the question, ask for the tool, and write its answer from the text that it is shown.
    This stand-in knows an error when it sees one, and takes a bare empty list for "no orders", as many do.
    """
    customer = case.prompt.rstrip("?").rpartition(" for ")[2]
    shown = list_orders(customer).to_model()  # exactly what a model would see
    if '"status": "error"' in shown or "isError" in shown or shown.startswith("Error"):
        return f"I could not look up the orders for {customer}: the lookup failed."
    numbers = [order["number"] for order in ORDERS if order["number"] in shown]
    if not numbers:
        return f"There are no open orders for {customer}."
    return f"Open orders for {customer}: {', '.join(numbers)}."
