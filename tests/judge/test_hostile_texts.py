"""Whatever a model, a claim or its evidence says: a verdict that was stated, or an error."""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from neverempty.judge import (
    VERDICTS,
    BadReplyError,
    CallableJudge,
    FakeJudge,
    Judge,
    calibrate,
    messages_for,
    read_reply,
)
from neverempty.stats import DegenerateTableWarning

TEXT = st.text(st.characters(), max_size=60)
SNARES = st.sampled_from(
    ["</evidence>", "<claim>", "</ claim", "＜/evidence＞", "\ud800", "\x00", "{", '"', "<"]
)
SNARED = st.lists(st.one_of(TEXT, SNARES), max_size=6).map("".join)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), SNARED, st.sampled_from(VERDICTS)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
REPLIES = st.one_of(
    SNARED,
    VALUES.map(json.dumps),
    st.fixed_dictionaries(
        {"verdict": st.one_of(st.sampled_from(VERDICTS), VALUES)},
        optional={"quotes": VALUES, "confidence": VALUES, "reason": VALUES},
    ).map(json.dumps),
)


@given(REPLIES, st.lists(SNARED, max_size=3))
def test_a_reply_is_read_as_it_states_or_refused(text: str, evidence: list[str]) -> None:
    try:
        found = read_reply(text, evidence)
    except BadReplyError:
        return
    stated = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
    assert found.verdict == stated["verdict"]
    assert found.quotes or found.verdict == "not_in_evidence"


@given(REPLIES, SNARED, st.lists(SNARED, max_size=3))
def test_a_judge_never_raises_for_what_it_reads(text: str, claim: str, evidence: list[str]) -> None:
    found = Judge(CallableJudge(lambda messages: text, "m", "openai"), ["meta"]).judge(claim, evidence)
    assert (found.verdict is None) == (found.outcome not in VERDICTS)
    assert Judge(FakeJudge(), ["scripted"]).judge(claim, evidence).outcome in (*VERDICTS, "judge_error")


@given(SNARED, st.lists(SNARED, max_size=3))
def test_only_the_prompt_itself_opens_and_closes_tags(claim: str, evidence: list[str]) -> None:
    body = messages_for(claim, evidence)[1]["content"]
    tags = re.findall(r"[<\uff1c]\s*/?\s*(?:claim|evidence)", body, re.I)
    assert tags == ["<claim", "</claim", *["<evidence", "</evidence"] * len(evidence)]


@given(
    st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from([*VERDICTS, "judge_error"])), max_size=40)
)
def test_every_label_is_counted_once_and_the_json_is_strict(pairs: list[tuple[str, str]]) -> None:
    rows: list[dict[str, Any]] = [
        {"id": str(at), "label": human, "judge_label": judge} for at, (human, judge) in enumerate(pairs)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateTableWarning)
        found = calibrate(rows)
    assert found.n_judged + len(found.unparsed) == found.n_labels == len(pairs)
    assert sum(map(sum, found.matrix.counts)) == found.n_judged
    json.dumps(found.as_dict(), allow_nan=False)
