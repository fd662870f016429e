"""Every row of a folder of reference values, within the tolerance of the folder's manifest.

The folder is that of the environment variable NEVEREMPTY_REFERENCE, else the project's own subset. The
columns of anti-examples (wald_*, se_delta, delta_*: intervals that miss their coverage) are known, not built.
"""

from __future__ import annotations

import csv
import functools
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neverempty import stats
from neverempty.stats.paired_interval import _phi

OWN = Path(__file__).parent / "reference"
FOLDER = Path(os.environ.get("NEVEREMPTY_REFERENCE") or OWN)
MANIFEST = json.loads((FOLDER / "manifest.json").read_text(encoding="utf-8"))["files"]
# The claims are sentences with figures: tests/stats/test_reference_claims.py reads them.
FILES = sorted(p.name for p in FOLDER.iterdir() if p.name not in {"manifest.json", "claims.json"})

Row = dict[str, str]
# What is compared, the number found, the number wanted, and the tolerance's label in the manifest.
Check = tuple[str, Any, Any, str]
CELLS = [f"n{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)]
STATUS = {"interval_outside": "inconsistent", "se_zero": "degenerate"}


CHECKS: dict[str, tuple[Callable[..., Iterator[Check]], list[str]]] = {}


def checks(file: str, columns: str) -> Callable[[Any], Any]:
    """Register the check of a file's rows and the columns that it may have."""

    def register(check: Any) -> Any:
        CHECKS[file] = check, columns.replace("CELLS", " ".join(CELLS)).split()
        return check

    return register


def num(text: str) -> float | None:
    return float(text) if text != "" else None


def ints(row: Row, *names: str) -> list[int]:
    return [int(row[name]) for name in names]


def floats(row: Row, *names: str) -> list[float]:
    return [float(row[name]) for name in names]


def same(found: object, row: Row, *names: str, label: str = "", **columns: str) -> Iterator[Check]:
    """Compare attributes of a result with columns of the row, of the same name or a given one."""
    for attribute, column in {**{name: name for name in names}, **columns}.items():
        yield column, getattr(found, attribute), num(row[column]), label


def table(row: Row) -> np.ndarray[Any, Any]:
    return np.array(ints(row, *CELLS)).reshape(3, 3)


@checks("wilson.csv", "kind n x conf lo hi")
def wilson(row: Row) -> Iterator[Check]:
    yield from same(stats.wilson_interval(*ints(row, "x", "n"), float(row["conf"])), row, "lo", "hi")


@checks("clopper_pearson.csv", "kind n x conf lo hi")
def clopper_pearson(row: Row) -> Iterator[Check]:
    side: Any = row["kind"]
    found = stats.clopper_pearson_interval(*ints(row, "x", "n"), float(row["conf"]), side)
    yield from same(found, row, "lo", "hi")


@checks("mcnemar_exact_onesided.csv", "kind b c p p_fraction p_midp p_two_sided reject_05 reject_05_midp")
def mcnemar_p(row: Row) -> Iterator[Check]:
    b, c = ints(row, "b", "c")
    exact, mid = float(stats.mcnemar_exact(b, c)), float(stats.mcnemar_exact(b, c, midp=True))
    yield "p", exact, num(row["p"]), ""
    if row["p_fraction"]:
        yield "p_fraction", exact, float(Fraction(row["p_fraction"])), ""
    yield "p_midp", mid, num(row["p_midp"]), ""
    yield "p_two_sided", float(stats.mcnemar_exact(b, c, "two-sided")), num(row["p_two_sided"]), ""
    yield "reject_05", exact < 0.05, row["reject_05"] == "1", "exact"
    yield "reject_05_midp", mid < 0.05, row["reject_05_midp"] == "1", "exact"


@checks("mcnemar_critical.csv", "kind alpha m b_crit_exact b_crit_midp")
def mcnemar_critical(row: Row) -> Iterator[Check]:
    for column, midp in (("b_crit_exact", False), ("b_crit_midp", True)):
        found = stats.critical_flips(int(row["m"]), float(row["alpha"]), midp)
        yield column, found, num(row[column]), "exact"


@checks("mcnemar_power.csv", "kind n p10 p01 alpha power power_midp")
def mcnemar_power(row: Row) -> Iterator[Check]:
    p10, p01, alpha = floats(row, "p10", "p01", "alpha")
    for column, midp in (("power", False), ("power_midp", True)):
        yield column, stats.mcnemar_power(int(row["n"]), p10, p01, alpha, midp), float(row[column]), ""


@checks("mcnemar_min_n.csv", "kind p10 p01 alpha target_power n power_at_n power_at_n_minus_1")
def mcnemar_min_n(row: Row) -> Iterator[Check]:
    p10, p01, alpha, target = floats(row, "p10", "p01", "alpha", "target_power")
    found = stats.mcnemar_sample_size(p10, p01, target, alpha)
    yield "n", found.n, num(row["n"]), "exact"
    yield from same(found, row, "power_at_n", "power_at_n_minus_1")


@checks(
    "paired_diff_ci.csv",
    "kind n11 n10 n01 n00 conf diff newcombe10_lo"
    " newcombe10_hi tango_lo tango_hi bonett_price_lo bonett_price_hi wald_lo wald_hi newcombe_phi_branch",
)
def paired_diff(row: Row) -> Iterator[Check]:
    # The file's first system is the candidate; ours is the baseline.
    n11, gains, losses, n00 = ints(row, "n11", "n10", "n01", "n00")
    for method, label in {"newcombe": "Newcombe", "tango": "Tango", "bonett_price": "BP"}.items():
        chosen: Any = method
        column = method.replace("newcombe", "newcombe10")
        found = stats.paired_diff_interval((n11, losses, gains, n00), float(row["conf"]), chosen)
        yield "diff", found.value, num(row["diff"]), ""
        yield from same(found, row, label=label, lo=f"{column}_lo", hi=f"{column}_hi")
    phi = _phi(float(n11), float(losses), float(gains), float(n00))
    branch = {"pos": phi > 0, "neg": phi < 0, "zero": phi == 0, "margin0": phi == 0}
    yield "newcombe_phi_branch", branch[row["newcombe_phi_branch"]], True, "exact"


@checks("kappa.csv", "kind CELLS n po pe kappa se se0 lo95 hi95 status")
def kappa(row: Row) -> Iterator[Check]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateTableWarning)
        found = stats.cohen_kappa(table(row))
    yield "status", found.status, STATUS.get(row["status"], row["status"]), "exact"
    yield "n", found.n, int(row["n"]), "exact"
    yield from same(found, row, "po", "pe", label="kappa", value="kappa")
    yield from same(found, row, "se", "se0", label="se")
    if row["status"] == "ok":
        yield from same(found, row, label="se", lo_unclipped="lo95", hi_unclipped="hi95")


