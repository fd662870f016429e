"""Public docstrings say what goes in and what comes out, and their examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from collections.abc import Iterator
from typing import is_typeddict

import pytest

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NO_EXAMPLES_IN = ("neverempty/cli/templates/", "neverempty/__main__.py")


def _public(tree: ast.Module) -> Iterator[_Definition]:
    """Functions and classes that a user can name, with the public methods of public classes."""
    for node in tree.body:
        if isinstance(node, _Definition) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef)) and inner.name[0] != "_":
                        yield inner


def test_every_module_and_every_public_name_has_a_docstring(package: dict[str, ast.Module]) -> None:
    bare = [name for name, tree in package.items() if tree.body and not ast.get_docstring(tree)]
    bare += [
        f"{name}:{node.lineno} {node.name}"
        for name, tree in package.items()
        for node in _public(tree)
        if not ast.get_docstring(node) and not _is_stub(node)
    ]
    assert bare == []


def _is_stub(node: _Definition) -> bool:
    """Say whether it only declares a type, as overloads and the attributes of protocols do."""
    return ast.unparse(node.body[-1]) == "..."


def _sections(thing: object) -> list[str]:
    """List the numpydoc sections that a public name's docstring owes its reader."""
    inherits = isinstance(thing, type) and "__init__" not in vars(thing) and issubclass(thing, BaseException)
    if inherits or getattr(thing, "_is_protocol", False) or is_typeddict(thing):
        return []
    parameters = [name for name in inspect.signature(thing).parameters if name != "self"]  # type: ignore[arg-type]
    if isinstance(thing, type):
        return ["Parameters"] if parameters else []
    result = getattr(thing, "__annotations__", {}).get("return")
    sections = ["Parameters"] if parameters else []
    sections += [] if result in (None, "None") else ["Yields" if "Iterator" in str(result) else "Returns"]
    # An example would have to write a file first: the notebooks show those.
    return (
        sections if not parameters or {"path", "paths"}.intersection(parameters) else [*sections, "Examples"]
    )


def test_the_names_of_the_package_say_what_goes_in_and_what_comes_out() -> None:
    import neverempty

    short = []
    for name in neverempty.__all__:
        thing = getattr(neverempty, name)
        if callable(thing) and getattr(thing, "__module__", "").startswith("neverempty"):
            text = inspect.getdoc(thing) or ""
            short += [
                f"{name} has no {section}" for section in _sections(thing) if f"{section}\n---" not in text
            ]
    assert short == []


def test_the_examples_of_every_docstring_run(
    package: dict[str, ast.Module], capsys: pytest.CaptureFixture[str]
) -> None:
    failed = attempted = 0
    for name in package:
        if name.startswith(_NO_EXAMPLES_IN):
            continue
        module = importlib.import_module(name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"))
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        failed += result.failed
        attempted += result.attempted
    assert failed == 0, capsys.readouterr().out
    assert attempted > 50
