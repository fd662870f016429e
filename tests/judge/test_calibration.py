"""Agreement with people: what is counted, what is shown, what is cut."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from neverempty import InputError, UsageError
from neverempty.judge import (
    VERDICTS,
    FakeJudge,
    Judge,
    calibrate,
    judge_id_of,
    label_budget,
    read_judged,
    read_labels,
)
from neverempty.stats import DegenerateTableWarning

LOCAL = "SmolLM2-135M-Instruct.Q4_1+grammar"
CLAIMS = Path(__file__).parents[2] / "datasets" / "calibration"


def _rows(matrix: list[list[int]], **more: Any) -> list[dict[str, Any]]:
    cells = [
        (VERDICTS[i], VERDICTS[j])
        for i, row in enumerate(matrix)
        for j, n in enumerate(row)
        for _ in range(n)
    ]
    return [
        {"id": str(at), "label": one, "judge_label": other} | more for at, (one, other) in enumerate(cells)
    ]


_TWICE = {field: (("a", ""), ("b", f', "{field}": "contradicted"')) for field in ("label", "outcome")}


def test_one_category_alone_has_no_kappa_and_says_why() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateTableWarning)
        found = calibrate(_rows([[5, 0, 0], [0, 0, 0], [0, 0, 0]]))
    said = json.loads(json.dumps(found.as_dict(), allow_nan=False))
    assert (said["agreement"], said["kappa"], said["matrix"][0][0]) == (1.0, None, 5)
    assert "chance" in said["kappa_reason"]
    assert said["trust"] == "not_measured"


def test_a_judge_that_fails_on_the_hard_half_does_not_look_good() -> None:
    rows = _rows([[5, 0, 0], [0, 0, 0], [0, 0, 0]])[:5]
    rows += [{"id": f"x{at}", "label": "contradicted", "judge_label": "judge_error"} for at in range(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateTableWarning)
        found = calibrate(rows)
    assert (found.n_judged, found.n_labels, found.enough_judged) == (5, 10, False)
    assert found.facts()["trust"] == "cut"
    assert found.facts()["reason"] == "only 5 of 10 labelled claims were judged"
    assert found.unparsed == tuple(f"x{at}" for at in range(5))
    assert found.matrix.judge_abstained == {"contradicted": 5}


def test_what_nobody_could_parse_is_no_label_and_no_zero() -> None:
    found = calibrate([{"id": "a", "label": "supported", "judge_label": "judge_error"}])
    assert (found.agreement.value, found.kappa.value, found.n_judged) == (None, None, 0)
    assert found.as_dict()["unparsed"] == ["a"]


def test_claims_on_which_people_cannot_tell_leave_kappa_and_are_counted() -> None:
    rows = _rows([[10, 1, 0], [1, 10, 0], [0, 0, 10]])
    rows.append({"id": "dark", "label": "cant_tell", "judge_label": "supported"})
    found = calibrate(rows)
    assert (found.n_labels, found.n_cant_tell, found.matrix.n) == (32, 1, 32)


def test_trust_follows_from_the_lower_bound_and_small_slices_say_nothing() -> None:
    good = _rows([[60, 2, 2], [2, 60, 2], [2, 2, 60]], language="en")
    few = [
        row | {"id": f"h{row['id']}", "language": "hi"} for row in _rows([[4, 0, 0], [0, 4, 0], [0, 0, 4]])
    ]
    found = calibrate(good + few)
    assert found.trust.level == "trusted"
    assert [(one.language, one.n, one.trust.level) for one in found.slices] == [
        ("en", 192, "trusted"),
        ("hi", 12, "not_measured"),
    ]
    assert calibrate(_rows([[14, 3, 2], [3, 14, 2], [2, 2, 14]])).trust.level == "provisional"
    assert calibrate(_rows([[10, 8, 8], [8, 10, 8], [8, 8, 10]])).trust.level == "cut"


def test_planted_orders_are_counted_apart() -> None:
    rows = [row | {"tags": ["injection"]} for row in _rows([[3, 1, 0], [0, 0, 0], [0, 0, 0]])]
    found = calibrate(
        rows + [row | {"id": f"p{row['id']}"} for row in _rows([[9, 0, 0], [0, 9, 0], [0, 0, 9]])]
    )
    assert (found.injections.value, found.injections.n) == (0.75, 4)


def test_verdicts_of_two_judges_have_no_common_agreement() -> None:
    rows = _rows([[2, 0, 0], [0, 2, 0], [0, 0, 2]])
    for at, row in enumerate(rows):
        row["judge_id"] = "ab" if at % 2 else "cd"
    with pytest.raises(InputError, match="come from 2 judges"):
        calibrate(rows)


def test_the_corrected_rate_covers_the_judges_errors_and_goes_stale() -> None:
    rows = [row | {"judge_id": "j1"} for row in _rows([[90, 5, 5], [8, 88, 4], [10, 3, 87]])]
    found = calibrate(rows)
    rate = found.corrected(30, 200)
    assert rate.sensitivity == pytest.approx(0.88)
    assert rate.specificity == pytest.approx(192 / 200)
    assert rate.value == pytest.approx((0.15 + 0.96 - 1) / 0.84)
    assert rate.lo < rate.value < rate.hi
    assert found.corrected(30, 200, judge_id="j2").status == "not_measured"
    assert "stale" in found.corrected(30, 200, judge_id="j2").reason
    assert found.corrected(30, 200, judge_id="j1").value == rate.value
    with pytest.raises(UsageError, match="no verdict 'wrong'"):
        found.corrected(1, 2, "wrong")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"id": "a", "label": "supported", "label": "contradicted"}', "label"),
        ('{"id": "a", "label": "maybe"}', r"labels\.jsonl:1: 'label' of 'a' is 'maybe'"),
        ('{"label": "supported"}', r"labels\.jsonl:1: 'id' is None"),
        (
            '{"id": "a", "label": "supported"}\n{"id": "a", "label": "supported"}',
            r"labels\.jsonl:2: the id 'a' stands twice",
        ),
        ('{"id": "a", "label": "supported", "judge_label": "perhaps"}', "nothing that a judge can say"),
        ('{"id": "a", "label": "supported",}', r"labels\.jsonl:1"),
        ("[1]", "a label is an object"),
        ('{"id": "a", "lable": "supported"}', r"labels\.jsonl:1: 'a' has no 'label'"),
        ('{"id": "a", "label": ["supported"]}', "none of supported"),
        ('{"id": "a", "label": "supported", "evidence": 7}', r"'evidence' of 'a' is 7"),
        ('{"id": "a", "label": "supported", "tags": [null]}', r"'tags' of 'a' is \[None\]"),
        ('{"id": "a", "label": "supported", "language": {}}', r"'language' of 'a' is \{\}"),
    ],
)
def test_bad_labels_are_named_with_their_line(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_labels(file)


def test_a_frame_may_hold_the_labels_and_its_gaps_are_no_values() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "item": ["a", "b", "c"],
            "label": pd.array(["supported", pd.NA, "contradicted"], dtype="string"),
            "judge": ["supported", "supported", None],
            "tags": ["injection", float("nan"), "injection"],
            "language": ["en", None, pd.NA],
        }
    )
    found = calibrate(frame)
    assert (found.n_labels, found.n_judged, found.n_cant_tell, found.unasked) == (2, 1, 1, ("c",))
    assert (found.injections.n, found.injections.value) == (2, 0.5)
    assert [(one.language, one.n_labels, one.n) for one in found.slices] == [
        ("en", 1, 1),
        ("not named", 1, 0),
    ]


def test_judgements_at_hand_are_taken_with_their_judge_and_other_words_refused() -> None:
    judge = Judge(FakeJudge(), ["scripted"])
    labels = [{"id": "a", "label": "supported"}, {"id": "b", "label": "contradicted"}]
    found = calibrate(labels, {"a": judge.judge("Two trams.", ["Two trams."]), "b": "judge_error"})
    assert (found.judge_id, found.n_judged, found.unparsed) == (judge.judge_id, 1, ("b",))
    with pytest.raises(InputError, match="'b': 'wrong' is nothing a judge can say"):
        calibrate(labels, {"a": "supported", "b": "wrong"})


@pytest.mark.parametrize("name", ["labels", "judged"])
def test_a_key_that_stands_twice_in_a_line_is_named_with_the_line(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"{name}.jsonl"
    field = "label" if name == "labels" else "outcome"
    good, twice = (f'{{"id": "{at}", "{field}": "supported"{more}}}' for at, more in _TWICE[field])
    file.write_text(f"{good}\n{twice}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{name}\.jsonl:2: .*'?{field}'?"):
        read_labels(file) if name == "labels" else read_judged(file)


def test_without_verdicts_there_is_nothing_to_compare() -> None:
    with pytest.raises(UsageError, match="nothing says what the judge said"):
        calibrate([{"id": "a", "label": "supported"}])
    empty = calibrate([])
    assert (empty.n_labels, empty.trust.level) == (0, "not_measured")


def test_the_projects_own_claims_are_many_in_many_languages() -> None:
    labels = read_labels(CLAIMS / "claims.jsonl")
    languages = [one.language for one in labels]
    assert len(labels) >= 220
    assert sum(languages.count(one) >= 20 for one in set(languages)) >= 6
    assert {one.label for one in labels} == set(VERDICTS)
    assert all(one.claim and one.evidence for one in labels)
    assert len({(one.claim, one.evidence) for one in labels}) == len(labels)


def test_the_recorded_judge_is_the_one_of_this_prompt_judged_every_claim_and_is_cut() -> None:
    labels = read_labels(CLAIMS / "claims.jsonl")
    judged = read_judged(CLAIMS / "judged.jsonl")
    again = "judge anew: python -m neverempty.demo.local_judge datasets/calibration"
    assert {judge for _, judge in judged.values()} == {judge_id_of(LOCAL)}, again
    assert [*judged] == [one.id for one in labels], again
    with pytest.warns(DegenerateTableWarning, match="single category"):
        found = calibrate(CLAIMS / "claims.jsonl", CLAIMS / "judged.jsonl")
    assert (found.n_labels, found.unasked) == (len(labels), ())
    assert (found.trust.level, found.kappa.value) == ("cut", 0.0)


def test_a_judge_at_hand_is_asked_about_every_label() -> None:
    found = calibrate(CLAIMS / "claims.jsonl", judge=Judge(FakeJudge(), ["scripted"]))
    assert found.n_judged == found.n_labels
    assert found.injections.n >= 15


def test_a_provisional_judge_says_how_many_labels_would_show_it() -> None:
    found = calibrate(_rows([[14, 3, 2], [3, 14, 2], [2, 2, 14]]))
    budget = found.labels_for_trust()
    people = [19 / 56, 19 / 56, 18 / 56]
    assert found.kappa.value is not None
    assert budget == label_budget(found.kappa.value, marginals=people)
    assert budget is not None
    assert budget.n > 100
    assert calibrate(_rows([[10, 8, 8], [8, 10, 8], [8, 8, 10]])).labels_for_trust() is None
    assert calibrate([]).labels_for_trust() is None
