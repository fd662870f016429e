from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from neverempty import stats


def beta_binomial(rng: np.random.Generator, n_clusters: int, size: int) -> tuple[Any, Any]:
    """Values with a rate of their own for each cluster: mean 0.7, intraclass correlation 1/6."""
    rates = rng.beta(3.5, 1.5, n_clusters)
    values = rng.random((n_clusters, size)) < rates[:, None]
    return values.ravel().astype(float), np.repeat(np.arange(n_clusters), size)


def test_clustered_interval_covers_at_95_percent_with_40_clusters_of_5() -> None:
    rng, runs, hits = np.random.default_rng(5), 2000, 0
    for _ in range(runs):
        found = stats.clustered_se(*beta_binomial(rng, 40, 5))
        hits += found.lo <= 0.7 <= found.hi
    assert 0.93 <= hits / runs <= 0.97


def test_treating_repeats_as_independent_would_not_cover() -> None:
    rng, runs, hits = np.random.default_rng(5), 500, 0
    for _ in range(runs):
        found = stats.clustered_se(*beta_binomial(rng, 40, 5))
        hits += abs(float(found) - 0.7) <= 1.96 * found.se_iid
    assert hits / runs < 0.91


def test_standard_error_against_statsmodels() -> None:
    values, clusters = beta_binomial(np.random.default_rng(1), 35, 4)
    fit = sm.OLS(values, np.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    assert stats.clustered_se(values, clusters).se_cr0 == pytest.approx(float(fit.bse[0]), rel=1e-12)


def test_few_clusters_warn() -> None:
    with pytest.warns(stats.SmallSampleWarning, match="5 clusters"):
        stats.clustered_se([1, 0] * 4 + [1, 1], "aabbccddee")


def test_one_cluster_or_no_variation_has_no_interval() -> None:
    one = stats.clustered_se([1, 0, 1], "aaa")
    assert (one.se_cr1, one.lo, one.status) == (None, None, "degenerate")
    flat = stats.clustered_se([1, 1, 1, 1], "aabb")
    assert (flat.value, flat.lo, flat.status) == (1.0, None, "degenerate")
    assert stats.clustered_se([None], "a").status == "not_measured"


def test_equal_fractions_have_no_variation_though_their_mean_is_rounded() -> None:
    found = stats.clustered_se([0.1] * 6, "aabbcc")
    assert (found.se_iid, found.lo, found.status) == (0.0, None, "degenerate")
    parts = stats.variance_components([0.1] * 6, "aabbcc")
    assert (parts.value, parts.n_eff, parts.status) == (None, 3.0, "degenerate")


def test_deviations_that_cancel_within_every_cluster_claim_no_interval() -> None:
    found = stats.clustered_se([1, 0] * 40, [i // 2 for i in range(80)])
    assert (found.value, found.lo, found.hi, found.status) == (0.5, None, None, "degenerate")


def test_missing_values_leave_their_cluster_and_are_counted() -> None:
    with pytest.warns(stats.SmallSampleWarning):
        found = stats.clustered_se([1, 1, None, 1, 0], "aabbb")
    assert (found.n, found.n_missing, found.n_clusters) == (4, 1, 2)
    assert stats.case_means([1, 0, None, 1, None], "aabbc").tolist() == [0.5, 1.0]


def test_effective_cases_lie_between_clusters_and_values() -> None:
    same = stats.variance_components([1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0], "aaabbbcccddd")
    assert same.value == pytest.approx(1.0)
    assert same.n_eff == pytest.approx(12 / 3.6666666666666665)
    single = stats.variance_components([1, 0, 1], "abc")
    assert (single.n_eff, single.status) == (3.0, "undefined")
    flat = stats.variance_components([1, 1, 1, 1], "aabb")
    assert (flat.n_eff, flat.status) == (2.0, "degenerate")


def test_a_negative_correlation_is_shown_but_never_adds_cases() -> None:
    found = stats.variance_components([1, 0, 1, 0, 1, 0, 1, 0], "aabbccdd")
    assert found.value is not None
    assert found.value < 0
    assert found.n_eff == 8.0


def test_components_recover_the_correlation_they_were_drawn_with() -> None:
    values, clusters = beta_binomial(np.random.default_rng(2), 4000, 5)
    found = stats.variance_components(values, clusters)
    assert float(found) == pytest.approx(1 / 6, abs=0.02)
    assert found.between == pytest.approx(0.21 / 6, abs=0.005)
    assert found.within == pytest.approx(0.21 * 5 / 6, abs=0.005)


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([1, 0], "a", "lengths differ: values has 2, clusters has 1"),
        ([1, 0], ["a", None], r"clusters\[1\] is missing"),
        ([1, math.inf], "ab", r"values\[1\] must be finite"),
        ([1, "x"], "ab", r"values\[1\] must be a number"),
    ],
)
def test_wrong_input_is_refused_by_name(values: Any, clusters: Any, message: str) -> None:
    for function in (stats.clustered_se, stats.variance_components, stats.case_means):
        with pytest.raises(ValueError, match=message):
            function(values, clusters)
