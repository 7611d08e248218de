"""A Python that has loaded what runs of the suites import, and forks for each: to load it takes longer than most of them take otherwise."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import hypothesis  # noqa: F401 - loaded for all runs
import psutil
import pytest  # noqa: F401 - likewise

import storeproof.experiments
import storeproof.plugin
from storeproof.embedded import fork_server

if __name__ == "__main__":
    for package in (storeproof.plugin, storeproof.experiments):
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(each.name)
    for name in ("hypothesis", "_hypothesis_globals", "storeproof"):
        sys.modules[name].__doc__ = "PYTEST_DONT_REWRITE"  # it is loaded already, and pytest would warn of that
    server = os.getpid()
    fork_server.main()
    if os.getpid() == server:  # whose tests are over or were interrupted: Ctrl-C at a terminal does not reach runs of their own sessions
        for run in psutil.Process().children():
            run.terminate()
