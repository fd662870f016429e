from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from neverempty import stats

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("holm", "holm"), ("bh", "fdr_bh"), ("bonferroni", "bonferroni")]
)
@given(p=PS)
def test_adjusted_values_against_statsmodels(ours: str, theirs: str, p: list[float]) -> None:
    found = stats.adjust(p, ours).adjusted  # type: ignore[arg-type]
    assert found == pytest.approx(multipletests(p, method=theirs)[1].tolist(), abs=1e-12)


def test_tests_that_were_not_measured_leave_the_family_and_are_listed() -> None:
    found = stats.holm([0.01, None, 0.04, float("nan")])
    assert found.adjusted == (0.02, None, 0.04, None)
    assert (found.m, found.left_out) == (2, (1, 3))
    assert found.reject(0.05) == (True, False, True, False)


def test_rejection_is_strict() -> None:
    assert stats.holm([0.05]).reject(0.05) == (False,)


def test_an_empty_family_is_no_error() -> None:
    assert stats.holm([None]).adjusted == (None,)


@pytest.mark.parametrize("bad", [1.2, -0.1, float("inf"), "x"])
def test_a_p_value_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="p_values"):
        stats.adjust([0.1, bad])
