"""Bad input gets one clear message: what was found, what is allowed, what to do next; and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from tests.end_to_end.running import SOME, Run, leaves_nothing, run, run_all, store_file

USAGE_ERROR = pytest.ExitCode.USAGE_ERROR
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")

WRONG_OPTIONS = (
    (["--store=reddis"], "unknown store `reddis` (did you mean `redis`?); allowed: "),
    (["--store=sqlite:wal"], "unknown variant of sqlite `wal`"),
    (["--store=mine.yaml"], "store file mine.yaml does not exist; "),
    (["--scale=huge"], "argument --scale: invalid choice: 'huge'"),
    (["--profile=cash"], "unknown profile `cash`; allowed: cache, document_store"),
    (["--seed=lucky"], "argument --seed: invalid int value: 'lucky'"),
    (["--records=0"], "--records takes a whole number from 1 to 100,000,000,000, written in digits alone; found '0'"),
    (["--records=1e6"], "--records takes a whole number from 1 to 100,000,000,000, written in digits alone; found '1e6'"),
    (["--records=-5"], "--records takes a whole number from 1 to 100,000,000,000, written in digits alone; found '-5'"),
    (["--records=100000000001"], "--records takes a whole number from 1 to 100,000,000,000"),
    (["--laps=0"], "--laps takes a whole number from 1 to 100, written in digits alone; found '0'"),
    (["--laps=2"], "--laps=2: a lap has 8 rounds or more, and a number at most 3 at smoke scale; use --scale=standard"),
    (
        ["--laps=9", "--scale=standard"],
        "--laps=9: a lap has 8 rounds or more, and a number at most 64 at standard scale; allowed: 1 to 8",
    ),
    (["--endpoint=redis://localhost"], "--endpoint takes STORE=VALUE"),
    (["--endpoint=redis=redis://localhost:6379"], "--endpoint names the store `redis`, which this run does not try; it tries sqlite"),
    (["--store=redis", "--endpoint=redis=redis://localhost:1", "--launch=process"], "--endpoint and --launch=process exclude each other"),
    (["--store=redis", "--launch=endpoint"], "--launch=endpoint needs to know where redis is: --endpoint redis=redis://"),
    (
        ["--store=redis", "--endpoint=redis=localhost"],
        "the endpoint's URL lacks a scheme, a host or a port; an endpoint looks like redis://",
    ),
    (["--store=redis", "--endpoint=redis=http://localhost:1"], "the endpoint's URL has the scheme http://; allowed: redis, rediss; "),
    (["--store=redis", "--endpoint=redis=redis://:${NO_SUCH}@localhost:1"], "names ${NO_SUCH}, but there is no such environment variable"),
    (["--store=/dev/null/x.yaml"], "the store file /dev/null/x.yaml cannot be read: Not a directory; "),
    (["--corpus=/dev/zero"], "--corpus /dev/zero is a device, not a file; "),
    ([f"--report-dir={'a' * 300}"], "cannot be written to; give another directory"),
    ([f"--data-dir={'a' * 300}"], "is not a directory; create it first"),
    (["--data-dir=/nowhere"], "--data-dir /nowhere is not a directory; create it first"),
    (["--disk=a=/nowhere"], "--disk a: /nowhere is not a directory; create it first"),
    (["--disk=/nowhere"], "--disk takes NAME=PATH, such as nvme=/mnt/nvme, or NAME=model:MODEL; found '/nowhere'"),
    (["--report-dir="], "--report-dir is empty; give a directory"),
    (["--report-dir=/proc/none"], "--report-dir /proc/none cannot be written to; give another directory"),
    (["-p", "no:xdist", "-n", "2"], "unrecognized arguments: -n"),
)

WRONG_FILES = (
    ("title: SQLite", "titel: SQLite", ":3: titel: unknown field (did you mean `title`?)"),
    (
        'format: "2.5"',
        'format: "3.0"',
        ':1: format: found \'3.0\'; allowed: "2.0" or "2.1" or "2.2" or "2.3" or "2.4" or "2.5"; a newer file needs',
    ),
    ("product: SQLite", "product: 3", ":4: product: found 3; "),
    ("launch:", "launch: [", "not YAML"),
    ("adapter: sqlite", "adapter: nosuch", "there is no adapter `nosuch`"),
)


def _ends_with_one_message(done: Run, message: str) -> None:
    assert done.code == USAGE_ERROR, done.said
    assert message in done.said, done.said
    assert "Traceback" not in done.said
    assert not (done.folder / "report").exists(), "nothing was tried, and nothing is reported"
    leaves_nothing(done.folder)


@pytest.mark.slow
def test_a_wrong_option_ends_with_one_message(tmp_path: Path) -> None:
    """Each wrong option is a usage error with one message, no traceback and no report."""
    done = run_all(tmp_path, [arguments for arguments, _ in WRONG_OPTIONS])
    for each, (_, message) in zip(done, WRONG_OPTIONS, strict=True):
        _ends_with_one_message(each, message)


@pytest.mark.slow
def test_a_wrong_store_file_says_where(tmp_path: Path) -> None:
    """A store file that breaks a rule is named with the line and the field."""
    files = [store_file(tmp_path / f"{number}.yaml", (before, after), whole=True) for number, (before, after, _) in enumerate(WRONG_FILES)]
    done = run_all(tmp_path, [[f"--store={file}"] for file in files], whole=True)
    for each, file, (_, _, message) in zip(done, files, WRONG_FILES, strict=True):
        _ends_with_one_message(each, f"{file}{message}" if message.startswith(":") else message)


def test_running_in_parallel_is_refused_where_xdist_is_installed(tmp_path: Path) -> None:
    """The suites do not run with `-n`."""
    done = run(tmp_path, "-n", "2")
    _ends_with_one_message(done, "the suites measure performance, so they cannot run in parallel; leave out -n")


def test_what_this_machine_lacks_is_not_run_with_the_line_that_provides_it(tmp_path: Path) -> None:
    """A missing client, server or engine is `not_run` with the command that installs it."""
    client = store_file(tmp_path / "client.yaml", ("adapter: sqlite\n", 'adapter: sqlite\nrequires: ["no-such-client>=3"]\n'))
    server = store_file(tmp_path / "server.yaml", ("binary: ${python}", "binary: no-such-server"))
    lines = [[f"--store={client}"], [f"--store={server}", "--launch=process"], ["--store=redis", "--launch=container"]]
    os.environ["DOCKER_HOST"] = "tcp://127.0.0.1:1"
    try:
        done = run_all(tmp_path, [[*line, "-k", SOME] for line in lines], suites="correctness")
    finally:
        del os.environ["DOCKER_HOST"]
    messages = (
        ("pip install 'no-such-client>=3'",),
        ("no-such-server was not found", "apt-get install python3"),
        ("no container engine answers at DOCKER_HOST=tcp://127.0.0.1:1", "apt-get install docker.io"),
    )
    for each, words in zip(done, messages, strict=True):
        assert each.code == pytest.ExitCode.NO_TESTS_COLLECTED, "nothing was tried, and that is no success"
        assert set(each.counted) == {"not_run", "excluded"}
        for word in words:
            assert word in each.outcomes["settings.readback"]["detail"]
            assert word in " ".join(each.said.split()), "the terminal says why"
        leaves_nothing(each.folder)


def test_a_port_that_is_in_use_is_named_with_who_uses_it(tmp_path: Path) -> None:
    """A taken port is `not_run` with the process that holds it."""
    with socket.create_server(("127.0.0.1", 0)) as theirs:
        port = theirs.getsockname()[1]
        (tmp_path / "unlucky.py").write_text(f"from storeproof.machine import ports\nports.free_port = lambda: {port}\n")
        done = run(tmp_path, "-p", "unlucky", "-k", SOME, suites="correctness", environment={"PYTHONPATH": str(tmp_path)})
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert set(done.counted) == {"not_run", "excluded"}, "the store is not blamed"
    detail = done.outcomes["settings.readback"]["detail"]
    assert f"port {port} is already in use by pid {os.getpid()}" in detail
    assert "end it, or run again" in detail
    leaves_nothing(tmp_path)


def test_a_report_that_cannot_be_written_in_the_end_is_no_success(tmp_path: Path) -> None:
    """The report then goes to a temporary directory, and the run fails."""
    spoiled = tmp_path / "report"
    (tmp_path / "spoil.py").write_text(
        f"import pathlib, shutil\n\ndef pytest_runtest_logfinish():\n    shutil.rmtree({str(spoiled)!r}, ignore_errors=True)\n"
        f"    pathlib.Path({str(spoiled)!r}).touch()\n"
    )
    done = run(tmp_path, "-p", "spoil", suites="correctness/test_settings.py", environment={"PYTHONPATH": str(tmp_path)}, pages=True)
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in done.said
    assert f"the report could not be written to {spoiled}: " in done.said
    assert "Traceback" not in done.said
    (elsewhere,) = (tmp_path / "temporary").glob("storeproof-report-*")
    assert f"it is in {elsewhere}; name another directory with --report-dir" in done.said
    assert f"report  {elsewhere / 'report.html'}" in done.said
    assert (elsewhere / "result.json").is_file()
    shutil.rmtree(elsewhere)
    leaves_nothing(tmp_path)


@needs_redis
@pytest.mark.servers
def test_a_wrong_password_is_said_and_not_shown(tmp_path: Path, guarded_redis: int) -> None:
    """A refused password is a usage error that does not repeat it."""
    done = run(tmp_path / "run", "--store=redis", f"--endpoint=redis=redis://:wr0ng-word@127.0.0.1:{guarded_redis}/0")
    _ends_with_one_message(done, f"redis at 127.0.0.1:{guarded_redis} answers and refuses access")
    assert "password" in done.said.lower()
    assert "wr0ng-word" not in done.said


@needs_redis
@pytest.mark.servers
@pytest.mark.slow
def test_an_endpoint_keeps_what_is_not_ours_and_is_never_killed(tmp_path: Path, guarded_redis: int) -> None:
    """A server of someone else keeps its records, and faults on it are `not_run`."""
    import redis

    theirs = redis.Redis(port=guarded_redis, password="s3cret-word")
    theirs.set("precious", "theirs")
    endpoint = f"--endpoint=redis=redis://:s3cret-word@127.0.0.1:{guarded_redis}/0"
    done = run(tmp_path / "run", "--store=redis", endpoint, "-k", "key_access or stateful or guarantee or single-get", pages=True)
    found = done.outcomes
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass", done.said
    assert found["performance.single-get/0i/4c"]["outcome"] == "pass", done.said
    assert found["durability.process_crash"]["outcome"] == "not_run"
    assert theirs.keys() == [b"precious"]
    written = "".join(path.read_text() for path in (done.folder / "report").iterdir())
    assert "s3cret-word" not in written + done.said
    leaves_nothing(done.folder)


@pytest.mark.docker
def test_an_image_that_is_not_there_ends_with_one_message(tmp_path: Path) -> None:
    """An image that cannot be pulled is a usage error with the option to give another."""
    done = run(tmp_path, "--store=redis", "--launch=container", "--image=redis=storeproof/no-such-image")
    _ends_with_one_message(done, "redis: the image storeproof/no-such-image is not available locally and cannot be pulled")
    assert "--image redis=LOCAL" in done.said


@pytest.mark.docker
def test_what_is_no_name_of_an_image_ends_with_one_message(tmp_path: Path) -> None:
    """A malformed image name is a usage error."""
    done = run(tmp_path, "--store=redis", "--launch=container", "--image=redis=;x")
    _ends_with_one_message(done, "redis: the image ;x is not available locally and cannot be pulled: that is not a valid image name")


@needs_redis
@pytest.mark.servers
def test_a_password_that_is_named_is_found_and_not_shown(tmp_path: Path, guarded_redis: int) -> None:
    """A password given by environment variable or file is used, and stands in no output."""
    (tmp_path / "word").write_text("s3cret-word\n")
    for name, named in (("a", "${WORD}"), ("b", f"${{file:{tmp_path}/word}}")):
        endpoint = f"--endpoint=redis=redis://:{named}@127.0.0.1:{guarded_redis}/0"
        done = run(tmp_path / name, "--store=redis", endpoint, "-k", "test_settings", environment={"WORD": "s3cret-word"}, pages=True)
        assert done.outcomes["settings.readback"]["outcome"] == "pass", done.said
        written = "".join(path.read_text() for path in (done.folder / "report").iterdir())
        assert "s3cret-word" not in written + done.said


TALKATIVE = """
import base64, json, threading
from urllib.parse import quote
from storeproof.adapters.sqlite import connect as really
from storeproof.contract import Refused

