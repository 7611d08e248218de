"""The one thing that pyproject.toml cannot say: the wheel's tag follows from what was built.

The compiled part is optional. A wheel that has it fits one kind of machine (`cp311-abi3-linux_x86_64`); one that was built
without a Rust toolchain fits all (`py3-none-any`), and must not take the other's name.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class TaggedByContent(bdist_wheel):
    """Builds first, and looks whether the compiled part came out of it."""

    def run(self) -> None:
        if not self.skip_build:
            self.run_command("build")  # runs once: the second call, in the base class, does nothing
        built = Path(self.get_finalized_command("build").build_lib, "storeproof")
        if not any(built.glob("native*.so")):
            self.root_is_pure = True
            self.distribution.has_ext_modules = lambda: False  # else the files are installed as those of one platform
        super().run()


setup(cmdclass={"bdist_wheel": TaggedByContent})
