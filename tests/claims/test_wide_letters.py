"""Full-width signs and traditional characters are read like the plain ones, at their own places."""

from __future__ import annotations

import pytest

from neverempty.claims import read_answer


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("系統裡沒有電車，抱歉！", "系统里没有电车,抱歉!"),
        ("搜尋結果：０筆資料。", "搜寻结果:0笔资料。"),
        ("２０２４年３月沒有任何支出", "2024年3月没有任何支出"),
        ("查詢失敗（ＨＴＴＰ　５０３）", "查询失败(HTTP 503)"),
    ],
)
def test_wide_and_traditional_letters_read_like_plain_ones(written: str, plain: str) -> None:
    first, second = read_answer(written), read_answer(plain)
    assert first.claim == second.claim != "none"
    for one, other in zip(first.absence + first.failure, second.absence + second.failure, strict=True):
        assert (one.start, one.end) == (other.start, other.end)
        assert written[one.start : one.end] == one.text
