"""Bad input gets one clear message: what was found, what is allowed, what to do next; and nothing is left behind."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trial.running import left_behind, outcomes, run, wait_for

USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store=reddis"], "unknown store `reddis` (did you mean `redis`?); allowed: "),
        (["--store=sqlite:wal"], "unknown variant of sqlite `wal`"),
        (["--store=mine.yaml"], "store file mine.yaml does not exist; "),
        (["--scale=huge"], "argument --scale: invalid choice: 'huge'"),
        (["--launch=rocket"], "argument --launch: invalid choice: 'rocket'"),
        (["--profile=cash"], "unknown profile `cash`; allowed: cache, document_store, golden_store, session_store"),
        (["--seed=lucky"], "argument --seed: invalid int value: 'lucky'"),
        (["--endpoint=redis://localhost"], "--endpoint is written STORE=VALUE"),
        (["--endpoint=redis=redis://localhost:6379"], "--endpoint names the store `redis`, which this run does not try; it tries sqlite"),
        (["--image=redis"], "--image is written STORE=VALUE"),
        (["--data-dir=/nowhere"], "--data-dir /nowhere is not a directory; create it first"),
    ],
)
def test_a_wrong_option_ends_with_one_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == USAGE_ERROR, done.stdout
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "report").exists()
    assert not left_behind(tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("title: SQLite", "titel: SQLite", ":3: titel: unknown field (did you mean `title`?); allowed: "),
        ('format: "1.0"', 'format: "2.0"', ":1: format: found '2.0'; allowed: \"1.0\"; a newer file needs a newer storeproof"),
        ("product: SQLite", "product: 3", ":4: product: found 3; "),
        ("guarantee: power_loss", "guarantee: forever", "guarantee: found 'forever'; "),
        ("    fields.put-get: true\n", "", "claims.capabilities: fields.put-get is not stated"),
        ("launch:", "launch: [", "not YAML"),
        ("adapter: sqlite", "adapter: nosuch", "there is no adapter `nosuch`"),
    ],
)
def test_a_wrong_store_file_says_where(tmp_path: Path, before: str, after: str, message: str) -> None:
    from storeproof.spec import SPEC_ROOT

    text = (SPEC_ROOT / "stores" / "sqlite.yaml").read_text()
    assert before in text
    (tmp_path / "mine.yaml").write_text(text.replace(before, after, 1))
    done = run(tmp_path, "--store=mine.yaml", suites="correctness")
    assert done.returncode == USAGE_ERROR, done.stdout
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert not left_behind(tmp_path)


def test_a_missing_client_package_is_not_run_with_the_line_that_installs_it(tmp_path: Path) -> None:
    from storeproof.spec import SPEC_ROOT

    text = (SPEC_ROOT / "stores" / "sqlite.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("adapter: sqlite\n", 'adapter: sqlite\nrequires: ["no-such-client>=3"]\n'))
    done = run(tmp_path, "--store=mine.yaml", suites="correctness")
    assert done.returncode != 0, "nothing was tried, and that is no success"
    assert {each["outcome"] for each in outcomes(tmp_path).values()} == {"not_run"}
    assert "pip install 'no-such-client>=3'" in outcomes(tmp_path)["settings.readback"]["detail"]


def test_a_missing_server_is_not_run_with_the_line_that_installs_it(tmp_path: Path) -> None:
    from storeproof.spec import SPEC_ROOT

    text = (SPEC_ROOT / "stores" / "sqlite.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("binary: ${python}", "binary: no-such-server").replace("install: python3", "install: apt-get install python3"))
    done = run(tmp_path, "--store=mine.yaml", "--launch=process", suites="correctness")
    assert done.returncode != 0
    detail = outcomes(tmp_path)["settings.readback"]["detail"]
    assert "no-such-server was not found" in detail
    assert "apt-get install python3" in detail
    assert not left_behind(tmp_path)


@pytest.fixture
def guarded_redis(tmp_path: Path) -> Iterator[int]:
    """A Redis of somebody else's, with a password and with a record in it; its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    home = tmp_path / "theirs"
    home.mkdir()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(home), "--save", "", "--appendonly", "yes"]
        + ["--appendfsync", "always", "--requirepass", "s3cret-word"],
        stdout=subprocess.DEVNULL,
    )

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_for(answers)
    yield port
    server.kill()
    server.wait()


@needs_redis
@pytest.mark.servers
def test_a_wrong_password_is_said_and_not_shown(tmp_path: Path, guarded_redis: int) -> None:
    done = run(tmp_path, "--store=redis", f"--endpoint=redis=redis://:wr0ng-word@127.0.0.1:{guarded_redis}/0", suites="correctness")
    assert done.returncode != 0
    written = "".join(path.read_text() for path in (tmp_path / "report").iterdir())
    assert "wr0ng-word" not in written + done.stdout + done.stderr
    assert "password" in outcomes(tmp_path)["settings.readback"]["detail"].lower()


@needs_redis
@pytest.mark.servers
def test_an_endpoint_keeps_what_is_not_ours_and_is_never_killed(tmp_path: Path, guarded_redis: int) -> None:
    import redis

    theirs = redis.Redis(port=guarded_redis, password="s3cret-word")
    theirs.set("precious", "theirs")
    done = run(tmp_path, "--store=redis", f"--endpoint=redis=redis://:s3cret-word@127.0.0.1:{guarded_redis}/0")
    found = outcomes(tmp_path)
    assert found["capabilities.key_access.put-get/001"]["outcome"] == "pass", done.stdout
    assert found["durability.process_crash"]["outcome"] == "not_run"
    assert theirs.keys() == [b"precious"]
    written = "".join(path.read_text() for path in (tmp_path / "report").iterdir())
    assert "s3cret-word" not in written + done.stdout + done.stderr


def test_an_image_that_is_not_there_is_not_run(tmp_path: Path) -> None:
    done = run(tmp_path, "--store=redis", "--launch=container", "--image=redis=storeproof/no-such-image", suites="correctness")
    assert done.returncode != 0
    detail = outcomes(tmp_path)["settings.readback"]["detail"]
    assert "no-such-image" in detail or "engine" in detail
    assert outcomes(tmp_path)["settings.readback"]["outcome"] == "not_run"