@checks("kappa_bootstrap_ideal.csv", "kind CELLS n kappa p_undefined boot_mean boot_sd boot_q025 boot_q975")
def kappa_bootstrap(row: Row) -> Iterator[Check]:
    draw = functools.partial(stats.kappa_bootstrap, table(row), 100_000, method="percentile")
    found = draw()
    yield "n", found.n, int(row["n"]), "exact"
    yield "kappa", found.value, num(row["kappa"]), "1e-10"
    yield "p_undefined", found.p_undefined, num(row["p_undefined"]), "p_undefined"
    yield from same(found, row, label="sd", mean="boot_mean", se="boot_sd")
    if found.lo is None:
        yield "interval", found.p_undefined > 0.05, True, "exact"
        return
    # Quantiles of a discrete distribution jump: bracket them by neighbouring levels.
    wide, narrow = draw(conf=0.955), draw(conf=0.945)
    yield "boot_q025", wide.lo <= float(row["boot_q025"]) <= narrow.lo, True, "exact"
    yield "boot_q975", narrow.hi <= float(row["boot_q975"]) <= wide.hi, True, "exact"


@checks(
    "gwet_krippendorff.csv", "kind CELLS n ac1 ac1_se scott_pi kripp_alpha_nominal brennan_prediger status"
)
def gwet_krippendorff(row: Row) -> Iterator[Check]:
    counts = table(row)
    units = [(i, j) for i in range(3) for j in range(3) for _ in range(counts[i, j])]
    ac1, alpha = stats.gwet_ac1(counts, q=3), stats.krippendorff_alpha(units)
    yield "n", ac1.n, int(row["n"]), "exact"
    yield from same(ac1, row, value="ac1")
    yield from same(ac1, row, label="se", se="ac1_se")
    yield from same(stats.scott_pi(counts), row, value="scott_pi")
    yield from same(alpha, row, value="kripp_alpha_nominal")
    yield from same(stats.brennan_prediger(counts), row, value="brennan_prediger")
    yield "status", alpha.status == "undefined", row["status"] == "alpha_undefined", "exact"


