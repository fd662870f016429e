"""What the stepper shows of a case, as HTML: every text from outside is escaped."""

from __future__ import annotations

from typing import Any, Final

from neverempty._io import dumps
from neverempty.report.escape import html
from neverempty.report.export_cases import answer_parts
from neverempty.traces.codec import default_redactor
from neverempty.widgets.overrules import FIRST
from neverempty.widgets.stepper_state import Repeat

_MOST: Final = 4_000
_TEXT: Final = "white-space: pre-wrap; overflow-wrap: anywhere; margin: .2em 0"
_BOX: Final = "border: 1px solid #9aa5b1; border-radius: 4px; padding: .4em .7em; flex: 1 1 20em"
_LEFT: Final = 'scope="row" style="text-align: left"'
_DARK: Final = "color: #1b1b1b; border-bottom: 3px"
# A mark must be told without colour: by its line, and by its name for a reader that hears it.
_MARKS: Final = {
    "absence": ("claims absence", f"background: #f9d4d0; {_DARK} solid #a11d1d"),
    "failure": ("discloses the failure", f"background: #d4ead6; {_DARK} dashed #1d6b2a"),
    "data": ("reports data", f"background: #dfe6f3; {_DARK} dotted #2b4f8c"),
}
_ASKING: Final = ("system", "developer", "user")


def case_html(repeats: list[Repeat]) -> str:
    """Write every repeat of a case, side by side where there is room.

    Parameters
    ----------
    repeats : list of Repeat
        From `StepperState.repeats`.

    Returns
    -------
    str
        HTML without scripts, in which no text from outside is markup.
    """
    if not repeats:
        return "<p>No case passes the filters; <kbd>c</kbd> clears them.</p>"
    question = _conversation(repeats[0].trace.get("messages"), "Conversation", _ASKING, " open")
    shown = "".join(_repeat(one) for one in repeats)
    key = ", ".join(f'<mark style="{style}">{name}</mark>' for name, style in _MARKS.values())
    beside = f'<div style="display: flex; flex-wrap: wrap; gap: .5em">{shown}</div>'
    return f"{question}<p>In the answers: {key}.</p>{beside}"


def _conversation(messages: Any, summary: str, roles: tuple[str, ...] = (), how: str = "") -> str:
    """Write messages; all of them where no roles are given."""
    lines = []
    for message in messages if isinstance(messages, (list, tuple)) else ():
        if not isinstance(message, dict):
            continue
        role, content = str(message.get("role")), message.get("content")
        if content and (not roles or role in roles):
            lines.append(f"<dt><b>{html(role)}</b></dt><dd>{_text(content)}</dd>")
    if not lines:
        return ""
    return f"<details{how}><summary>{summary}</summary><dl>{''.join(lines)}</dl></details>"


def _repeat(one: Repeat) -> str:
    trace = one.trace
    ended = "" if trace["status"] == "ok" else f" ended as {html(trace['status'])}"
    overruled = f"<p><b>overruled</b> by {html(one.overruled)}</p>" if one.overruled else ""
    calls = "".join(_call(call) for call in trace["calls"] or ()) or "<p>No tool was called.</p>"
    turns = _conversation(trace.get("messages"), "Every message of this repeat")
    title = f"{html(one.arm)}, repeat {one.repeat}"
    return (
        f'<section style="{_BOX}" aria-label="{title}">'
        f'<h4 style="margin: 0">{title}: {html(one.label or "no label")}{ended}</h4>'
        f"{overruled}{calls}<p><b>The agent said</b></p>{_answer(one)}{turns}{_scores(one.scores)}</section>"
    )


def _call(call: Any) -> str:
    fault = (
        f"<b>fault {html(call.kind)}</b>, shown {html(call.presentation or 'as it was')}, {html(call.state)}"
        f" ({html(call.layer or 'tool')})"
        if call.injected
        else "no fault was put in"
    )
    facts = [
        ("what happened", html(call.truth)),
        ("fault", fault),
        ("returned", _text(call.returned) if call.returned is not None else "<i>it raised</i>"),
        ("the model saw", _text(call.seen) if call.seen is not None else "<i>not known</i>"),
    ]
    rows = "".join(f"<tr><th {_LEFT}>{name}</th><td>{value}</td></tr>" for name, value in facts)
    called = f"{html(call.tool)}({_text(_plain(call.args), inline=True)})"
    return f"<table><caption>{called}</caption>{rows}</table>"


def _answer(one: Repeat) -> str:
    answer = one.trace.get("answer")
    if not isinstance(answer, str) or not answer:
        return "<p><i>no answer</i></p>"
    evidence = next((row["evidence"] for row in one.scores if row["metric"] == FIRST), None)
    parts = "".join(_part(part.text, part.claim) for part in answer_parts(answer, evidence))
    return f'<p style="{_TEXT}">{parts}</p>'


def _part(text: str, claim: str) -> str:
    if claim not in _MARKS:
        return html(text)
    name, style = _MARKS[claim]
    return f'<mark style="{style}" title="{name}">{html(text)}</mark>'


def _scores(scores: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><th {_LEFT}>{html(row['metric'])}</th><td>{html(row['verdict'])}</td>"
        f"<td>{html(_known(row['label']))}</td><td>{html(_known(row['reason']), 300)}</td></tr>"
        for row in scores
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("metric", "verdict", "label", "reason"))
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f"<details><summary>Scores</summary>{table}</details>"


def _known(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _plain(value: Any) -> str:
    return dumps(value)


def _text(value: Any, *, inline: bool = False) -> str:
    text = value if isinstance(value, str) else _plain(value)
    shown = html(default_redactor()(text[:_MOST] + ("…" if len(text) > _MOST else "")))
    return shown if inline else f'<div style="{_TEXT}">{shown}</div>'
