"""Strict JSON for any object and any text: what is written is valid, what is read holds no surprise."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import from_json, to_json

BOM = b"\xef\xbb\xbf"
# Lone surrogates cannot stand in UTF-8; the other three end a line for str.splitlines().
_ESCAPED = re.compile("[\ud800-\udfff\u0085\u2028\u2029]")
_BACKSLASH, _CAPITAL_I = b"\\I"
_MAX_DEPTH = 190  # readers stop at 200, and an object stands inside a trace


class JsonError(ValueError):
    """A text is not the JSON that it should be.

    Parameters
    ----------
    reason : str
        What is wrong, without the place.
    line, column : int
        Where, both from 1; the column counts characters.
    """

    def __init__(self, reason: str, line: int, column: int) -> None:
        self.reason, self.line, self.column = reason, line, column
        super().__init__(f"line {line}, column {column}: {reason}")


def dumps(obj: Any, *, indent: int | None = None) -> str:
    r"""Write any object as strict JSON with sorted keys, the same bytes in every process.

    NaN and infinities become null (there is no such number in JSON, and missing must not look like zero).
    Lone surrogates and the line ends U+0085, U+2028 and U+2029 are escaped, all other text stays readable.
    Objects that JSON does not know are written by their fields or their text, never by their address.

    Parameters
    ----------
    obj : object
        What to write.
    indent : int, optional
        Spaces per level; without it, one line without blanks.

    Returns
    -------
    str
        The JSON text, always encodable as UTF-8.

    Examples
    --------
    >>> dumps({"b": float("nan"), "a": "na\u00efve \ud835"})
    '{"a":"naïve \\ud835","b":null}'
    """
    separators = (",", ":") if indent is None else (",", ": ")
    options: dict[str, Any] = {"ensure_ascii": False, "sort_keys": True, "separators": separators}
    try:
        text = json.dumps(obj, allow_nan=False, default=_plain, indent=indent, **options)
    except (ValueError, TypeError, RecursionError):
        return escape_json(json.dumps(jsonable(obj), allow_nan=False, indent=indent, **options))
    if text.count("[") + text.count("{") > _MAX_DEPTH and not _is_shallow(text):
        text = json.dumps(jsonable(obj), allow_nan=False, indent=indent, **options)
    return escape_json(text)


def _is_shallow(text: str) -> bool:
    """Tell whether readers that stop at a depth of 200 can read the text; Python 3.13 writes any depth."""
    try:
        from_json(text.encode("utf-8", "replace"))
    except ValueError:
        return False
    return True


def escape_json(text: str) -> str:
    """Escape the characters of a JSON text that UTF-8 or line readers cannot carry.

    Parameters
    ----------
    text : str
        JSON as ``json.dumps(..., ensure_ascii=False)`` writes it.

    Returns
    -------
    str
        The same JSON value; such characters stand only inside strings, so an escape is always right.
    """
    if text.isascii():
        return text
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def jsonable(obj: Any) -> Any:
    """Rebuild any object from strict JSON values only.

    Parameters
    ----------
    obj : object
        Anything an agent may hand over: NaN, cycles, odd keys, numbers of 5,000 digits, foreign objects.

    Returns
    -------
    object
        ``dict`` (string keys), ``list``, ``str``, finite numbers, ``bool`` and None. NaN becomes None; a
        cycle or a nesting deeper than 190 becomes the text ``"<nested too deeply>"``.
    """
    return _jsonable(obj, 0)


def _jsonable(obj: Any, depth: int) -> Any:
    if obj is None or isinstance(obj, bool):
        return obj
    if isinstance(obj, str):
        return str.__str__(obj)
    if isinstance(obj, int):
        return int(obj) if obj.bit_length() < 4096 else f"<int of {obj.bit_length()} bits>"
    if isinstance(obj, float):
        return float(obj) if math.isfinite(obj) else None
    if depth >= _MAX_DEPTH:
        return "<nested too deeply>"
    if type(obj) is dict:
        return {_key(key): _jsonable(value, depth + 1) for key, value in obj.items()}
    if type(obj) is list or type(obj) is tuple:
        return [_jsonable(value, depth + 1) for value in obj]
    return _jsonable(_plain(obj), depth + 1)


def _key(key: Any) -> str:
    """Name an object's key as ``json.dumps`` does, and any other key by its text."""
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, (bool, int, float)):
        plain = key if isinstance(key, float) else _jsonable(key, 0)
        return plain if isinstance(plain, str) else json.dumps(plain)
    return _text_of(key) if isinstance(key, tuple) else str(_plain(key))


def _plain(obj: Any) -> Any:
    """Turn an object that JSON does not know into one that it knows, one level deep."""
    try:
        return _read(obj)
    except (Exception, SystemExit, GeneratorExit) as error:  # foreign code; it must not end a program either
        return f"<{type(obj).__qualname__}: reading it raised {type(error).__name__}>"


