"""A managed Redis: its store file and what the adapter does for it, tried on a local Redis with TLS and a password.

The stub is a store of its own name. What it shows is TLS, the access key, and a server that closes CONFIG; of the
service itself it shows nothing, and it cannot be tried under the service's name.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from storeproof.adapters import redis as adapter
from storeproof.adapters.redis import managed as redis_managed
from storeproof.contract import Address, Refused
from tests.end_to_end.running import SOME, leaves_nothing, run, wait_for
from tests.mini_edition.edition import fitting
from tests.shipped import SHIPPED
from tests.stubs.authority import Authority

STORE = Path(__file__).with_name("redis-tls.yaml")
KEY = "s3cret+word/for=tests"
"""As the service's access keys: base64, with characters that a URL writes otherwise."""
KEY_IN_URL = "s3cret%2Bword%2Ffor%3Dtests"

servers = pytest.mark.servers
needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="redis-server is not installed")


@dataclass
class Managed:
    """A Redis that takes TLS only and has CONFIG closed."""

    port: int
    authority: Path

    def url(self, key: str = KEY_IN_URL, host: str = "localhost") -> str:
        return f"rediss://:{key}@{host}:{self.port}/0"

    @property
    def trusting(self) -> dict[str, str]:
        """The environment of a client that trusts our authority."""
        return {"SSL_CERT_FILE": str(self.authority)}


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Managed]:
    home = tmp_path_factory.mktemp("managed")
    authority = Authority(home)
    certificate, secret = authority.sign("localhost")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    server = subprocess.Popen(
        [
            *("redis-server", "--port", "0", "--tls-port", str(port), "--bind", "127.0.0.1", "--dir", str(home)),
            *("--tls-cert-file", str(certificate), "--tls-key-file", str(secret), "--tls-auth-clients", "no"),
            *("--save", "", "--appendonly", "yes", "--requirepass", KEY, "--rename-command", "CONFIG", ""),
        ],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _listens(port))
        yield Managed(port, authority.certificate)
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@needs_redis
@servers
@pytest.mark.slow
def test_the_trial_of_the_stand_in(tmp_path: Path, managed: Managed) -> None:
    """The suites run over TLS against a Redis set up like the managed service."""
    store_file = tmp_path / "redis-tls.yaml"
    store_file.write_text(fitting(STORE.read_text()))
    line = (f"--store={store_file}:aof", f"--endpoint=redis-tls={managed.url()}", "-k", "correctness or guarantee or single-get")
    done = run(tmp_path, *line, environment=managed.trusting, pages=True)
    assert done.code == 0, done.said
    (store,) = done.result["stores"]
    assert store["store"] == "redis-tls"
    assert store["version"].startswith("Redis ")
    assert store["settings"] == {"appendonly": "yes"}, "read from INFO, since CONFIG is closed"
    found = done.outcomes
    for case in ("capabilities.key_access.put-get/001", "capabilities.fields.set-field/001", "stateful.hash10", "concurrency.increment"):
        assert found[case]["outcome"] == "pass", found[case]
    assert found["performance.single-get/0i/4c"]["outcome"] == "pass", "its worker processes get the certificate verified too"
    assert found["durability.clean_restart"]["outcome"] == "not_run", "no run stops a server that is not ours"
    _shows_no_secret(tmp_path)
    leaves_nothing(tmp_path)


@needs_redis
@servers
def test_the_stand_in_is_not_tried_under_the_name_of_the_service(tmp_path: Path, managed: Managed) -> None:
    """A plain Redis is not run under the name of the managed service."""
    endpoint = f"--endpoint=azure-redis-cache={managed.url()}"
    done = run(tmp_path, "--store=azure-redis-cache", endpoint, "-k", SOME, environment=managed.trusting, pages=True)
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED, done.said
    assert set(done.counted) == {"not_run", "excluded"}
    detail = done.outcomes["settings.readback"]["detail"]
    assert "not Azure Cache for Redis: it cannot be tested as azure-redis-cache" in detail
    _shows_no_secret(tmp_path)


@needs_redis
@servers
def test_a_setting_that_differs_is_an_error(tmp_path: Path, managed: Managed) -> None:
    """A setting whose live value differs from the variant's is a failure with both values."""
    done = run(
        tmp_path,
        f"--store={STORE}:no-log",
        f"--endpoint=redis-tls={managed.url()}",
        "-k",
        "settings",
        environment=managed.trusting,
        whole=True,
    )
    assert done.code == pytest.ExitCode.TESTS_FAILED
    assert "appendonly: expected 'no', found 'yes'" in done.outcomes["settings.readback"]["detail"]


