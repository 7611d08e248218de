"""What a store's file may say of a process: a second port, arguments of a variant, and `${here}`."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path

import pytest

from storeproof.errors import UsageError
from storeproof.launch.process import ProcessHandle
from storeproof.launch.template import Template
from storeproof.machine.program_origin import interpreter, origin_of_program
from storeproof.machine.programs import digest_of
from storeproof.spec import Store, Target
from storeproof.store_under_test import Options, StoreUnderTest
from tests.launch.small import connected, python_server, request
from tests.shipped import SHIPPED

TWO_PORTS = """
import socket, sys, time
servers = [socket.create_server(("127.0.0.1", int(port))) for port in sys.argv[1:3]]
time.sleep(600)
"""


def test_a_process_has_as_many_ports_as_its_file_names(tmp_path: Path) -> None:
    """A process has a free port for each name in its file, the same for all starts."""
    launch = python_server(TWO_PORTS, command=["-c", TWO_PORTS, "${port}", "${port.admin-api}"], ports=["admin-api"])
    handle = ProcessHandle(request(launch, tmp_path, probe=connected))
    try:
        handle.start()
        assert set(handle.address.ports) == {"admin-api"}
        assert handle.address.ports["admin-api"] != handle.address.port
        socket.create_connection(("127.0.0.1", handle.address.ports["admin-api"]), timeout=5).close()
        before = handle.address
        handle.kill()
        handle.start()
        assert handle.address == before, "the same for all starts"
    finally:
        handle.close()


def test_the_digest_is_of_all_servers_that_the_store_consists_of(tmp_path: Path) -> None:
    """Another front is another store, also over the same server."""
    launch = python_server(TWO_PORTS, servers=["sh"])
    handle = ProcessHandle(request(launch, tmp_path, probe=connected))
    try:
        assert handle.binary_digest == f"{digest_of(sys.executable)} and {digest_of(shutil.which('sh') or '')}"
        assert handle.origins == [interpreter(), origin_of_program(shutil.which("sh") or "")]
    finally:
        handle.close()


def test_a_port_that_the_file_does_not_name_is_refused_with_those_that_there_are() -> None:
    """A misspelt port name is a usage error that lists the allowed names."""
    template = Template("two", {"port": "1", "port.admin": "2"}, (), {})
    with pytest.raises(
        UsageError, match=r"unknown name \$\{port\.amdin\} in .*; allowed: \$\{here\}, \$\{port\}, \$\{port\.admin\}, \$\{settings\}"
    ):
        template.command(["${port.amdin}"])


def target(command: list[str], arguments: list[str]) -> Target:
    process = {"binary": "x", "install": "x", "command": command}
    container = {"image": "x", "port": 1, "data": "/data", "command": command}
    store = Store.model_validate(
        {
            "format": "2.0",
            "store": "x",
            "title": "X",
            "product": "X",
            "adapter": "x",
            "launch": {"process": process, "container": container},
            "variants": {"one": {"guarantee": "volatile", "default": True}, "two": {"guarantee": "volatile", "arguments": arguments}},
            "claims": {"models": ["single_key"], "capabilities": {}},
        }
    )
    return Target(store, "two", Path("x.yaml"))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["start", "${arguments}", "--last"], ["start", "--engine", "${data}/x", "--last"]),
        (["start", "--last"], ["start", "--last", "--engine", "${data}/x"]),
        ([], ["--engine", "${data}/x"]),
    ],
)
def test_a_variant_has_arguments_of_its_own(command: list[str], expected: list[str]) -> None:
    """A variant's arguments replace `${arguments}`, or are appended to the command."""
    two = target(command, ["--engine", "${data}/x"])
    assert two.launch.process is not None
    assert two.launch.container is not None
    assert list(two.launch.process.command) == list(two.launch.container.command) == expected
    one = Target(two.store, "one", two.file).launch
    assert one.process is not None
    assert list(one.process.command) == [item for item in command if item != "${arguments}"]


def test_arguments_reach_the_server_that_is_started(tmp_path: Path) -> None:
    """By the way that a trial takes: the adapter tells what the host was started with."""
    (tmp_path / "told.py").write_text(
        "import sys\n"
        "from storeproof.contract import Version\n"
        "from storeproof.embedded import serve, session\n"
        "class Nothing:\n    def close(self): pass\n"
        "def version(nothing): return 'Told', sys.argv[1]\n"
        "def read_settings(nothing): return {}\n"
        "FUNCTIONS = {'version': version, 'read_settings': read_settings}\n"
        "def connect(address, options): return session(address, options, FUNCTIONS)\n"
        "if __name__ == '__main__':\n"
        "    serve(lambda data, settings: Nothing(), FUNCTIONS, arguments=sys.argv[2:])\n"
    )
    (tmp_path / "told.yaml").write_text(
        'format: "2.0"\nstore: told\ntitle: Told\nproduct: Told\nadapter: ./told.py\n'
        "launch:\n  process:\n    binary: ${python}\n    install: x\n"
        '    command: ["${here}/told.py", "${arguments}", --data, "${data}", --port, "${port}"]\n'
        "variants:\n  one: {default: true, arguments: [here-i-am], guarantee: volatile}\n"
        "claims: {models: [single_key], capabilities: {}}\n"
    )
    spec = SHIPPED
    (found,) = spec.targets([str(tmp_path / "told.yaml")])
    sut = StoreUnderTest(spec, found, Options(scale=spec.scales["smoke"], seed=1, launch="process", data_dir=tmp_path), lambda _: None)
    sut.launch("a test").close()
    assert sut.record.version == "Told here-i-am"