@checks(
    "rogan_gladen.csv",
    "kind n flagged m_pos tp m_neg tn conf"
    " naive theta_unclipped theta se_delta delta_lo delta_hi lang_reiczigel_lo lang_reiczigel_hi status",
)
def rogan_gladen(row: Row) -> Iterator[Check]:
    counts = ints(row, "flagged", "n", "tp", "m_pos", "tn", "m_neg")
    found = stats.corrected_rate(*counts, conf=float(row["conf"]))
    yield "status", found.status, STATUS.get(row["status"], row["status"]), "exact"
    yield from same(found, row, "naive", unclipped="theta_unclipped", value="theta")
    yield from same(found, row, lo="lang_reiczigel_lo", hi="lang_reiczigel_hi")


@checks("collapse.csv", "kind q k p_unstable p_any_hit p_all_hit p_majority_strict p_tie")
def collapse(row: Row) -> Iterator[Check]:
    found = stats.collapse_probabilities(float(row["q"]), int(row["k"]))
    yield from same(found, row, "p_unstable", "p_any_hit", "p_all_hit", "p_majority_strict", "p_tie")


@checks("instability_gate.csv", "kind n k q max_unstable_rate u_fire p_case_unstable p_inconclusive")
def instability_gate(row: Row) -> Iterator[Check]:
    q, rate = floats(row, "q", "max_unstable_rate")
    found = stats.instability_gate_probability(*ints(row, "n", "k"), q, rate)
    yield from same(found, row, "u_fire", label="exact")
    yield from same(found, row, "p_case_unstable", "p_inconclusive")


@checks("floor.csv", "kind n floor p_true x_min_ok p_breach")
def floor(row: Row) -> Iterator[Check]:
    n, at, p = int(row["n"]), *floats(row, "floor", "p_true")
    yield "x_min_ok", stats.floor_min_passes(n, at), int(row["x_min_ok"]), "exact"
    yield "p_breach", stats.floor_breach_probability(n, at, p), num(row["p_breach"]), ""


@checks(
    "floor_plan.csv",
    "kind floor p_good p_bad alpha power"
    " n_first breach_good_at_first breach_bad_at_first n_stable breach_good_at_stable breach_bad_at_stable",
)
def floor_plan(row: Row) -> Iterator[Check]:
    found = stats.floor_plan(*floats(row, "floor", "p_good", "p_bad", "alpha", "power"))
    yield from same(found, row, "n_first", "n_stable", label="exact")
    yield from same(found, row, "breach_good_at_first", "breach_bad_at_first")
    yield from same(found, row, "breach_good_at_stable", "breach_bad_at_stable")


@checks("acceptance_plan.csv", "kind fail_rate_good fail_rate_bad alpha beta n c p_accept_good p_accept_bad")
def acceptance(row: Row) -> Iterator[Check]:
    found = stats.acceptance_plan(*floats(row, "fail_rate_good", "fail_rate_bad", "alpha", "beta"))
    yield from same(found, row, "n", "c", label="exact")
    yield from same(found, row, "p_accept_good", "p_accept_bad", label="1e-9")


