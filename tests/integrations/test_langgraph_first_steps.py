"""What a LangGraph user is told to write is run as it stands, on a graph of their own."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest

from neverempty.integrations import langgraph

pytestmark = pytest.mark.frameworks
_README = Path(__file__).parents[2] / "README.md"
_AGENT = '''
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def search_jobs(role: str) -> list:
    """Find jobs."""
    return []


class Model(BaseChatModel):
    @property
    def _llm_type(self):
        return "scripted"

    def _generate(self, messages, stop=None, run_manager=None, **options):
        said = AIMessage("", tool_calls=[{"name": "search_jobs", "args": {"role": "cook"}, "id": "c1"}])
        if messages[-1].type == "tool":
            said = AIMessage("The search failed." if messages[-1].content else "There are no such jobs.")
        return ChatResult(generations=[ChatGeneration(message=said)])


model = Model()
builder = StateGraph(MessagesState)
builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
builder.add_node("tools", ToolNode([search_jobs]))
builder.add_edge(START, "model")
builder.add_conditional_edges("model", tools_condition)
builder.add_edge("tools", "model")
graph = builder.compile()
'''


def _blocks() -> list[str]:
    """Read the lines that the module shows, and the Python blocks of the README that measure a graph."""
    shown = (langgraph.__doc__ or "").partition("::\n")[2]
    blocks = re.findall(r"```python\n(.*?)```", _README.read_text(encoding="utf-8"), re.S)
    return [textwrap.dedent(shown), *(block for block in blocks if "langgraph.target(" in block)]


@pytest.mark.parametrize("block", _blocks())
def test_a_compiled_graph_is_measured_in_under_15_lines(block, tmp_path, monkeypatch, capsys):
    (tmp_path / "my_agent.py").write_text(_AGENT, encoding="utf-8")
    question = {"messages": [{"role": "user", "content": "Any jobs for a cook?"}]}
    kinds = ["timeout"] * 10 + ["empty"] * 10
    lines = [
        {
            "id": f"c{at}",
            "language": "en",
            "input": question,
            "faults": [{"tool": "search_jobs", "kind": kind}],
        }
        for at, kind in enumerate(kinds)
    ]
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "cases.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert len([line for line in block.splitlines() if line.strip()]) < 15
    exec(compile(block, "block", "exec"), {})
    printed = capsys.readouterr().out
    assert re.search(r"misreport.*100\.0 %", printed)
    assert re.search(r"misreport.*0\.0 %", printed)
