"""Notebooks are committed as they ran: from top to bottom, without an error, without a machine's traces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

_NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}|ipykernel_\d+|\\x1b\[")


@pytest.fixture(params=_NOTEBOOKS, ids=lambda path: path.stem)
def code_cells(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    notebook = json.loads(request.param.read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_there_are_notebooks() -> None:
    assert _NOTEBOOKS


def test_every_cell_ran_in_order(code_cells: list[dict[str, Any]]) -> None:
    assert [cell["execution_count"] for cell in code_cells] == list(range(1, len(code_cells) + 1))


def test_no_cell_ended_in_an_error_or_a_warning(code_cells: list[dict[str, Any]]) -> None:
    bad = [
        output
        for cell in code_cells
        for output in cell["outputs"]
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    assert bad == []


def test_outputs_hold_no_address_and_no_process(code_cells: list[dict[str, Any]]) -> None:
    texts = [json.dumps(output.get("data", output)) for cell in code_cells for output in cell["outputs"]]
    without_images = [re.sub(r'"image/\w+": "[^"]*"', "", text) for text in texts]
    assert [text for text in without_images if _ADDRESS.search(text)] == []


def test_no_cell_hides_its_output_with_a_semicolon(code_cells: list[dict[str, Any]]) -> None:
    # nbval runs cells without history, where the semicolon has no effect and the outputs differ.
    assert [cell["source"] for cell in code_cells if "".join(cell["source"]).rstrip().endswith(";")] == []


def test_some_cell_has_an_output_to_compare(code_cells: list[dict[str, Any]]) -> None:
    assert any(cell["outputs"] for cell in code_cells)
