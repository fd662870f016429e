"""``neverempty run``: the configured suites through the configured agent, into a report."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neverempty.cli import exits
from neverempty.cli.parser import DEFAULT_CONFIG, add_config_argument, plural, shown, whole

if TYPE_CHECKING:
    from neverempty.cli.commands import Commands
    from neverempty.cli.config import Config
    from neverempty.faults import Arm

STORE: Final = "unfinished.jsonl"
_TO_RESUME: Final = ("budget_stopped", "incomplete")


def add_parser(commands: Commands) -> argparse.ArgumentParser:
    """Add the command's parser and return it."""
    parser = commands.add_parser(
        "run",
        help="run the configured suites and write a report",
        description=(
            "Run the suites that the configuration names and write a report. Each trace is on disk as it "
            "finishes; a run that was stopped is continued with --resume."
        ),
        allow_abbrev=False,
    )
    add_config_argument(parser)
    parser.add_argument("--suite", metavar="NAME", help="only this suite")
    parser.add_argument("--arm", action="append", metavar="NAME", help="only this arm; may be repeated")
    parser.add_argument("--repeats", type=whole, metavar="N", help="instead of the configured number")
    parser.add_argument("--out", metavar="FOLDER", help="where the report goes (default: the configured one)")
    parser.add_argument("--record", metavar="FILE", help="write the model's replies to a file")
    parser.add_argument("--replay", metavar="FILE", help="answer from such a file, without a live call")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="run only what a stopped run left")
    again.add_argument("--restart", action="store_true", help="drop what a stopped run left")
    return parser


def run(args: argparse.Namespace) -> int:
    """Run, save, and print the report."""
    from neverempty.cli.config import load_config
    from neverempty.cli.suites import load_suites
    from neverempty.cli.target import load_target
    from neverempty.cli.text import report_text, unfired
    from neverempty.report import EvaluationInterrupted, evaluate

    config = load_config(args.config or DEFAULT_CONFIG)
    cases = load_suites(config, args.suite)
    agent, stubs = load_target(config)
    folder = Path(args.out) if args.out else config.beside(config.project.results)
    store = _store(folder / STORE, resume=args.resume, restart=args.restart)
    try:
        report = evaluate(agent, cases, stubs=stubs or None, store=store, **_options(config, args))
    except EvaluationInterrupted as stop:
        stop.report.save(folder)
        kept = plural(len(stop.report.traces), "finished trace")
        raise KeyboardInterrupt(
            f"interrupted; {kept} kept in {shown(folder)}, `neverempty run --resume` runs the rest"
        ) from None
    report.save(folder)
    print(report_text(report))
    print(f"\nreport: {shown(folder)}; `neverempty render {shown(folder)}` shows it with where it comes from")
    if report.status in _TO_RESUME:
        print("continue with `neverempty run --resume`")
    else:
        store.unlink(missing_ok=True)  # the report holds every trace of it
    if report.status == "ok" and (why := unfired(report.traces, cases)):
        warnings.warn(why, stacklevel=1)
        return exits.NOTHING_MEASURED
    return exits.of_report(report.status)


def _store(path: Path, *, resume: bool, restart: bool) -> Path:
    from neverempty._errors import UsageError

    if restart:
        path.unlink(missing_ok=True)
    elif path.exists() and not resume:
        raise UsageError(
            f"{shown(path)} holds a run that was stopped; continue it with --resume or drop it with --restart"
        )
    elif resume and not path.exists():
        raise UsageError(f"there is no stopped run in {shown(path.parent)}; leave --resume out")
    return path


def _options(config: Config, args: argparse.Namespace) -> dict[str, Any]:
    """Merge the configured options with those of the command line."""
    table = config.run
    options: dict[str, Any] = {name: getattr(table, name) for name in type(table).model_fields}
    if args.arm:
        options["arms"] = [configured_arm(config, name) for name in args.arm]
    if args.repeats is not None:
        options["repeats"] = args.repeats
    return options | {"record": args.record, "replay": args.replay}


def configured_arm(config: Config, name: str) -> Arm:
    """Find an arm of the configuration by its name, or the presentation of that name.

    Parameters
    ----------
    config : Config
        The configuration.
    name : str
        As typed, or as a report carries it.

    Returns
    -------
    Arm
        The arm.

    Raises
    ------
    UsageError
        Where there is neither.
    """
    from neverempty.faults import Arm

    return next((arm for arm in config.run.arms if arm.name == name), None) or Arm.of(name)
