"""`verify` reads the bundle and this installation, and nothing else, whatever the files in the bundle name; and it writes nothing."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from storeproof.conformance.archive import RESULT
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.conformance.verify import verify
from tests.conformance.forging import result_in, sealed
from tests.conformance.true_bundle import TrueBundle, known

pytestmark = pytest.mark.slow

OWN = "own/sqlite.yaml"
SECRET = "hunter2"
CHECKOUT = Path(__file__).parents[2]


def own_file(bundle: TrueBundle, file: Path, change: Callable[[str], str]) -> None:
    """The true bundle with another file of the vendor, and all hashes right for it."""
    content = change(bundle.parts[f"sources/{OWN}"].decode()).encode()
    result = bundle.result
    result["stores"][0]["sources"][OWN] = hashlib.sha256(content).hexdigest()
    file.write_bytes(sealed({**bundle.parts, f"sources/{OWN}": content, RESULT: result_in(result)}))


def extending(named: str) -> Callable[[str], str]:
    """With `extends:` in it."""
    return lambda text: f"extends: {named}\n{text}"


def asked_through(named: str) -> Callable[[str], str]:
    """With another adapter."""
    return lambda text: re.sub(r"^adapter: .*$", f"adapter: {named}", text, flags=re.MULTILINE)


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A folder with files that no bundle has: YAML that is none, YAML with one line, and an adapter."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "broken.yaml").write_text(f"{SECRET}: [\n")
    (folder / "plain.yaml").write_text(f"{SECRET}: {SECRET}\n")
    (folder / "link.yaml").symlink_to(folder / "plain.yaml")
    (folder / "plain.py").write_text(f"# {SECRET}\n")
    return folder


def leading_out(secrets: Path) -> dict[str, tuple[Callable[[str], str], Reason, str]]:
    """By what is in the vendor's file: the change of it, the reason for which it is refused, and a part of the message."""
    up = "../" * 40
    found = {
        named: (extending(named), Reason.STORE_FILE, f"own/sqlite.yaml:1: extends: found '{named}'"[:110])
        for name in ("broken", "plain", "link", "none")
        for named in (f"{secrets}/{name}.yaml", f"{up}{secrets}/{name}.yaml")
    }
    found["../product.yaml"] = (extending("../product.yaml"), Reason.STORE_FILE, "product.yaml")
    for named in (f"{secrets}/plain.py", f"{up}{secrets}/plain.py", f"{secrets}/none.py"):
        found[named] = (asked_through(named), Reason.ADAPTER, "is not in the bundle")
    return found


def test_what_leads_out_of_the_bundle_is_refused_and_not_quoted(true_bundle: TrueBundle, tmp_path: Path, secrets: Path) -> None:
    """Whether the file is there or not: a stranger's bundle is not told which files there are."""
    for named, (change, reason, says) in leading_out(secrets).items():
        own_file(true_bundle, tmp_path / "x.tar", change)
        with pytest.raises(ClaimRefused) as refused:
            verify(tmp_path / "x.tar", known())
        assert (refused.value.reason, says in refused.value.text, SECRET in refused.value.text) == (reason, True, False), (named, refused)
        if named.endswith(".yaml") and named.startswith("/"):
            assert "which is not in the bundle" in refused.value.text