@checks(
    "gate_oc.csv",
    "kind n k q p_base drop gain floor max_unstable_rate alpha n_must_pass p_fail_must_pass p_inconclusive"
    " p_fail_stat p_pass p_floor_breach_joint p_mcnemar_joint check check_max_z",
)
def gate(row: Row) -> Iterator[Check]:
    design = stats.GateDesign(
        *ints(row, "n", "k"),
        *floats(row, "q", "p_base", "drop", "gain"),
        floor=num(row["floor"]),
        max_unstable_rate=float(row["max_unstable_rate"]),
        alpha=float(row["alpha"]),
        n_must_pass=int(row["n_must_pass"]),
        must_pass_how="any_hit",
    )
    odds = stats.gate_operating_characteristics(design)
    yield from same(odds, row, "p_fail_must_pass", "p_inconclusive", "p_fail_stat", "p_pass")
    yield from same(odds, row, "p_floor_breach_joint", "p_mcnemar_joint")


@checks("evalue_flips.csv", "kind b c e_value reject_anytime_05")
def evalue(row: Row) -> Iterator[Check]:
    found = stats.evalue_flips(*ints(row, "b", "c"))
    yield "e_value", found.value, num(row["e_value"]), ""
    yield "reject_anytime_05", found.reject(0.05), row["reject_anytime_05"] == "1", "exact"


@checks("pass_at_k.csv", "kind n c k pass_at_k pass_hat_k")
def pass_k(row: Row) -> Iterator[Check]:
    yield from same(stats.pass_at_k(*ints(row, "n", "c", "k")), row, value="pass_at_k")
    yield from same(stats.pass_hat_k(*ints(row, "n", "c", "k")), row, value="pass_hat_k")


@checks("bootstrap_ideal.csv", "kind n x b c conf lo hi boot_se")
def bootstrap_ideal(row: Row) -> Iterator[Check]:
    n, conf = int(row["n"]), float(row["conf"])
    if row["kind"] == "proportion":
        x = int(row["x"])
        limit = stats.bootstrap_rate(x, n, conf)
        yield from same(limit, row, "lo", "hi", label="1e-12")
        found = stats.bootstrap_counts([x, n - x], lambda k: k[:, 0] / n, conf=conf)
    else:
        b, c = ints(row, "b", "c")
        found = stats.bootstrap_counts([b, c, n - b - c], lambda k: (k[:, 1] - k[:, 0]) / n, conf=conf)
    yield "lo", abs(found.lo - float(row["lo"])) <= 2.0 / n, True, "exact"
    yield "hi", abs(found.hi - float(row["hi"])) <= 2.0 / n, True, "exact"
    yield "boot_se", found.se, num(row["boot_se"]), "se"


@checks("clustered_se.json", "kind values clusters expected")
def clustered(row: Any) -> Iterator[Check]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.SmallSampleWarning)
        found = stats.clustered_se(row["values"], row["clusters"])
    for name, want in row["expected"].items():
        yield name, getattr(found, {"mean": "value", "icc_anova": "icc"}.get(name, name)), want, ""


@checks("risk_coverage.json", "kind confidence error expected")
def risk_coverage(row: Any) -> Iterator[Check]:
    found = stats.risk_coverage(row["confidence"], row["error"])
    for name, want in row["expected"].items():
        if name != "curve":
            yield name, getattr(found, name), want, ""
    yield "curve length", len(found.curve), len(row["expected"]["curve"]), "exact"
    for point, want in zip(found.curve, row["expected"]["curve"], strict=True):
        for name, value in want.items():
            yield f"curve.{name}", getattr(point, name), value, ""


# Benjamini-Hochberg's worked example in McDonald, Handbook of Biological Statistics (diets, 25 tests).
PUBLISHED = "1 8 39 41 42 60 74 205 212 216 222 251 269 275 340 341 384 569 594 696 762 940 942 975 986"


