"""The labelling panel's texts as HTML; whatever came from outside is escaped."""

from __future__ import annotations

from typing import Final

from neverempty.report.escape import html
from neverempty.report.html_fragment import table_html
from neverempty.report.tables import Table
from neverempty.widgets.label_frames import JUDGE
from neverempty.widgets.label_items import LabelItem
from neverempty.widgets.label_keys import ACTION_KEYS, REASONS, LabelKeys
from neverempty.widgets.label_session import LabelSession

_MOST: Final = 20_000  # characters of one part
_PART: Final = (
    "border-left: 3px solid #7c8ea3; padding: .2em .8em; margin: .2em 0 .6em; "
    "white-space: pre-wrap; overflow-wrap: anywhere; max-height: 22em; overflow-y: auto; line-height: 1.4"
)
_LARGE: Final = "; font-size: 1.15em; border-left: 3px solid #2f7fd1"
_FAINT: Final = "opacity: .75; font-size: .9em; margin: 0"
_KEY: Final = (
    "border: 1px solid currentColor; border-radius: 3px; padding: 0 .35em; "
    "background: transparent; color: inherit; font-family: monospace"
)


def progress_html(session: LabelSession) -> str:
    """Say how far the session is.

    Parameters
    ----------
    session : LabelSession
        The session.

    Returns
    -------
    str
        One line with a bar.
    """
    progress = session.progress()
    done = progress.total - progress.left
    share = 100.0 * done / progress.total if progress.total else 100.0
    extras = [
        f"{n} {what}" for n, what in ((progress.cant_tell, "can't tell"), (progress.deferred, "put off")) if n
    ]
    text = f"{done} of {progress.total} done{''.join(f', {extra}' for extra in extras)}"
    return (
        f'<div role="status"><strong>{text}</strong> · {html(session.annotator)}'
        f'<div aria-hidden="true" style="height: 4px; background: #7c8ea355; border-radius: 2px">'
        f'<div style="height: 4px; width: {share:.1f}%; background: #2f7fd1; border-radius: 2px"></div>'
        "</div></div>"
    )


def item_html(session: LabelSession) -> str:
    """Show the item that is to be labelled.

    Parameters
    ----------
    session : LabelSession
        The session.

    Returns
    -------
    str
        Its parts, and what was said of it before. Its arm is not named: that would tell what happened.
    """
    item = session.current
    if item is None:
        words = "There is nothing to label." if not session.items else "Every item is labelled."
        return f"<p><strong>{words}</strong></p>"
    head = f"item {session.place} of {len(session.items)} · {html(item.key.case_id, 200)}"
    language = f" · {html(item.language)}" if item.language else ""
    name = f"item {session.place} of {len(session.items)}"
    return (
        f'<section aria-label="{name}"><p style="{_FAINT}">{head}{language}</p>'
        f"{parts_html(item)}{_said_before(session)}</section>"
    )


def parts_html(item: LabelItem) -> str:
    """Show what of an item may be seen.

    Parameters
    ----------
    item : LabelItem
        The item.

    Returns
    -------
    str
        Each part under its heading; the last one, which is labelled, is the largest.
    """
    shown = []
    for at, (heading, text) in enumerate(item.parts, 1):
        words = html(text, _MOST) if text.strip() else "<em>(empty)</em>"
        style = _PART + (_LARGE if at == len(item.parts) else "")
        shown.append(f'<p style="{_FAINT}">{html(heading)}</p><div dir="auto" style="{style}">{words}</div>')
    return "".join(shown)


def _said_before(session: LabelSession) -> str:
    mark, lines = session.mark, []
    if mark.label is not None:
        reason = f" ({html(mark.reason)})" if mark.reason else ""
        lines.append(f"you said: <strong>{html(mark.label)}</strong>{reason}")
    if mark.deferred:
        lines.append("put off earlier")
    if mark.note:
        lines.append(f"note: {html(mark.note, 2_000)}")
    lines += [f"{html(who)}: <strong>{html(label)}</strong>" for who, label in session.others()]
    return "".join(f"<p>{line}</p>" for line in lines)


def revealed_html(session: LabelSession) -> str:
    """Show what the judge says of the item that was labelled last.

    Parameters
    ----------
    session : LabelSession
        The session.

    Returns
    -------
    str
        Empty where there is nothing to show, or the session does not reveal.
    """
    last = session.last
    if last is None or not session.reveal or last.judge_label is None:
        return ""
    mine = session.mark_of(last).label
    word = "agrees" if mine == last.judge_label else "says otherwise"
    return (
        f"<p>{html(last.key.case_id, 200)}: you said <strong>{html(mine)}</strong>, the {JUDGE} {word}: "
        f"<strong>{html(last.judge_label)}</strong></p>"
    )


def cheat_sheet_html(keys: LabelKeys) -> str:
    """List every key.

    Parameters
    ----------
    keys : LabelKeys
        The keys.

    Returns
    -------
    str
        One line for labels, one for actions, one for reasons.
    """
    lines = (
        keys.labels.items(),
        ACTION_KEYS.items(),
        ((f"t{at}", reason) for at, reason in enumerate(REASONS, 1)),
    )
    shown = (
        " · ".join(f'<kbd style="{_KEY}">{html(key)}</kbd> {html(what)}' for key, what in line)
        for line in lines
    )
    rows = "".join(f'<p style="margin: .2em 0">{line}</p>' for line in shown)
    return f'<div role="note" aria-label="keys" style="opacity: .9; font-size: .92em">{rows}</div>'


def static_html(session: LabelSession) -> str:
    """Show the session where no widget can be: progress, counts and the item that is next.

    Parameters
    ----------
    session : LabelSession
        The session.

    Returns
    -------
    str
        A fragment that needs no kernel and no network.
    """
    told = [session.mark_of(item).label for item in session.items]
    rows: list[tuple[str, ...]] = [
        (name, str(told.count(name))) for name in (*session.labels, "cant_tell") if name in told
    ]
    table = table_html(Table("Labels so far", ("label", "items"), rows)) if rows else ""
    return f'<div class="neverempty-labels">{progress_html(session)}{item_html(session)}{table}</div>'
