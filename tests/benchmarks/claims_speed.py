"""How many distinct answers of about 100 characters are read per second, by language and in the mix of all.

Run it as a script: ``python tests/benchmarks/claims_speed.py [LANGUAGE ...]``. The texts are the project's
labelled answers of 60 to 160 characters with a fresh name and number in each, so that no two are alike.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from neverempty.claims import LANGUAGES, read_answer

_ANSWERS = Path(__file__).parents[2] / "datasets" / "answers" / "dev"
_COUNT = 10_000
_DENSE = ("ja", "zh", "ko")  # scripts that say in 40 characters what others say in 100


def texts(language: str, count: int, rng: random.Random) -> list[str]:
    """Make distinct answers of a language, about 100 characters long."""
    shortest, longest = (25, 90) if language in _DENSE else (60, 160)
    lines = (_ANSWERS / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [
        text for text in (json.loads(line)["text"] for line in lines) if shortest <= len(text) <= longest
    ]
    made: dict[str, None] = {}
    while len(made) < count:
        made[f"{rng.choice(answers)} {_name(rng)} {rng.randrange(10_000)}."] = None
    return list(made)


def _name(rng: random.Random) -> str:
    return "".join(rng.choice("aeiou") if at % 2 else rng.choice("bdklmnrst") for at in range(6)).title()


def speed(answers: list[str]) -> float:
    """Give the answers read per second of processor time, after a warm-up on others of their kind."""
    warm, measured = answers[: len(answers) // 10], answers[len(answers) // 10 :]
    for text in warm:
        read_answer(text)
    start = time.process_time()
    for text in measured:
        read_answer(text)
    return len(measured) / (time.process_time() - start)


def main(languages: list[str]) -> None:
    """Print a line per language and one for the mix."""
    rng = random.Random(20260929)
    made = {language: texts(language, _COUNT, rng) for language in languages}
    for language, answers in made.items():
        mean = sum(map(len, answers)) / len(answers)
        print(f"{language:9} {speed(answers):10,.0f} a second, {mean:.0f} characters on average")
    if len(made) > 1:
        mix = [text for answers in made.values() for text in answers[: _COUNT // len(made)]]
        rng.shuffle(mix)
        print(f"{'mix':9} {speed(mix):10,.0f} a second")


if __name__ == "__main__":
    main(sys.argv[1:] or list(LANGUAGES))
