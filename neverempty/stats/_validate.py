"""Checks of arguments: each error says which argument is wrong and why."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neverempty.stats._estimate import FloatArray, IntArray

Scalar = int | float | np.integer[Any] | np.floating[Any] | np.bool_
Rng = int | np.random.Generator
DEFAULT_SEED = 20260929


def is_scalar(*values: object) -> bool:
    """Return whether none of the values is an array."""
    return all(np.ndim(v) == 0 for v in values)  # type: ignore[arg-type]


def counts(name: str, value: object) -> IntArray:
    """Return value as whole numbers >= 0; booleans and integral floats are accepted."""
    array = np.asarray(value)
    if array.dtype == object and any(v is None for v in array.ravel()):
        raise ValueError(f"{name} must be a count; got None")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold counts (whole numbers); got {value!r}")
    if array.dtype.kind == "f":
        # Above 2^53 a float no longer tells neighbouring whole numbers apart.
        bad = ~(np.abs(array) <= 2.0**53) | (array != np.floor(array))
        if bad.any():
            raise ValueError(f"{name} must hold counts (whole numbers); got {array[bad].ravel()[0]}")
    if (array < 0).any():
        raise ValueError(f"{name} must not be negative; got {array.min()}")
    return array.astype(np.int64)


def count(name: str, value: object, minimum: int = 0) -> int:
    """Return value as one whole number >= minimum."""
    array = counts(name, value)
    if array.ndim:
        raise ValueError(f"{name} must be a single number; got an array of shape {array.shape}")
    if array < minimum:
        raise ValueError(f"{name} must be at least {minimum}; got {int(array)}")
    return int(array)


def counts_of(x_name: str, x: object, n_name: str, n: object) -> tuple[IntArray, IntArray]:
    """Return counts x out of n, both broadcast to one shape, with x <= n."""
    xs, ns = broadcast(**{x_name: counts(x_name, x), n_name: counts(n_name, n)})
    if (xs > ns).any():
        at = tuple(i[0] for i in np.nonzero(xs > ns)) if xs.ndim else ()
        raise ValueError(f"{x_name} must not exceed {n_name}; got {x_name}={xs[at]}, {n_name}={ns[at]}")
    return xs, ns


def count_of(x_name: str, x: object, n_name: str, n: object) -> tuple[int, int]:
    """Return one count x out of n, with x <= n."""
    hits, total = count(x_name, x), count(n_name, n)
    counts_of(x_name, hits, n_name, total)
    return hits, total


def broadcast(**arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return arrays broadcast to one shape."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} has {array.shape}" for name, array in arrays.items())
        raise ValueError(f"shapes do not fit together: {shapes}") from None


def open_unit(name: str, value: object) -> float:
    """Return value as a float strictly between 0 and 1 (levels of confidence, error rates)."""
    number = finite(name, value)
    if not 0.0 < number < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {number}")
    return number


def probability(name: str, value: object) -> float:
    """Return value as a float in [0, 1]."""
    number = finite(name, value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must lie in [0, 1]; got {number}")
    return number


def probabilities(name: str, value: object) -> FloatArray:
    """Return value as an array of floats in [0, 1]."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers in [0, 1]; got {value!r}") from None
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        raise ValueError(f"{name} must lie in [0, 1]; got {array[bad].ravel()[0]}")
    return array


def finite(name: str, value: object) -> float:
    """Return value as a finite float."""
    if isinstance(value, str):
        raise ValueError(f"{name} must be a number; got {value!r}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number; got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {number}")
    return number


def choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return value if it is one of choices."""
    known = tuple(choices)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
    return value


def generator(rng: Rng) -> np.random.Generator:
    """Return a Generator for a seed, or the Generator itself; numpy's global state is never used."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(count("rng", rng))


def z_value(conf: float) -> float:
    """Return the two-sided normal quantile of a confidence level."""
    return NormalDist().inv_cdf((1.0 + open_unit("conf", conf)) / 2.0)


def is_missing(value: object) -> bool:
    """Return whether a value stands for 'not measured' (None, NaN, pandas' NA)."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def measured(name: str, values: Iterable[Any]) -> FloatArray:
    """Return values as floats with NaN for every missing one; infinite values are refused."""
    if isinstance(values, Mapping):
        raise ValueError(f"{name} is a mapping: pass its values, list({name}.values())")
    if np.ndim(values) == 0 and not isinstance(values, Iterable):  # type: ignore[arg-type]
        raise ValueError(f"{name} must be a sequence of values; got {values!r}")
    # A list may hold None, which only an array of objects keeps; columns of numbers stay as they are.
    array = np.asarray(values) if hasattr(values, "__array__") else np.array(list(values), dtype=object)
    if array.dtype.kind in "biuf":
        floats = array.astype(float)
    else:
        flat = [math.nan if is_missing(v) else finite(f"{name}[{i}]", v) for i, v in enumerate(array.ravel())]
        floats = np.array(flat, dtype=float).reshape(array.shape)
    if np.isinf(floats).any():
        raise ValueError(
            f"{name} must be finite; position {int(np.argmax(np.isinf(floats.ravel())))} is infinite"
        )
    return floats


def rows(name: str, values: Iterable[Iterable[Any]] | NDArray[Any]) -> list[Any]:
    """Return the rows of a table: of a frame or an array too, whose iteration may give something else."""
    table = list(np.asarray(values) if hasattr(values, "__array__") else values)
    for i, row in enumerate(table):
        if not isinstance(row, Iterable):
            raise ValueError(f"{name} must hold one row of repeats per case; {name}[{i}] is {row!r}")
    return table


def binary(name: str, values: Iterable[Any]) -> FloatArray:
    """Return values as 0.0, 1.0 or NaN; anything else, a partial credit for instance, is refused."""
    floats = measured(name, values)
    bad = ~(np.isnan(floats) | (floats == 0.0) | (floats == 1.0))
    if bad.any():
        at = int(np.argmax(bad.ravel()))
        raise ValueError(
            f"{name} must hold 0, 1 or None; position {at} is {floats.ravel()[at]}. "
            "For partial credit use a mean (clustered_se), not a rate."
        )
    return floats


def drop_missing(floats: FloatArray) -> tuple[FloatArray, int]:
    """Return the measured values and the number of those that were not."""
    keep = ~np.isnan(floats)
    return floats[keep], int(floats.size - keep.sum())


def decimal_fraction(name: str, value: float) -> Fraction:
    """Return a rate in [0, 1] as the decimal that its writer meant: 0.07 is 7/100, not the nearest double."""
    return Fraction(str(probability(name, value)))


def same_length(**columns: Sequence[Any] | np.ndarray[Any, Any]) -> None:
    """Check that all columns have the same length."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("lengths differ: " + ", ".join(f"{k} has {v}" for k, v in lengths.items()))
