"""What a case expects of the agent: every part is optional, and each is read by a scorer of its own."""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from neverempty.cases.patterns import compile_pattern

Name = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, Field(strict=True)]
Tolerance = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]

ArgMatch = Literal["exact", "normalized", "set", "numeric", "regex", "present", "date"]
TextMatch = Literal["contains", "regex", "judge"]


class Part(BaseModel):
    """Base of everything in a case file: frozen, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ExpectedRoute(Part):
    """The route that the agent should take.

    Parameters
    ----------
    label : str
        The right route.
    acceptable : tuple of str
        Further routes that count as right.
    """

    label: Name
    acceptable: tuple[Name, ...] = ()


class ExpectedArg(Part):
    """What one argument of a tool call should be.

    Parameters
    ----------
    value : object
        The expected value; a number for ``numeric``, a list for ``set``, a pattern for ``regex``, an ISO date
        for ``date``, absent for ``present``.
    match : {"exact", "normalized", "set", "numeric", "regex", "present", "date"}
        How the two are compared.
    tol : float, optional
        Allowed distance: an absolute difference for ``numeric``, days for ``date``.
    """

    value: Any = None
    match: ArgMatch = "exact"
    tol: Tolerance | None = None

    @model_validator(mode="after")
    def _value_fits_match(self) -> Self:
        if self.match == "present":
            if "value" in self.model_fields_set:
                raise ValueError("match 'present' takes no value")
        elif "value" not in self.model_fields_set:
            raise ValueError(f"match {self.match!r} needs a value")
        if self.tol is not None and self.match not in ("numeric", "date"):
            raise ValueError(f"tol belongs to 'numeric' and 'date', not to {self.match!r}")
        _check_value(self.match, self.value)
        return self


def _check_value(match: ArgMatch, value: Any) -> None:
    """Refuse a value that its own comparison could never meet."""
    if match == "numeric" and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise ValueError(f"match 'numeric' needs a number, got {value!r}")
    if match == "set" and not isinstance(value, (list, tuple)):
        raise ValueError(f"match 'set' needs a list, got {value!r}")
    if match in ("regex", "date", "normalized") and not isinstance(value, str):
        raise ValueError(f"match {match!r} needs a string, got {value!r}")
    if match == "regex":
        compile_pattern(value)
    if match == "date":
        try:
            datetime.date.fromisoformat(value[:10])
        except ValueError:
            raise ValueError(f"match 'date' needs an ISO date such as '2026-09-29', got {value!r}") from None


class ExpectedCall(Part):
    """One tool call that the agent should make, with the arguments that matter."""

    tool: Name
    args: dict[Name, ExpectedArg] = Field(default_factory=dict)


class ExpectedCalls(Part):
    """The tool calls that the agent should make.

    Parameters
    ----------
    mode : {"first", "set", "sequence"}
        Whether only the first call counts, all of them in any order, or all of them in this order.
    calls : tuple of ExpectedCall
        The calls; empty under ``set`` and ``sequence`` means that no tool should be called.
    """

    mode: Literal["first", "set", "sequence"] = "first"
    calls: tuple[ExpectedCall, ...]

    @model_validator(mode="after")
    def _first_names_a_call(self) -> Self:
        if self.mode == "first" and not self.calls:
            raise ValueError("mode 'first' needs a call; use mode 'set' with no calls to expect none")
        return self


class Statement(Part):
    """A statement that an answer should or should not make.

    Parameters
    ----------
    id : str
        Its name within the case.
    statement : str
        The text, the pattern (RE2) under ``regex``, or the sentence that the judge is asked about.
    match : {"contains", "regex", "judge"}
        How it is looked for.
    evidence_key : str, optional
        Where in the tool results the evidence stands.
    """

    id: Name
    statement: Name
    match: TextMatch = "contains"
    evidence_key: str | None = None

    @model_validator(mode="after")
    def _pattern_compiles(self) -> Self:
        if self.match == "regex":
            compile_pattern(self.statement)
        return self


class Item(Part):
    """One item that a rule decided, with the rule's own trace, for an answer's reasons to be held against."""

    item_id: Name
    rule_result: Any
    rule_trace: Any = None


class Expect(Part):
    """All that a case expects; what is absent is not checked.

    Parameters
    ----------
    route : ExpectedRoute, optional
        The route to take.
    tool_calls : ExpectedCalls, optional
        The calls to make.
    forbidden_tools : tuple of str
        Tools that must not be called.
    facts : tuple of Statement
        What the answer should say.
    forbidden_claims : tuple of Statement
        What it must not say.
    items : tuple of Item
        Decisions of a rule, with their traces.
    fallbacks : dict of str to tuple of str
        Tools that may stand in for a failed one: a later success of theirs counts as recovered.
    lost_part_holds_answer : bool, optional
        For degraded faults: whether the part taken away held the answer, so that an absence is a misreport.
    custom : dict
        Whatever a scorer of your own needs, e.g. the goal state of a database.
    """

    route: ExpectedRoute | None = None
    tool_calls: ExpectedCalls | None = None
    forbidden_tools: tuple[Name, ...] = ()
    facts: tuple[Statement, ...] = ()
    forbidden_claims: tuple[Statement, ...] = ()
    items: tuple[Item, ...] = ()
    fallbacks: dict[Name, tuple[Name, ...]] = Field(default_factory=dict)
    lost_part_holds_answer: Flag | None = None
    custom: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        for name in ("facts", "forbidden_claims", "items"):
            ids = [getattr(part, "id", None) or part.item_id for part in getattr(self, name)]
            twice = sorted({one for one in ids if ids.count(one) > 1})
            if twice:
                raise ValueError(f"{name}: the id {twice[0]!r} stands twice")
        return self

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if self.forbidden_tools and self.tool_calls is not None:
            for call in self.tool_calls.calls:
                if call.tool in self.forbidden_tools:
                    raise ValueError(f"tool {call.tool!r} is both in tool_calls and in forbidden_tools")
        wanted = {(fact.statement, fact.match) for fact in self.facts}
        for claim in self.forbidden_claims:
            if (claim.statement, claim.match) in wanted:
                raise ValueError(f"{claim.statement!r} is both in facts and in forbidden_claims")
        return self