def _read(obj: Any) -> Any:
    if isinstance(obj, Mapping):
        return dict(obj.items())
    if isinstance(obj, (list, tuple)):
        return list(obj)
    if isinstance(obj, (set, frozenset)):
        return sorted(obj, key=lambda item: (type(item).__name__, str(_plain(item))))
    if isinstance(obj, (bytes, bytearray)):
        return bytes(obj).decode("utf-8", "replace")
    if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
        return {field.name: getattr(obj, field.name) for field in dataclasses.fields(obj)}
    for method in ("model_dump", "tolist", "isoformat"):
        convert = None if isinstance(obj, type) else getattr(obj, method, None)
        if callable(convert):
            return convert()
    return _text_of(obj)


def _text_of(obj: Any) -> str:
    """Return an object's text, or its type's name where the text fails or is only an address."""
    try:
        text = str(obj)
    except (Exception, SystemExit, GeneratorExit) as error:
        return f"<{type(obj).__qualname__}: its text raised {type(error).__name__}>"
    return f"<{type(obj).__qualname__}>" if " at 0x" in text else text


def holds_every_key_once(raw: bytes) -> bool:
    """Tell quickly whether a line is strict JSON in which no object repeats a key.

    A parser keeps one value per key, so a repeated key loses at least its colon when the line is parsed and
    written again, and nothing adds one: colons inside strings stay what they are unless they were escaped. So
    equal counts of colons prove that every key stood once. A line with an escape that might be a colon, or
    with a number that overflowed, is left to the exact reader.

    Parameters
    ----------
    raw : bytes
        One line.

    Returns
    -------
    bool
        True where it is certain; False says that `loads_strict` must look.
    """
    try:
        again = to_json(from_json(raw, allow_inf_nan=False))
    except ValueError:
        return False
    # A byte as a number is found ten times faster than as bytes, and most lines hold neither of the two.
    return (
        again.count(b":") == raw.count(b":")
        and (_BACKSLASH not in raw or b"\\u003" not in raw)
        and (_CAPITAL_I not in again or b"Infinity" not in again)
    )


def loads_strict(text: str | bytes, *, on_nan: Callable[[str], Any] | None = None) -> Any:
    """Read one JSON text, refusing what ``json.loads`` lets through.

    Parameters
    ----------
    text : str or bytes
        JSON; bytes must be UTF-8.
    on_nan : callable, optional
        Called with each ``NaN``, ``Infinity`` or number too large for a float, which are then accepted.
        Without it they are refused.

    Returns
    -------
    object
        The value. Escaped surrogate pairs are joined, lone surrogates kept.

    Raises
    ------
    JsonError
        With line and column: broken JSON, a repeated key, NaN or Infinity, wrong bytes.

    Examples
    --------
    >>> try:
    ...     loads_strict('{"label": 1, "label": 2}')
    ... except JsonError as error:
    ...     print(error)
    line 1, column 14: the key 'label' stands twice in the same object
    """
    if isinstance(text, bytes):
        text = _decode(text)
    notes: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            notes.append("duplicate")
        return found

    def constant(name: str) -> float:
        if on_nan is None:
            notes.append("nan")
        else:
            on_nan(name)
        return float(name)

    def number(digits: str) -> float:
        value = float(digits)
        return constant(digits) if math.isinf(value) else value

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant, parse_float=number)
    except json.JSONDecodeError as error:
        raise _broken(text, error) from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"
        raise JsonError(reason, 1, 1) from None
    if notes:
        raise _locate(text)
    return value


def _broken(text: str, error: json.JSONDecodeError) -> JsonError:
    """Say what is broken, alike for every Python: only 3.13 and later name a trailing comma."""
    end = error.pos + 1 if text[error.pos : error.pos + 1] == "," else error.pos
    before = text[:end].rstrip()
    if before.endswith(",") and text[len(before) :].lstrip()[:1] in ("}", "]"):
        return JsonError("not JSON: a comma before the closing bracket", *_place(text, len(before) - 1))
    return JsonError(f"not JSON: {error.msg}", error.lineno, error.colno)


def _decode(raw: bytes) -> str:
    try:
        return raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        head = raw[: error.start].decode("utf-8", "replace")
        reason = f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8"
        raise JsonError(reason, *_place(head, len(head))) from None


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}\[\]]|-?[A-Za-z0-9.+-]+')


def _locate(text: str) -> JsonError:
    """Find the first repeated key or non-number of a text that is otherwise JSON."""
    open_keys: list[set[str]] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in ("{", "["):
            open_keys.append(set())
        elif token in ("}", "]"):
            open_keys.pop()
        elif match.group(1):
            key = json.loads(token[: -len(match.group(1))])
            if key in open_keys[-1]:
                return JsonError(
                    f"the key {key!r} stands twice in the same object", *_place(text, match.start())
                )
            open_keys[-1].add(key)
        elif token[0] != '"' and token not in ("true", "false", "null") and not math.isfinite(float(token)):
            return JsonError(f"{token} is not a JSON number; use null", *_place(text, match.start()))
    return JsonError("not strict JSON", 1, 1)


def _place(text: str, index: int) -> tuple[int, int]:
    """Turn an index into line and column, both from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def digest(value: Any) -> str:
    """Hash a value by its canonical JSON: SHA-256, in hex.

    Examples
    --------
    >>> digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
    True
    """
    return hashlib.sha256(dumps(value).encode("utf-8")).hexdigest()
