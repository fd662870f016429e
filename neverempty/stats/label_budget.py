"""How many labels a wanted kappa needs, and how often a judge of known quality is cut."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from neverempty.stats import _validate as check
from neverempty.stats._estimate import FloatArray
from neverempty.stats.agreement import kappa_arrays

_THIRDS = (1 / 3, 1 / 3, 1 / 3)


def _expected_shares(kappa: float, marginals: Sequence[float]) -> FloatArray:
    """Table of shares with that kappa when both raters have the same margins."""
    margin = check.probabilities("marginals", list(marginals))
    if margin.size < 2 or abs(float(margin.sum()) - 1.0) > 1e-9:
        raise ValueError(f"marginals must be two or more shares that add up to 1; got {tuple(marginals)}")
    if margin.max() >= 1.0:
        raise ValueError("marginals hold one category only, where kappa is undefined")
    value = check.finite("kappa", kappa)
    shares = (1.0 - value) * np.outer(margin, margin) + value * np.diag(margin)
    if value > 1.0 or (shares < -1e-12).any():
        raise ValueError(f"kappa {value} cannot occur with marginals {tuple(marginals)}")
    return np.maximum(shares, 0.0)


@dataclasses.dataclass(frozen=True)
class LabelBudget:
    """Labels to collect, and the kappa that they were planned for."""

    n: int
    kappa: float
    min_kappa: float
    power: float


def kappa_label_budget(
    kappa: float = 0.8,
    min_kappa: float = 0.6,
    marginals: Sequence[float] = _THIRDS,
    *,
    conf: float = 0.95,
    power: float = 0.8,
) -> LabelBudget:
    """Labels after which a judge of a given true kappa is trusted with the wanted probability.

    Trusted means that the lower bound of the two-sided interval reaches min_kappa.

    Parameters
    ----------
    kappa : float
        True kappa of the judge, above min_kappa.
    min_kappa : float
        Threshold of `judge_trust`.
    marginals : sequence of float
        Shares of the categories, the same for both raters.
    conf, power : float
        Confidence level, and wanted probability.

    Returns
    -------
    LabelBudget
        n = ((z_conf + z_power) sd / (kappa - min_kappa))^2 with the large-sample sd of one label.

    Raises
    ------
    ValueError
        If kappa does not exceed min_kappa, or cannot occur with those margins.

    References
    ----------
    Flack et al. (1988), Psychometrika 53, 321-325.

    Examples
    --------
    >>> kappa_label_budget(0.8).n, kappa_label_budget(0.7).n
    (52, 283)
    """
    threshold = check.finite("min_kappa", min_kappa)
    shares = _expected_shares(kappa, marginals)
    if kappa <= threshold:
        raise ValueError(
            f"kappa {kappa} must exceed min_kappa {threshold}: no number of labels helps otherwise"
        )
    # A table of a million items stands for the exact shares.
    scale = 1_000_000
    table = np.rint(shares * scale).astype(np.int64)
    sd = math.sqrt(float(kappa_arrays(table[np.newaxis])[3][0]))
    z = check.z_value(conf) + NormalDist().inv_cdf(check.open_unit("power", power))
    return LabelBudget(math.ceil((z * sd / (kappa - threshold)) ** 2), kappa, threshold, power)


@dataclasses.dataclass(frozen=True)
class TrustOdds:
    """How calibrations of one judge come out: shares of simulated label sets."""

    p_trusted: float
    p_provisional: float
    p_cut: float
    p_undefined: float


def judge_trust_odds(
    n: int,
    kappa: float,
    marginals: Sequence[float] = _THIRDS,
    *,
    min_kappa: float = 0.6,
    conf: float = 0.95,
    n_simulations: int = 20_000,
    rng: check.Rng = check.DEFAULT_SEED,
) -> TrustOdds:
    """How often a judge of known kappa is trusted, provisional or cut with n labels.

    Parameters
    ----------
    n : int
        Labels.
    kappa : float
        True kappa of the judge.
    marginals : sequence of float
        Shares of the categories.
    min_kappa, conf : float
        Threshold and confidence level of `judge_trust`.
    n_simulations : int
        Simulated label sets.
    rng : int or numpy.random.Generator
        Seed or generator.

    Returns
    -------
    TrustOdds
        Shares that add up to 1.

    Raises
    ------
    ValueError
        If n is no count or kappa cannot occur with those margins.

    Examples
    --------
    >>> round(judge_trust_odds(30, 0.7).p_cut, 2)
    0.21
    """
    size, z = check.count("n", n, 1), check.z_value(conf)
    shares = _expected_shares(kappa, marginals)
    runs = check.count("n_simulations", n_simulations, 1)
    draws = check.generator(rng).multinomial(size, shares.ravel() / shares.sum(), size=runs)
    _, _, values, variance = kappa_arrays(draws.reshape(-1, *shares.shape))
    undefined = np.isnan(values)
    lower = values - z * np.sqrt(variance / size)
    reaches = values >= min_kappa
    trusted = reaches & (lower >= min_kappa)
    return TrustOdds(
        p_trusted=float(trusted.mean()),
        p_provisional=float((reaches & ~trusted).mean()),
        p_cut=float((~reaches & ~undefined).mean()),
        p_undefined=float(undefined.mean()),
    )
