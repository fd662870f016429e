"""A case: what the agent is asked, which faults its tools meet, and what is expected of it."""

from __future__ import annotations

import copy
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from neverempty._io import dumps
from neverempty.cases.expect import Expect, Flag, Name, Part
from neverempty.faults import FaultSpec


class Message(BaseModel):
    """One message of a conversation, in the chat-completions shape; further keys are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The message's text; of a list of parts, the text parts joined by line feeds."""
        if isinstance(self.content, list):
            return "\n".join(str(part["text"]) for part in self.content if "text" in part)
        return self.content or ""


class CaseInput(Part):
    """What goes to the agent: either a conversation or a payload of the agent's own shape."""

    messages: Annotated[tuple[Message, ...], Field(min_length=1)] | None = None
    payload: Any = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if (self.messages is None) == ("payload" not in self.model_fields_set):
            raise ValueError("give exactly one of 'messages' and 'payload'")
        return self


class Case(Part):
    """One case of a suite.

    Parameters
    ----------
    schema_version : int
        Version of the file format; this package reads 1.
    id : str
        Name of the case, unique within its suite.
    suite : str
        The suite it belongs to.
    split : {"dev", "test"}
        ``test`` is the frozen part whose hash is checked.
    input : CaseInput
        The conversation or payload.
    faults : tuple of FaultSpec
        Faults that the tools meet; none for a clean case.
    tags : tuple of str
        Free labels to filter and group by.
    must_pass : bool
        Whether a failure of this case alone fails the gate.
    language : str, optional
        Language of the conversation, as ``"en"`` or ``"hi"``.
    provenance : object
        Where the case comes from.
    expect : Expect
        What is expected; empty by default.

    Examples
    --------
    >>> case = Case(id="a", input={"messages": [{"role": "user", "content": "Any jobs in Pune?"}]})
    >>> case.key, case.prompt, case.fault_kind
    (('default', 'a'), 'Any jobs in Pune?', 'none')
    """

    schema_version: Literal[1] = 1
    id: Name
    suite: Name = "default"
    split: Literal["dev", "test"] = "dev"
    input: CaseInput
    faults: tuple[FaultSpec, ...] = ()
    tags: tuple[Name, ...] = ()
    must_pass: Flag = False
    language: Name | None = None
    provenance: Any = None
    expect: Expect = Field(default_factory=Expect)

    @field_validator("schema_version", mode="before")
    @classmethod
    def _known_version(cls, value: Any) -> Any:
        if value is not True and value == 1:
            return value
        raise ValueError(f"schema version {value!r} is not known; this package reads version 1")

    @property
    def key(self) -> tuple[str, str]:
        """Suite and id: the case's name across files."""
        return (self.suite, self.id)

    @property
    def fault_kind(self) -> str:
        """The kinds of its faults joined by ``+``, ``"none"`` without one."""
        return "+".join(fault.kind for fault in self.faults) or "none"

    @property
    def messages(self) -> list[dict[str, Any]]:
        """A fresh copy of the conversation as plain dicts, for the agent to extend; empty for a payload."""
        messages = self.input.messages or ()
        return [copy.deepcopy(message.model_dump(exclude_unset=True)) for message in messages]

    @property
    def prompt(self) -> str:
        """The last user text; of a payload, the payload itself (as JSON where it is not a text)."""
        if self.input.messages is None:
            return self.input.payload if isinstance(self.input.payload, str) else dumps(self.input.payload)
        for message in reversed(self.input.messages):
            if message.role == "user":
                return message.text
        return ""