def family(rows: list[Row]) -> list[float]:
    """P-values of one family; what an excerpt leaves out is completed so that its rows agree."""
    m, given = int(rows[0]["m"]), {int(row["index"]): float(row["p"]) for row in rows}
    published = [int(p) / 1000 for p in PUBLISHED.split()]
    if m == len(published) and all(published[i] == p for i, p in given.items()):
        return published

    def agree(p: list[float]) -> bool:
        pairs = [(method, stats.adjust(p, method).adjusted) for method in ("holm", "bh")]
        return all(abs(q[int(r["index"])] - float(r[f"p_{m}"])) < 1e-12 for m, q in pairs for r in rows)

    gaps = [i for i in range(m) if i not in given]
    # An adjusted value h comes from some p with p * j = h (Holm) or p * m / j = h (Benjamini-Hochberg).
    steps = {float(r["p_holm"]) / j for r in rows for j in range(1, m + 1)}
    steps |= {float(r["p_bh"]) * j / m for r in rows for j in range(1, m + 1)}
    steps |= {(a + b) / 2 for a, b in itertools.pairwise(sorted(given.values()))}
    fills = itertools.combinations_with_replacement(
        sorted({0.0, 1.0, *(p for p in steps if p < 1)}), len(gaps)
    )
    tries = ([(given | dict(zip(gaps, fill, strict=True)))[i] for i in range(m)] for fill in fills)
    return next((p for p in tries if agree(p)), [math.nan] * m)


@checks("multiplicity.csv", "kind family index m p p_holm p_bh p_bonferroni")
def multiplicity(row: Row, full: dict[str, list[float]]) -> Iterator[Check]:
    p, at = full[row["family"]], int(row["index"])
    yield "family", len(p), int(row["m"]), "exact"
    yield "p", p[at], num(row["p"]), ""
    for method in ("holm", "bh", "bonferroni"):
        chosen: Any = method
        yield f"p_{method}", stats.adjust(p, chosen).adjusted[at], float(row[f"p_{method}"]), ""


def load(name: str) -> list[Any]:
    with open(FOLDER / name, encoding="utf-8", newline="") as file:
        if name.endswith(".csv"):
            return list(csv.DictReader(file))
        return list(json.load(file))


@functools.cache
def tolerances(name: str) -> dict[str, tuple[str, float]]:
    """Tolerances of a file by label, from the manifest's text; the first is the default."""
    found = re.findall(r"([\w,/ ]*?)\b(abs|rel) ([0-9.e-]+)(%?)", MANIFEST.get(name, {}).get("tol", ""))
    return {label.strip(" ,;"): (kind, float(v) / (100 if pct else 1)) for label, kind, v, pct in found}


def agrees(name: str, found: Any, want: Any, label: str) -> bool:
    if label == "exact" or found is None or want is None:
        return bool(found == want)
    if re.fullmatch(r"[\d.]+e-\d+", label):
        return abs(float(found) - float(want)) <= float(label)
    known = tolerances(name)
    match = [value for key, value in known.items() if label and label in re.split(r"[ ,]+", key)]
    kind, tolerance = match[0] if match else next(iter(known.values()))
    return abs(float(found) - float(want)) <= tolerance * (abs(float(want)) if kind == "rel" else 1.0)


@pytest.mark.parametrize("name", FILES)
def test_every_reference_row_agrees_within_the_manifest_tolerance(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name in CHECKS, f"unknown reference file {name}: no check is written for it"
    check, columns = CHECKS[name]
    rows = load(name)
    if name in MANIFEST:
        assert len(rows) == MANIFEST[name]["rows"], f"{name}: the manifest counts other rows"
    odd = {key for row in rows if isinstance(row, dict) for key in row} ^ set(columns)
    assert not odd, f"{name}: unknown or missing columns {sorted(map(str, odd))}"
    if name == "multiplicity.csv":
        names = sorted({row["family"] for row in rows})
        full = {name: family([row for row in rows if row["family"] == name]) for name in names}
        check = functools.partial(check, full=full)
    failures = []
    for at, row in enumerate(rows, start=1):
        for what, found, want, label in check(row):
            if not agrees(name, found, want, label):
                failures.append(f"{name} row {at} {row}: {what} is {found!r}, wanted {want!r}")
    with capsys.disabled():
        print(f"\n{name}: {len(rows)} rows checked", end="")
    assert not failures, "\n".join(failures)


def test_reference_folder_holds_every_file_of_its_manifest() -> None:
    assert not sorted(set(MANIFEST) - set(FILES)), "the manifest names files that are not there"
    assert FILES, f"{FOLDER} holds no reference values"
