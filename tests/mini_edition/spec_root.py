"""A pytest plugin for a run inside a test: it reads the specification under the folder that SPEC_ROOT_OF_THE_TEST names."""

from __future__ import annotations

import os
from pathlib import Path

from storeproof import spec
from storeproof.spec import loader

ROOT = Path(os.environ["SPEC_ROOT_OF_THE_TEST"])

spec.SPEC_ROOT = loader.SPEC_ROOT = ROOT
loader.load_spec.__defaults__ = (ROOT,)
