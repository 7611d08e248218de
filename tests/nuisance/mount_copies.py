"""Copies of all mounts, as every container that starts and every `unshare -m` makes them: they hold what the trial wants to unmount."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator

from storeproof.machine import container_engine
from tests.nuisance.nuisance import Nuisance, meanwhile
from tests.nuisance.short_trial import ShortTrial

_AT_MOST = 12
"""Namespaces at one time."""


def _cannot(_trial: ShortTrial) -> str | None:
    tried = subprocess.run(["unshare", "-m", "--propagation", "private", "true"], capture_output=True, text=True, check=False)
    return f"no mount namespace can be had: {tried.stderr.strip()}" if tried.returncode else None


def _image() -> str | None:
    """One that is here, and small."""
    if container_engine.unavailable() is not None:
        return None
    tags = sorted(tag for image in container_engine.client().images.list() for tag in image.tags if tag.startswith("storeproof"))
    return next((tag for tag in tags if tag.startswith("storeproof-base:")), tags[0] if tags else None)


@contextlib.contextmanager
def _around(sut: ShortTrial) -> Iterator[None]:
    holders: list[subprocess.Popen[bytes]] = []
    image = _image()

    def work() -> None:
        more = sut.until_over(0, 1)
        while more:
            holders[:] = [each for each in holders if each.poll() is None]
            seconds = sut.random.uniform(3, 20)
            if len(holders) < _AT_MOST:
                holders.append(subprocess.Popen(["unshare", "-m", "--propagation", "private", "sleep", f"{seconds:.1f}"]))
            with sut.act(f"a copy of the mounts for {seconds:.0f} s"):
                if image is not None and sut.random.random() < 0.3:
                    name = f"storeproof-nuisance-{os.getpid()}-{id(sut):x}"
                    command = ["docker", "run", "--rm", "--name", name, "--network", "none", image, "sleep", "1"]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
                    assert done.returncode == 0, done.stderr
                more = sut.until_over(1, 3)

    try:
        with meanwhile(sut, work):
            yield
    finally:
        for each in holders:
            each.kill()
            each.wait()


NUISANCE = Nuisance("mount copies", _around, _cannot, lasting=True)
