"""A server of a cluster in a container: as its topology describes a process, by the programs of an image."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Final

from storeproof.cleanup.workdir import WorkDir
from storeproof.errors import NotAvailable
from storeproof.launch.container_description import labels
from storeproof.launch.handle import LaunchKind
from storeproof.launch.process import ProcessHandle
from storeproof.launch.several.contained_processes import PLACE, ContainedProcesses
from storeproof.machine import container_engine
from storeproof.machine.program_origin import ProgramOrigin, origin_of_image

_PYTHON: Final = "${python}"
_LOOK: Final = 'for each do command -v "$each" >/dev/null || echo "$each"; done'


class ContainedServer(ProcessHandle):
    """Its directory is mounted into the container, so that data, files and log are where those of a process are."""

    kind: LaunchKind = "container"
    binary_digest: None = None

    @property
    def origins(self) -> Sequence[ProgramOrigin]:
        return [origin_of_image(self._image)]

    def _find_programs(self) -> Mapping[str, str]:
        """Nothing: the names are those in the image. Raises `NotAvailable` if it lacks one."""
        launch, image = self._launch, self._image
        commands = (*launch.initialise, *launch.before_start)
        texts = (launch.binary, *launch.command, *launch.files.values(), *(item for each in commands for item in each))
        if any(_PYTHON in text for text in texts):
            raise NotAvailable(
                f"{self._name} cannot be launched by container: it needs {_PYTHON}, the Python of the suites, which no image has",
                "--launch=process",
            )
        first = {each[0] for each in commands}
        if missing := self._missing((launch.binary, *sorted({*launch.programs, *first}))):
            store = self._name.partition(",")[0]
            raise NotAvailable(
                f"{self._name}: the image {image} has no {', '.join(missing)}",
                f"--image {store}=IMAGE  # one that has, or --launch=process",
            )
        return {}

    def _program(self, name: str) -> str:
        return name

    def _make_processes(self, directory: WorkDir) -> ContainedProcesses:
        node = self._request.node
        assert node is not None, "it is a server of a node"
        assert node.holder is not None, "it runs in a container"
        return ContainedProcesses(self._request, directory, self._end_cause, user=self._user, image=self._image, holder=node.holder)

    def _places(self, directory: WorkDir) -> Mapping[str, str]:
        return {"data": f"{PLACE}/{directory.data.name}", "run": f"{PLACE}/{directory.run.name}"}

    @property
    def _image(self) -> str:
        assert self._request.image is not None, "the cluster names it"
        return self._request.image

    def _missing(self, programs: tuple[str, ...]) -> tuple[str, ...]:
        """The programs that the image does not have. Raises `NotAvailable`: that cannot be looked up."""
        from docker.errors import DockerException

        try:
            return _missing(self._image, programs)
        except (DockerException, OSError) as reason:  # the errors of the engine's client are OSErrors
            raise NotAvailable(
                f"{self._name}: the programs of the image {self._image} cannot be found by its shell: {container_engine.said(reason)}",
                "--launch=process",
            ) from None


@functools.cache
def _missing(image: str, programs: tuple[str, ...]) -> tuple[str, ...]:
    """Looked up once per run: a container of its own costs a third of a second."""
    return tuple(container_engine.output_of(image, ("sh", "-c", _LOOK, "sh", *programs), labels(keep=False)).split())
