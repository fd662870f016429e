"""Case files for the tests of the cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def full_case(**changes: Any) -> dict[str, Any]:
    """Use every part of the format."""
    return {
        "schema_version": 1,
        "id": "pune-1",
        "suite": "jobs",
        "split": "test",
        "language": "en",
        "tags": ["n0", "failure"],
        "must_pass": True,
        "provenance": {"author": "house", "year": 2026},
        "input": {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Any?"}]
        },
        "faults": [{"tool": "search", "kind": "timeout", "after_calls": 1, "presentation": "raised"}],
        "expect": {
            "route": {"label": "search", "acceptable": ["browse"]},
            "tool_calls": {
                "mode": "sequence",
                "calls": [
                    {
                        "tool": "search",
                        "args": {
                            "city": {"value": "Pune", "match": "normalized"},
                            "limit": {"value": 10, "match": "numeric", "tol": 0.5},
                            "skills": {"value": ["go", "c"], "match": "set"},
                            "since": {"value": "2026-09-29", "match": "date", "tol": 2},
                            "code": {"value": "^P[0-9]+$", "match": "regex"},
                            "page": {"match": "present"},
                            "exact": {"value": None},
                        },
                    }
                ],
            },
            "forbidden_tools": ["delete"],
            "facts": [{"id": "f1", "statement": "three", "evidence_key": "count"}],
            "forbidden_claims": [{"id": "c1", "statement": "no (jobs|roles)", "match": "regex"}],
            "items": [{"item_id": "i1", "rule_result": True, "rule_trace": ["age ok"]}],
            "fallbacks": {"search": ["search_cache"]},
            "lost_part_holds_answer": False,
            "custom": {"rows": 3},
        },
    } | changes


@pytest.fixture
def case_data() -> Callable[..., dict[str, Any]]:
    return full_case


@pytest.fixture
def case_file(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: dict[str, Any] | str, name: str = "cases.jsonl") -> Path:
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        (tmp_path / name).write_text("\n".join(texts) + "\n", "utf-8", newline="")
        return tmp_path / name

    return write