def connect(address, options):
    session = really(address, options)
    word = address.password
    forms = [word, quote(word, safe=""), repr(word.encode()), json.dumps(word), base64.b64encode(f"me:{word}".encode()).decode()]
    said = f"cannot log in to x://me:{word}@host: {forms}"

    def fail():
        raise ValueError(said)

    def settings(names):
        threading.Thread(target=fail).start()
        print(said)
        REFUSE
        fail()

    session.read_settings = settings
    return session
"""


@pytest.mark.parametrize("refuse", ["pass", "raise Refused(said)"])
def test_a_client_that_says_the_password_is_not_repeated(tmp_path: Path, refuse: str) -> None:
    """In no form: in the case, its traceback with all variables, captured output, warnings, and all files."""
    word = 's3"cret/wörd+'
    file = store_file(
        tmp_path / "open.yaml",
        ("adapter: sqlite\n", "adapter: open.py\n"),
        ("    binary: ${python}\n", f"    binary: ${{python}}\n    password: '{word}'\n"),
    )
    (tmp_path / "open.py").write_text(TALKATIVE.replace("REFUSE", refuse))
    more = ("-vv", "--showlocals", f"--junitxml={tmp_path / 'run' / 'report' / 'theirs.xml'}")
    done = run(tmp_path / "run", f"--store={file}", "-k", "test_settings", *more, suites="correctness", pages=True)
    assert done.counted["error"] == 1, done.said
    assert "cannot log in" in done.outcomes["settings.readback"]["detail"]
    assert "PytestUnhandledThreadExceptionWarning" in done.said
    written = "".join(path.read_text() for path in (done.folder / "report").iterdir())
    for form in (word, "s3", "cret", "w\\xf6", "w%C3%B6", "czMiY3JldC93w7ZyZC", "MzImNyZXQvd8O2cmQ"):
        assert form not in done.said + written, form


EVIL = """
import sys
from storeproof.adapters.sqlite import connect as really
from storeproof.contract import Refused

