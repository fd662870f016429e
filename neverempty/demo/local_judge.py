"""The small local model as a judge: how far a judge of this size agrees with people."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from neverempty._io import dumps, write_atomic
from neverempty.agents.local_server import LocalServer, find_weights
from neverempty.judge import VERDICTS, Judge, read_labels

LABELS: Final = "claims.jsonl"
JUDGED: Final = "judged.jsonl"
_SEED: Final = 20260929
_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "verdict": {"enum": list(VERDICTS)},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "quotes": {"type": "array", "items": {"type": "string", "maxLength": 100}, "maxItems": 1},
        "reason": {"type": "string", "maxLength": 60},
    },
    "required": ["verdict", "confidence", "quotes", "reason"],
}


class LocalJudge:
    """Judges with the local model, which is held to the shape of the reply, not to its content.

    Parameters
    ----------
    server : LocalServer
        The model's server.

    Examples
    --------
    >>> LocalJudge.family
    'huggingface'
    """

    family = "huggingface"

    def __init__(self, server: LocalServer) -> None:
        self.name = server.model
        self._server = server

    def reply(self, messages: Sequence[dict[str, Any]], params: dict[str, Any]) -> str:
        """Ask the model.

        Parameters
        ----------
        messages : sequence of dict
            From `neverempty.judge.messages_for`.
        params : dict
            Its ``temperature``.

        Returns
        -------
        str
            The reply's text.
        """
        prefix, rest = (_turns(part) for part in (messages[:1], messages[1:]))
        sampling = {
            "temperature": params.get("temperature", 0),
            "seed": _SEED,
            "n_predict": 120,
            "stop": ["<|im_end|>"],
            "json_schema": _SCHEMA,
        }
        answer = self._server.complete(prefix, f"{rest}<|im_start|>assistant\n", sampling)
        return str(answer.get("content", ""))


def _turns(messages: Sequence[dict[str, Any]]) -> str:
    return "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)


def record(folder: str | os.PathLike[str]) -> int:
    """Have the local model judge the labelled claims of a folder, and write down what it said.

    Parameters
    ----------
    folder : path-like
        With ``claims.jsonl``; ``judged.jsonl`` is written beside it.

    Returns
    -------
    int
        Claims that were judged.

    Raises
    ------
    UsageError
        Without the local model.
    """
    server = LocalServer(find_weights())
    try:
        judge = Judge(LocalJudge(server), ["scripted"])
        lines = []
        for one in read_labels(Path(folder) / LABELS):
            found = judge.judge(one.claim, one.evidence)
            said = found._asdict() | {"id": one.id, "quotes": list(found.quotes)}
            lines.append(dumps({name: value for name, value in said.items() if name != "attempts"}) + "\n")
    finally:
        server.close()
    write_atomic(Path(folder) / JUDGED, "".join(lines))
    return len(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Judge labelled claims with the local model.")
    parser.add_argument("folder", help="a folder with claims.jsonl")
    record(parser.parse_args().folder)