def test_a_file_and_a_folder_of_one_name_are_refused(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """Which `rerun` could not write."""
    result, name = true_bundle.result, f"{OWN}/x.py"
    result["stores"][0]["sources"][name] = hashlib.sha256(b"").hexdigest()
    (tmp_path / "x.tar").write_bytes(sealed({**true_bundle.parts, f"sources/{name}": b"", RESULT: result_in(result)}))
    with pytest.raises(ClaimRefused, match=r"^adapter: sources/own/sqlite\.yaml is a file and a folder"):
        verify(tmp_path / "x.tar", known())


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs the program strace")
def test_the_kernel_sees_no_other_file_opened(true_bundle: TrueBundle, tmp_path: Path, secrets: Path) -> None:
    """Nor one written, removed or connected to, by the command as a user calls it; of the true bundle and of those that lead out of it."""
    bundles = tmp_path / "bundles"
    bundles.mkdir()
    shutil.copy(true_bundle.file, bundles / "true.tar")
    for number, (change, *_) in enumerate(leading_out(secrets).values()):
        own_file(true_bundle, bundles / f"{number}.tar", change)
    files = sorted(map(str, bundles.iterdir()))
    code = (
        "import sys; from storeproof.cli import main; from storeproof.conformance.known import KnownJudges\n"
        "from tests.conformance import true_bundle\n"
        "known = true_bundle.known(); KnownJudges.here = lambda: known; files = sys.argv[1:]\n"
        "true_bundle.atexit.unregister(true_bundle.shutil.rmtree); print('begin', true_bundle.frozen_root(), file=sys.stderr, flush=True)\n"
        "for file in files:\n"
        "    sys.argv = ['storeproof', 'verify', file]\n"
        "    try: main()\n"
        "    except SystemExit as ended: print(ended.code)\n"
        "print('end', file=sys.stderr, flush=True)\n"
    )
    log = tmp_path / "log"
    command = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-s",
        "4096",
        "-e",
        "trace=%file,%network,write",
        "-o",
        str(log),
        sys.executable,
        "-c",
        code,
        *files,
    ]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1", "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=secrets, env=environment)
    roots = re.findall(r"^begin (.+)$", done.stderr, flags=re.MULTILINE)
    shutil.rmtree(roots[0], ignore_errors=True)
    assert done.returncode == 0, done.stderr
    answers = [line for line in done.stdout.splitlines() if line in ("0", "1")]
    assert answers == ["0" if file.endswith("true.tar") else "1" for file in files], done.stdout
    assert SECRET not in done.stdout + done.stderr
    lines = log.read_text().splitlines()
    begin, end = (next(at for at, line in enumerate(lines) if f'write(2, "{word}' in line) for word in ("begin", "end"))
    during = [line for line in lines[begin + 1 : end] if " write(" not in line]
    assert [
        line for line in during if " open" not in line and not re.search(r" (?:[a-z]*stat[a-z0-9]*|readlink|access|getcwd)\(", line)
    ] == []
    allowed = (
        str(bundles),
        roots[0],
        str(CHECKOUT),
        sys.prefix,
        sys.base_prefix,
        "/usr/",
        "/lib",
        "/etc/ld.so.cache",
        "/sys/",
        "/proc/self/",
    )
    opened = [line for line in during if " open" in line]
    assert any("true.tar" in line for line in opened)
    assert [line for line in opened if not any(f'"{each}' in line for each in allowed)] == []
    assert [line for line in opened if re.search("O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE", line)] == []
    assert [line for line in during if f'"{secrets}/' in line] == [], "not even looked for"


def test_no_signal_leaves_anything_behind(true_bundle: TrueBundle, tmp_path: Path) -> None:
    """Also none that cannot be caught: nothing was written. Each strikes when nearly everything was judged again."""
    code = (
        "import json, os, resource, signal, sys; from pathlib import Path; from storeproof.cli import main\n"
        "from storeproof.conformance import verify; from storeproof.conformance.known import KnownJudges\n"
        "from tests.conformance import true_bundle\n"
        "known = true_bundle.known(); KnownJudges.here = lambda: known; ended = {}; before = sorted(os.listdir())\n"
        "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); signal.signal(signal.SIGQUIT, signal.SIG_DFL)\n"  # also behind an &
        "for name in ('SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'):\n"
        "    verify.check_numbers = lambda *_, number=signal.Signals[name]: os.kill(os.getpid(), number)\n"
        "    sys.argv = ['storeproof', 'verify', sys.argv[-1]]\n"
        "    if not (child := os.fork()):\n"
        "        try: main()\n"
        "        except SystemExit as code: os._exit(code.code)\n"
        "    ended[name] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "print(json.dumps([ended, before, sorted(os.listdir())]))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", code, str(true_bundle.file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    ended, before, after = json.loads(done.stdout)
    assert ended == {"SIGINT": 130, "SIGTERM": -15, "SIGHUP": -1, "SIGQUIT": -3, "SIGKILL": -9}
    assert after == before