def connect(address, options):
    session = really(address, options)
    if {at!r} == "connect":
        sys.exit(3)
    kind = Refused if {at!r} == "refuse" else ValueError
    def settings(names):
        print({text!r})
        raise kind({text!r})
    session.read_settings = settings
    return session
"""


@pytest.mark.parametrize("at", ["connect", "refuse", "break"])
def test_an_adapter_that_exits_or_hands_on_escapes_spoils_no_terminal(tmp_path: Path, at: str) -> None:
    """What a server says is in the message of a case, in its traceback, and in what was captured."""
    file = store_file(tmp_path / "evil.yaml", ("adapter: sqlite\n", "adapter: evil.py\n"))
    (tmp_path / "evil.py").write_text(EVIL.format(at=at, text="\x1b[2J\x1b]0;owned\x07\u202e"))
    done = run(tmp_path / "run", f"--store={file}", "-k", "test_settings", suites="correctness")
    assert done.code == pytest.ExitCode.TESTS_FAILED, done.said
    assert set(done.counted) - {"excluded"} <= {"error", "fail"}
    detail = done.outcomes["settings.readback"]["detail"]
    assert ("the adapter called sys.exit(3)" if at == "connect" else r"\x1b[2J\x1b]0;owned\x07\u202e") in detail
    assert not {"\x1b", "\x07", "\u202e"} & set(done.said)
    leaves_nothing(done.folder)
