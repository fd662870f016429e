"""Servers and a browser for panels: each notebook is one cell, and what it did is read from its files."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_HOMES = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "IPYTHONDIR",
)
_LAB = [
    "--no-browser",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.disable_check_xsrf=True",
    "--allow-root",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.extension_manager=readonly",
]
# The news would lie over the lower right corner.
_QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}


@pytest.fixture(scope="module")
def write_notebook() -> Callable[[Path, str], None]:
    """Hand out: write a notebook of one cell."""

    def write(path: Path, source: str) -> None:
        cell = {"cell_type": "code", "id": "a", "metadata": {}, "execution_count": None, "outputs": []}
        kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
        notebook = {
            "cells": [{**cell, "source": source}],
            "metadata": kernel,
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        path.write_text(json.dumps(notebook), encoding="utf-8")

    return write


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[[Path, str], str]]:
    """Hand out: serve a folder with Voila or JupyterLab, and give the server's address."""
    running: list[subprocess.Popen[bytes]] = []

    def start(folder: Path, program: str) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [sys.executable, "-m", program, *_arguments(folder, program), f"--port={port}"],
            cwd=folder,
            env=os.environ | {name: str(folder / name.lower()) for name in _HOMES},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        running.append(server)
        _wait_for(server, port)
        return f"http://127.0.0.1:{port}"

    yield start
    for server in running:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _arguments(folder: Path, program: str) -> list[str]:
    if program == "voila":
        return [str(folder), "--no-browser", "--Voila.ip=127.0.0.1"]
    settings = folder / "app_settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(_QUIET), encoding="utf-8")
    return [*_LAB, f"--ServerApp.root_dir={folder}", f"--LabServerApp.app_settings_dir={settings}"]


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode} before it answered")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not answer within a minute")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start the browser that the system has."""
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, headless=True, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[[str], Any]]:
    """Hand out: open an address in a page of its own."""
    pages: list[Any] = []

    def go(address: str) -> Any:
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        pages.append(page)
        page.goto(address)
        return page

    yield go
    for page in pages:
        page.close()
