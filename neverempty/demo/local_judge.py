"""The small local model as a judge: how far a judge of this size agrees with people."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from neverempty._io import dumps, read_jsonl, write_atomic
from neverempty.agents.local_server import LocalServer, find_weights
from neverempty.judge import VERDICTS, Judge, Labelled, cache_key, messages_for, read_labels, shown_sentences

LABELS: Final = "claims.jsonl"
JUDGED: Final = "judged.jsonl"
_SEED: Final = 20260929
_QUOTED: Final = ["supported", "contradicted"]


class LocalJudge:
    """Judges with the local model, which a grammar holds to the shape of the reply.

    Left free, a model of this size writes no reply that can be used: it quotes what is not there. So the
    grammar offers it the sentences of the evidence to quote; verdict, confidence and reason are its own.

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
        self.name = f"{server.model}+grammar"
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
            "n_predict": 300,
            "stop": ["<|im_end|>"],
            "json_schema": {"anyOf": [*_shapes(shown_sentences(messages))]},
        }
        answer = self._server.complete(prefix, f"{rest}<|im_start|>assistant\n", sampling)
        return str(answer.get("content", ""))


def _shapes(sentences: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Give the shape of a verdict with a quote, where there is something to quote, and of one without."""
    if sentences:
        quotes = {"type": "array", "items": {"enum": list(sentences)}, "minItems": 1, "maxItems": 1}
        yield _shape(_QUOTED, quotes)
    yield _shape([one for one in VERDICTS if one not in _QUOTED], {"const": []})


def _shape(verdicts: Sequence[str], quotes: dict[str, Any]) -> dict[str, Any]:
    fields = {
        "verdict": {"enum": list(verdicts)},
        "confidence": {"enum": [0.1, 0.3, 0.5, 0.7, 0.9]},
        "quotes": quotes,
        "reason": {"type": "string", "maxLength": 60},
    }
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _turns(messages: Sequence[dict[str, Any]]) -> str:
    return "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)


def record(folder: str | os.PathLike[str]) -> int:
    """Have the local model judge the labelled claims of a folder, and write down what it said.

    Parameters
    ----------
    folder : path-like
        With ``claims.jsonl``. Each judgement is a line of ``judged.jsonl`` beside it; what the same judge
        said of the same claim and evidence before stays, so that a recording that was stopped goes on.

    Returns
    -------
    int
        Claims that were judged anew.

    Raises
    ------
    UsageError
        Without the local model.
    """
    file = Path(folder) / JUDGED
    server = LocalServer(find_weights())
    try:
        judge = Judge(LocalJudge(server), ["scripted"])
        claims = {one.id: (one, _asked(judge, one)) for one in read_labels(Path(folder) / LABELS)}
        before = {row["id"]: row for _, row in read_jsonl(file)} if file.exists() else {}
        rows = {name: row for name, row in before.items() if row.get("asked") == claims.get(name, (0, 0))[1]}
        todo = [(one, asked) for name, (one, asked) in claims.items() if name not in rows]
        for one, asked in todo:
            said = judge.judge(one.claim, one.evidence)._asdict()
            rows[one.id] = said | {"id": one.id, "quotes": list(said["quotes"]), "asked": asked}
            write_atomic(file, "".join(dumps(rows[name]) + "\n" for name in claims if name in rows))
    finally:
        server.close()
    return len(todo)


def _asked(judge: Judge, label: Labelled) -> str:
    return cache_key(judge.judge_id, messages_for(label.claim, label.evidence), {})[:12]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Judge labelled claims with the local model.")
    parser.add_argument("folder", help="a folder with claims.jsonl")
    record(parser.parse_args().folder)
