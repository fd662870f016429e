"""Kappas that other programs and a paper publish, through the project's own calibration.

The folder `data/judge` beside that of the environment variable NEVEREMPTY_REFERENCE adds its matrices and the
annotators of PandaLM's test set, item by item; without it, the matrices that stand here are tried.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from neverempty import stats
from neverempty.judge import VERDICTS, calibrate
from neverempty.stats import DegenerateTableWarning

FOLDER = Path(os.environ.get("NEVEREMPTY_REFERENCE") or Path(__file__).parent).parent / "data" / "judge"
PUBLISHED = {("human1", "human2"): 0.8520, ("human1", "human3"): 0.8789, ("human2", "human3"): 0.8617}
LARGE = 10_000  # labels above which a matrix is not written out label by label

# Kappa by scikit-learn 1.9.1; none where it gives nan.
MATRICES = [
    ([[20, 5, 0], [10, 15, 0], [0, 0, 0]], 0.7, 0.4),
    ([[40, 6, 4], [5, 30, 5], [3, 2, 25]], 95 / 120, 0.6828752642706131),
    ([[10, 0, 0], [0, 10, 0], [0, 0, 10]], 1.0, 1.0),
    ([[10, 0, 0], [10, 0, 0], [10, 0, 0]], 1 / 3, 0.0),
    ([[10, 10, 10], [0, 0, 0], [0, 0, 0]], 1 / 3, 0.0),
    ([[5, 0, 0], [0, 0, 0], [0, 0, 0]], 1.0, None),
    ([[0, 5, 0], [0, 0, 0], [0, 0, 0]], 0.0, 0.0),
    ([[1, 0, 0], [0, 0, 0], [0, 0, 0]], 1.0, None),
    ([[0, 10, 0], [10, 0, 0], [0, 0, 10]], 1 / 3, 0.0),
    ([[0, 5, 5], [5, 0, 5], [5, 5, 0]], 0.0, -0.5),
    ([[94, 2, 0], [2, 1, 0], [0, 0, 1]], 0.96, 0.4832041343669251),
    ([[20, 0, 0], [3, 17, 0], [6, 4, 0]], 0.74, 0.5666666666666667),
    # Three annotators of PandaLM's test set (Wang et al. 2023, arXiv:2306.05087), in pairs; published kappas.
    ([[388, 23, 16], [29, 435, 11], [0, 8, 89]], 912 / 999, 0.8520),
    ([[391, 21, 15], [18, 448, 9], [2, 6, 89]], 928 / 999, 0.8789),
    ([[379, 28, 10], [19, 441, 6], [13, 6, 97]], 917 / 999, 0.8617),
]


def _fixtures() -> list[tuple[Any, float, float | None]]:
    file = FOLDER / "kappa_fixtures.json"
    given = json.loads(file.read_text(encoding="utf-8"))["kappa"] if file.exists() else []
    return [(one["matrix"], one["agreement"], one["kappa"]) for one in given]


def _annotated() -> list[tuple[dict[str, list[str]], tuple[str, str], float]]:
    """Give the annotators' labels by item: those of the folder, else the published pairs as matrices."""
    file = FOLDER / "pandalm_testset.csv"
    if not file.exists():
        return [
            (_columns(matrix, pair), pair, kappa)
            for (matrix, _, kappa), pair in zip(MATRICES[-3:], PUBLISHED, strict=True)
        ]
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    columns = {name: [row[name] for row in rows] for name in ("human1", "human2", "human3")}
    return [(columns, pair, kappa) for pair, kappa in PUBLISHED.items()]


def _columns(matrix: Any, pair: tuple[str, str]) -> dict[str, list[str]]:
    names = ("first", "second", "tie")
    cells = [
        (names[i], names[j]) for i, j in itertools.product(range(3), repeat=2) for _ in range(matrix[i][j])
    ]
    return {name: [cell[at] for cell in cells] for at, name in enumerate(pair)}


def _rows(people: list[str], judge: list[str]) -> list[dict[str, str]]:
    pairs = zip(people, judge, strict=True)
    return [{"id": str(at), "label": one, "judge_label": other} for at, (one, other) in enumerate(pairs)]


@pytest.mark.filterwarnings(f"ignore::{DegenerateTableWarning.__module__}.DegenerateTableWarning")
@pytest.mark.parametrize(("matrix", "agreement", "kappa"), [*MATRICES, *_fixtures()])
def test_kappa_is_the_one_of_other_programs(
    matrix: list[list[int]], agreement: float, kappa: float | None
) -> None:
    wanted = None if kappa is None else pytest.approx(kappa, abs=5e-5)
    assert stats.cohen_kappa(matrix).value == wanted
    if sum(map(sum, matrix)) > LARGE:
        return
    written = _columns(matrix, ("people", "judge"))
    names = dict(zip(("first", "second", "tie"), VERDICTS, strict=True))
    people, judge = ([names[label] for label in written[name]] for name in ("people", "judge"))
    found = calibrate(_rows(people, judge))
    assert [list(row) for row in found.matrix.counts] == matrix
    assert found.agreement.value == pytest.approx(agreement)
    assert found.kappa.value == wanted


@pytest.mark.parametrize(("columns", "pair", "kappa"), _annotated())
def test_annotators_agree_as_far_as_was_published(
    columns: dict[str, list[str]], pair: tuple[str, str], kappa: float
) -> None:
    labels = dict(zip(("first", "second", "tie"), VERDICTS, strict=True))
    one, other = ([labels[label] for label in columns[name]] for name in pair)
    found = calibrate(_rows(one, other))
    assert found.kappa.value == pytest.approx(kappa, abs=5e-5)
    assert (found.n_judged, found.trust.level) == (999, "trusted")
    assert found.kappa.lo is not None
    assert found.kappa.hi is not None
    assert found.kappa.lo < kappa < found.kappa.hi
