"""Frameworks' libraries load on use, and one that is missing is named with its extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neverempty._errors import UsageError
from neverempty.integrations import anthropic, langchain, langgraph, mcp, openai, pydantic_ai
from neverempty.integrations._shared import library, native_options

_LIBRARIES = ("langchain_core", "langgraph", "openai", "anthropic", "boto3", "mcp", "pydantic_ai")


def test_importing_the_bindings_loads_no_framework() -> None:
    script = (
        "from neverempty.integrations import anthropic, bedrock, langchain, langgraph\n"
        "from neverempty.integrations import mcp, openai, pydantic_ai\n"
        f"import sys\nprint([name for name in {_LIBRARIES!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("langchain_core.tools", lambda: langchain.wrap(object()), "langchain"),
        ("langgraph.pregel", lambda: langgraph.target(object()), "langgraph"),
        ("mcp", lambda: mcp.wrap(object()), "mcp"),
        ("pydantic_ai.agent", lambda: pydantic_ai.target(object()), "pydantic-ai"),
    ],
)
def test_a_missing_library_is_an_error_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, call: Any, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"pip install 'neverempty\[{extra}\]'"):
        call()


def test_a_library_that_lacks_something_of_its_own_is_not_called_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "library_with_a_gap.py").write_text("import a_module_that_nobody_has\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_nobody_has"):
        library("library_with_a_gap", "none")


@pytest.mark.parametrize("client", [None, object(), {"chat": 1}])
@pytest.mark.parametrize("wrap", [openai.wrap, anthropic.wrap])
def test_what_is_no_client_is_refused(wrap: Any, client: Any) -> None:
    with pytest.raises(UsageError, match="no client of the package"):
        wrap(client)


@pytest.mark.parametrize("declared", [{"returns": "result"}, {"max_chars": 99}, {"emtpy_when": len}])
def test_what_a_frameworks_tool_cannot_declare_is_refused(declared: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"tool 'search': .* allowed are backoff, "):
        native_options("search", declared)
