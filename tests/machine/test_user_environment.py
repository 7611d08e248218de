"""The user's environment is hidden from clients, and comes back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from requests.utils import get_environ_proxies, get_netrc_auth

from storeproof.machine.user_environment import UserEnvironment

_THEIRS = {
    "PGOPTIONS": "-c default_transaction_read_only=on",
    "PGSERVICE": "theirs",
    "MYSQL_HOST": "elsewhere",
    "REDIS_URL": "redis://elsewhere",
    "ETCDCTL_ENDPOINTS": "elsewhere",
    "HTTPS_PROXY": "http://elsewhere:3128",
    "no_proxy": "*",
    "REQUESTS_CA_BUNDLE": "/elsewhere.pem",
    "A_STORE_THAT_WE_HAVE_NEVER_HEARD_OF": "1",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[UserEnvironment]:
    """One that sets much, and a home directory with passwords."""
    for name, value in _THEIRS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("DOCKER_CONFIG", raising=False)
    (tmp_path / ".netrc").write_text("machine localhost login me password theirs\n")
    (tmp_path / ".netrc").chmod(0o600)
    made = UserEnvironment()
    yield made
    made.show()


def test_no_client_sees_it(environment: UserEnvironment) -> None:
    """Not libpq, which asks the C library; not requests; not a process that is started."""
    environment.hide()
    told = {each.keyword: each.val for each in psycopg.pq.Conninfo.get_defaults()}
    assert not told[b"options"]
    assert not told[b"service"]
    assert not get_environ_proxies("https://localhost")
    assert get_netrc_auth("http://localhost") is None
    child = subprocess.run([sys.executable, "-c", "import os; print(list(os.environ))"], capture_output=True, text=True, check=True)
    assert not [name for name in _THEIRS if name in child.stdout]
    assert not Path("~").expanduser().is_dir()


def test_what_programs_need_stays(environment: UserEnvironment, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The container engine keeps the user's logins to registries, and TLS the authorities that the user trusts."""
    monkeypatch.setenv("SSL_CERT_FILE", "/mine.pem")
    monkeypatch.setenv("DOCKER_HOST", "unix:///mine.sock")
    path = os.environ["PATH"]
    environment.hide()
    assert os.environ["PATH"] == path
    assert (os.environ["SSL_CERT_FILE"], os.environ["DOCKER_HOST"]) == ("/mine.pem", "unix:///mine.sock")
    assert os.environ["DOCKER_CONFIG"] == str(tmp_path / ".docker")


def test_it_comes_back(environment: UserEnvironment) -> None:
    """As it was, for what runs after the stores in the same process; what others set meanwhile stays."""
    before = dict(os.environ)
    environment.hide()
    environment.hide()
    os.environ["PYTEST_OF_ANOTHER"] = "1"
    environment.show()
    environment.show()
    assert os.environ.pop("PYTEST_OF_ANOTHER") == "1"
    assert dict(os.environ) == before