@needs_redis
@servers
def test_a_certificate_that_is_not_trusted_is_refused(tmp_path: Path, managed: Managed) -> None:
    """A certificate that is not trusted, or is for another host, ends the run with a message that says so."""
    lines = {
        "unknown authority": (managed.url(), {"SSL_CERT_FILE": ""}),
        "another host": (managed.url(host="127.0.0.1"), managed.trusting),
    }
    for name, (url, environment) in lines.items():
        done = run(tmp_path / name, f"--store={STORE}:aof", f"--endpoint=redis-tls={url}", environment=environment, whole=True, pages=True)
        assert done.code == pytest.ExitCode.USAGE_ERROR, done.said
        assert "answers and refuses access" in done.said
        assert "certificate verify failed" in done.said
        _shows_no_secret(tmp_path / name)


@needs_redis
@servers
def test_a_wrong_key_is_said_and_not_shown(tmp_path: Path, managed: Managed) -> None:
    """A wrong access key is reported without printing it."""
    endpoint = f"--endpoint=redis-tls={managed.url(key='wr0ng%2Fword')}"
    done = run(tmp_path, f"--store={STORE}:aof", endpoint, environment=managed.trusting, whole=True)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "answers and refuses access" in done.said
    assert "wr0ng" not in done.said


def test_a_key_that_was_not_encoded_is_not_shown(tmp_path: Path) -> None:
    """An access key that breaks the URL is not printed either."""
    done = run(tmp_path, "--store=azure-redis-cache", "-k", SOME, f"--endpoint=azure-redis-cache=rediss://:{KEY}@localhost:6380/0")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "an endpoint looks like rediss://" in done.said
    assert "s3cret" not in done.said


def test_without_a_server_it_is_not_run_and_says_how(tmp_path: Path) -> None:
    """Without an endpoint the store is not run, and the message says how to give one."""
    done = run(tmp_path, "--store=azure-redis-cache", "-k", SOME)
    assert done.code == pytest.ExitCode.NO_TESTS_COLLECTED
    assert set(done.counted) == {"not_run", "excluded"}
    for told in (done.outcomes["settings.readback"]["detail"], done.said):
        assert "--endpoint azure-redis-cache=rediss://" in " ".join(told.split())


def test_the_service_is_known_by_a_host_name_that_tls_proves() -> None:
    """The service is recognised by its host name, over TLS only."""
    host = "shop.redis.cache.windows.net"
    assert redis_managed.service(Address(host, 6380, tls=True)) == "Azure Cache for Redis"
    assert redis_managed.service(Address(host, 6379)) is None, "without TLS anyone may answer"
    assert redis_managed.service(Address(f"{host}.example.org", 6380, tls=True)) is None
    assert redis_managed.service(Address("localhost", 6380, tls=True)) is None


def test_the_service_and_the_stand_in_claim_what_redis_claims() -> None:
    """Both files claim the capabilities of redis.yaml, and no isolation level, of which the service's maker says nothing."""
    claims = [SHIPPED.store(name)[0].claims for name in ("redis", "azure-redis-cache", str(STORE))]
    assert [set(each.isolation) for each in claims] == [{"serializable"}, set(), set()]
    claims[0] = claims[0].model_copy(update={"isolation": {}})
    assert claims[0] == claims[1] == claims[2]


def test_what_info_does_not_tell_is_left_out() -> None:
    """Where CONFIG is closed, only settings that INFO has are reported."""
    info = {"aof_enabled": 1, "maxmemory_policy": "volatile-lru"}
    assert redis_managed.settings_of(("appendonly", "maxmemory-policy", "appendfsync"), info) == {
        "appendonly": "yes",
        "maxmemory-policy": "volatile-lru",
    }
    assert redis_managed.settings_of(("appendonly",), {}) == {}


@needs_redis
@servers
def test_the_adapter_itself_refuses_an_unknown_authority(managed: Managed, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adapter's own connection checks the certificate."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    with pytest.raises(Refused, match="certificate verify failed"):
        adapter.connect(Address("localhost", managed.port, password=KEY, tls=True), {})


def _shows_no_secret(folder: Path) -> None:
    """Neither as it is nor as a URL has it, in no file of the report and on no line of the terminal."""
    files = [path for path in (folder / "report").rglob("*") if path.is_file()] if (folder / "report").exists() else []
    for path in [*files, folder / "said"]:
        text = path.read_bytes()
        assert b"s3cret" not in text, path
