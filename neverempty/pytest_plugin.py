"""A pytest plugin: gate an agent in the test run that a team already has.

Loaded by pytest itself; nothing heavy is imported before the fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from neverempty.cases import Cases
    from neverempty.gating import Decision

    Gate = Callable[..., Decision]

_CASES: Final = "neverempty_cases"
_BASELINE: Final = "neverempty_baseline"
_OWN: Final = ("cases", "baseline", "scorers", "export")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the plugin's settings.

    Parameters
    ----------
    parser : pytest.Parser
        Takes them.
    """
    parser.addini(_CASES, "files of cases for neverempty_gate, where a test names none", "args", [])
    parser.addini(_BASELINE, "folder of the report that neverempty_gate compares with", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker.

    Parameters
    ----------
    config : pytest.Config
        Takes it.
    """
    config.addinivalue_line(
        "markers",
        "neverempty(cases=..., arms=..., repeats=..., baseline=..., floors=..., ...): settings of the "
        "fixture neverempty_gate: files of cases, options of neverempty.run, and of [gate]",
    )


@pytest.fixture
def neverempty_gate(request: pytest.FixtureRequest) -> Gate:
    """Give a function that runs an agent over cases and fails the test unless the gate passes.

    Parameters
    ----------
    request : pytest.FixtureRequest
        The test; its marker ``neverempty`` and the ini file hold the settings.

    Returns
    -------
    callable
        ``gate(agent, **settings) -> Decision``. Settings are files of ``cases``, a ``baseline`` folder,
        ``scorers``, a folder to ``export`` into, the options of `neverempty.run` and those of the gate; those
        of the call go before those of the marker, which go before the ini file's. Paths are relative to the
        root of the test run.

    Examples
    --------
    In a test module::

        @pytest.mark.neverempty(cases="cases.jsonl", repeats=3, floors={"misreport_as_empty_max": 0.02})
        def test_the_agent_does_not_lie(neverempty_gate):
            neverempty_gate(agent)
    """
    settings: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("neverempty"))):
        if mark.args:
            pytest.fail(
                "neverempty: the marker takes its settings by name, as cases='cases.jsonl'", pytrace=False
            )
        settings |= mark.kwargs
    return _Gate(request.config, settings)


class _Gate:
    def __init__(self, config: pytest.Config, settings: Mapping[str, Any]) -> None:
        self._config = config
        self._settings = settings

    def __call__(self, agent: Callable[..., Any], **settings: Any) -> Decision:
        from neverempty._errors import NeverEmptyError

        __tracebackhide__ = True
        merged = {**self._settings, **settings}
        try:
            decision = self._decide(agent, merged)
        except NeverEmptyError as error:
            pytest.fail(f"neverempty: {error}", pytrace=False)
        if decision.exit_code != 0:
            lines = "\n".join(f"- {line}" for line in decision.lines())
            pytest.fail(
                f"neverempty: {decision.verdict} (exit code {decision.exit_code})\n{lines}", pytrace=False
            )
        return decision

    def _decide(self, agent: Callable[..., Any], settings: dict[str, Any]) -> Decision:
        from neverempty._errors import UsageError
        from neverempty.gating import gate, gate_config
        from neverempty.report import Report, evaluate
        from neverempty.report.export import export
        from neverempty.running.api import RunOptions

        own = {name: settings.pop(name) for name in _OWN if name in settings}
        options: Any = {name: settings.pop(name) for name in RunOptions.__annotations__ if name in settings}
        options.setdefault("progress", False)
        folder = own.get("baseline") or self._config.getini(_BASELINE)
        baseline = Report.load(self._path(folder)) if folder else None
        cases = self._cases(own.get("cases"))
        if baseline is None and not settings.get("floors") and not any(case.must_pass for case in cases):
            raise UsageError(
                "nothing could fail this test; give a baseline, floors such as "
                "{'misreport_as_empty_max': 0.02}, or must-pass cases"
            )
        gate_config(settings)  # before any call is made
        report = evaluate(agent, cases, scorers=own.get("scorers"), **options)
        decision = gate(baseline, report, settings)
        if own.get("export"):
            export(decision, self._path(own["export"]))
        return decision

    def _cases(self, named: Any) -> Cases:
        from neverempty._errors import UsageError
        from neverempty.cases import Case, Cases, load_cases

        given = named if named is not None else self._config.getini(_CASES)
        listed: list[Any] = [given] if isinstance(given, (str, Path, Case)) else list(given)
        if not listed:
            raise UsageError(
                "no cases; name them in the marker, as @pytest.mark.neverempty(cases='cases.jsonl'), or "
                f"under {_CASES} in the ini file"
            )
        made = [one for one in listed if isinstance(one, Case)]
        if made:
            return Cases(made)
        return load_cases(*(self._path(one) for one in listed))

    def _path(self, path: str | Path) -> Path:
        return self._config.rootpath / path
