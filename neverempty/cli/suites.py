"""The cases that a configuration names."""

from __future__ import annotations

import argparse

from neverempty._errors import InputError, UsageError
from neverempty._suggest import did_you_mean
from neverempty.cases import Case, Cases, load_cases
from neverempty.cli.config import Config, SuiteTable, load_config
from neverempty.cli.parser import DEFAULT_CONFIG


def cases_of(args: argparse.Namespace) -> Cases:
    """Load the cases that `add_case_arguments` let a user name.

    Parameters
    ----------
    args : argparse.Namespace
        The parsed command line.

    Returns
    -------
    Cases
        Of the files, or of all suites of the configuration.
    """
    if args.files and args.config:
        raise UsageError("name either files of cases or --config, not both")
    return load_cases(*args.files) if args.files else load_suites(load_config(args.config or DEFAULT_CONFIG))


def check_split_hash(cases: Cases, expected: str) -> str | None:
    """Compare the hash of the test split with the one that was noted.

    Parameters
    ----------
    cases : Cases
        The cases.
    expected : str
        The noted hash; its first 12 or more characters will do.

    Returns
    -------
    str or None
        What is wrong, None where they agree.
    """
    found = cases.split_hash()
    if len(expected) >= 12 and found.startswith(expected.lower()):
        return None
    return (
        f"the test split has the hash {found}, not {expected}: a frozen case was edited, added or removed; "
        "restore it, or note the new hash if the change was meant"
    )


def load_suites(config: Config, only: str | None = None) -> Cases:
    """Load and check the cases of a configuration.

    Parameters
    ----------
    config : Config
        The configuration.
    only : str, optional
        Just the suite of that name.

    Returns
    -------
    Cases
        The cases of all its suites, each suite reduced to its split.

    Raises
    ------
    InputError
        Lists what is wrong with each suite.
    """
    names = [suite.name for suite in config.suites]
    if only is not None and only not in names:
        raise InputError(f"{config.path}: there is no suite {only!r}{did_you_mean(only, names)}")
    problems: list[str] = []
    chosen: list[Case] = []
    files = {name: None for suite in config.suites for name in suite.cases}
    everything = load_cases(*(config.beside(name) for name in files))
    unnamed = sorted({case.suite for case in everything} - set(names))
    if unnamed:
        problems.append(
            f"{config.path}: its files hold cases of suite {unnamed[0]!r}, but no [[suite]] has that name"
        )
    for index, suite in enumerate(config.suites):
        if only in (None, suite.name):
            chosen.extend(_suite(config, index, suite, everything, problems))
    if problems:
        raise InputError(problems)
    return Cases(chosen)


def _suite(config: Config, index: int, suite: SuiteTable, everything: Cases, problems: list[str]) -> Cases:
    place = config.place("suite", index)
    cases = everything.filter(suite=suite.name)
    if suite.split_hash and (wrong := check_split_hash(cases, suite.split_hash)):
        problems.append(f"{config.place('suite', index, 'split_hash')}: {wrong}")
    part = cases.filter(split=suite.split) if suite.split else cases
    if not part:
        which = f" in split {suite.split!r}" if suite.split and cases else ""
        problems.append(f"{place}: suite {suite.name!r} has no case{which}")
    return part
