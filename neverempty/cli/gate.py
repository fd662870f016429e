"""``neverempty gate``: whether a report may take the place of a baseline, as an exit code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neverempty._errors import InputError, UsageError
from neverempty.cli import export
from neverempty.cli.parser import DEFAULT_CONFIG, add_config_argument, shown

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.cli.config import Config
    from neverempty.gating import Decision, GateConfig
    from neverempty.gating.must_pass import Rerun
    from neverempty.report import Report


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "gate",
        help="decide whether a report may take the place of a baseline",
        description=(
            "Decide by the rules of [gate] in the configuration. Without a baseline, floors, limits and "
            "must-pass cases are still asked."
        ),
        epilog=(
            "exit codes: 0 pass, 1 regression, 2 a must-pass case failed, 3 inconclusive, 4 invalid input, "
            "64 usage, 70 internal error"
        ),
        allow_abbrev=False,
    )
    parser.add_argument(
        "reports", nargs="+", metavar="FOLDER", help="the baseline, if any, and the candidate"
    )
    add_config_argument(parser)
    parser.add_argument(
        "--allow-model",
        action="append",
        default=[],
        metavar="NAME",
        help="a model that only the candidate has",
    )
    parser.add_argument(
        "--confirm",
        action="store_true",
        help="run a must-pass case that failed a capability once more before believing it; never a lie",
    )
    parser.add_argument("--json", metavar="FILE", help="write the decision there too")
    parser.add_argument("--out", metavar="DIR", help="export the decision there, as `neverempty export` does")
    return parser


def run(args: argparse.Namespace) -> int:
    """Load, decide, print, and exit with the decision."""
    from neverempty._io import dumps, write_atomic
    from neverempty.gating import gate, promotion_of
    from neverempty.report import Report
    from neverempty.report.export import withdraw_badge

    if args.out:
        withdraw_badge(args.out)  # before anything can go wrong: an old number is worse than none
    if len(args.reports) > 2:
        raise UsageError(f"gate takes a baseline and a candidate, or a candidate; got {len(args.reports)}")
    config = _config(args)
    asked = _asked(config, args.allow_model)
    candidate = Report.load(args.reports[-1])
    baseline, promoted = None, None
    if len(args.reports) == 2:
        baseline, promoted = Report.load(args.reports[0]), promotion_of(args.reports[0])
    rerun = _rerun(config, candidate) if args.confirm and config else None
    decision = gate(baseline, candidate, asked, confirm=rerun)
    print(_text(decision))
    if promoted:
        print(f"\nbaseline: promoted by {promoted.by} at {promoted.at}")
    if args.json:
        write_atomic(args.json, dumps(decision.as_dict(), indent=2) + "\n")
        print(f"\nwrote {shown(args.json)}")
    if args.out:
        export.write(decision, args.out)
    return decision.exit_code


def _config(args: argparse.Namespace) -> Config | None:
    """Read the configuration; a folder without one has the gate's defaults."""
    from neverempty.cli.config import load_config

    if args.config is None and not args.confirm and not Path(DEFAULT_CONFIG).exists():
        return None
    return load_config(args.config or DEFAULT_CONFIG)


def _asked(config: Config | None, models: list[str]) -> GateConfig:
    """Read ``[gate]``, each problem with its line, and add what the command line allows."""
    from neverempty.gating import gate_config

    try:
        asked = gate_config(config.gate if config else None)
    except InputError as error:
        if config is None:
            raise
        raise InputError(_placed(config, problem) for problem in error.problems) from None
    allowed = tuple(dict.fromkeys((*asked.allow_models, *models)))
    return asked.model_copy(update={"allow_models": allowed})


def _placed(config: Config, problem: str) -> str:
    return f"{config.place(*problem.partition(': ')[0].split('.'))}: {problem}"


def _rerun(config: Config, candidate: Report) -> Rerun:
    """Make what runs cases of the configuration once more, with another seed."""
    import pandas as pd

    from neverempty.cases import Cases
    from neverempty.cli.run import configured_arm
    from neverempty.cli.suites import load_suites
    from neverempty.cli.target import load_target
    from neverempty.metrics import collapse
    from neverempty.running import run as run_cases
    from neverempty.scorers import score

    agent, stubs = load_target(config)
    known = {case.key: case for case in load_suites(config)}
    table = config.run
    options: dict[str, Any] = {
        "repeats": candidate.provenance.get("repeats") or table.repeats,
        "seed": (candidate.provenance.get("seed") or 0) + 1,
        "concurrency": table.concurrency,
        "timeout": table.timeout,
        "budget_usd": table.budget_usd,
        "budget_tokens": table.budget_tokens,
        "stubs": stubs or None,
    }

    def again(keys: Any) -> pd.DataFrame:
        missing = [f"{suite}/{name}" for suite, name, _ in keys if (suite, name) not in known]
        if missing:
            raise InputError(f"--confirm: the configuration has no case {name}" for name in missing)
        found = []
        for arm in dict.fromkeys(arm for _, _, arm in keys):
            cases = Cases(known[suite, name] for suite, name, of in keys if of == arm)
            traces = run_cases(agent, cases, arms=[configured_arm(config, arm)], **options)
            found.append(collapse(score(traces, cases)))
        return pd.concat(found, ignore_index=True)

    return again


def _text(decision: Decision) -> str:
    from neverempty.cli.text import table_text
    from neverempty.report.escape import plain

    verdict = f"{decision.verdict} (exit code {decision.exit_code})"
    said = "\n".join([verdict, *(f"- {plain(line)}" for line in decision.lines())])
    tables = decision.comparison.tables() if decision.comparison else []
    return "\n\n".join([said, *map(table_text, tables)])
