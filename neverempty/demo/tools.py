"""The demonstration's tools: twelve look-ups in a small made-up world."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from neverempty.demo.data import world
from neverempty.tools import Tool, tool

THINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "search_jobs": "open jobs",
        "list_invoices": "invoices",
        "list_events": "appointments",
        "search_flights": "flights",
        "search_books": "books",
        "list_tickets": "support tickets",
        "weather_alerts": "weather alerts",
        "check_stock": "items",
        "search_courses": "courses",
        "search_rooms": "hotel rooms",
        "list_parcels": "parcels",
        "search_trains": "trains",
    }
)
"""By tool name, what it looks up."""


def _is_empty(rows: list[Any]) -> bool:
    return not rows


def _rows(name: str, **args: str) -> list[Any]:
    wanted = {key: value.strip().casefold() for key, value in args.items()}
    return [
        entry["row"]
        for entry in world()[name]
        if all(entry[key].casefold() == value for key, value in wanted.items())
    ]


@tool(empty_when=_is_empty)
def search_jobs(role: str, city: str) -> list[Any]:
    """Find open jobs by role and city."""
    return _rows("search_jobs", role=role, city=city)


@tool(empty_when=_is_empty)
def list_invoices(customer: str, month: str) -> list[Any]:
    """List a customer's invoices of a month."""
    return _rows("list_invoices", customer=customer, month=month)


@tool(empty_when=_is_empty)
def list_events(person: str, day: str) -> list[Any]:
    """List what stands in a person's calendar on a day."""
    return _rows("list_events", person=person, day=day)


@tool(empty_when=_is_empty)
def search_flights(origin: str, destination: str, date: str) -> list[Any]:
    """Find flights between two places on a date."""
    return _rows("search_flights", origin=origin, destination=destination, date=date)


@tool(empty_when=_is_empty)
def search_books(author: str, branch: str) -> list[Any]:
    """Find an author's books at a library branch."""
    return _rows("search_books", author=author, branch=branch)


@tool(empty_when=_is_empty)
def list_tickets(product: str, status: str) -> list[Any]:
    """List a product's support tickets of a status."""
    return _rows("list_tickets", product=product, status=status)


@tool(empty_when=_is_empty)
def weather_alerts(region: str) -> list[Any]:
    """List a region's weather alerts."""
    return _rows("weather_alerts", region=region)


@tool(empty_when=_is_empty)
def check_stock(item: str, warehouse: str) -> list[Any]:
    """Look up how many pieces of an item a warehouse holds."""
    return _rows("check_stock", item=item, warehouse=warehouse)


@tool(empty_when=_is_empty)
def search_courses(topic: str, term: str) -> list[Any]:
    """Find courses on a topic in a term."""
    return _rows("search_courses", topic=topic, term=term)


@tool(empty_when=_is_empty)
def search_rooms(city: str, date: str) -> list[Any]:
    """Find hotel rooms in a city on a date."""
    return _rows("search_rooms", city=city, date=date)


@tool(empty_when=_is_empty)
def list_parcels(customer: str) -> list[Any]:
    """List a customer's parcels that are under way."""
    return _rows("list_parcels", customer=customer)


@tool(empty_when=_is_empty)
def search_trains(origin: str, destination: str) -> list[Any]:
    """Find the next trains between two places."""
    return _rows("search_trains", origin=origin, destination=destination)


TOOLS: Final[tuple[Tool, ...]] = (
    search_jobs,
    list_invoices,
    list_events,
    search_flights,
    search_books,
    list_tickets,
    weather_alerts,
    check_stock,
    search_courses,
    search_rooms,
    list_parcels,
    search_trains,
)
"""All of them."""
