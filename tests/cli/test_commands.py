"""The commands: what they print, and how they end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import storeproof
from storeproof.cli import main
from storeproof.report import write_reports
from storeproof.result.json_file import read_result, write_result
from storeproof.spec import SPEC_ROOT
from storeproof.spec.edition import VERSION
from tests.report.sample import TARGETS, sample_result
from tests.shipped import read_once


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return Run(monkeypatch, capsys)


class Run:
    """Calls the command as the shell would: (exit code, standard output, standard error)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("COLUMNS", "200")
        read_once(monkeypatch)

    def __call__(self, *arguments: str | Path) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["storeproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self._capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs on one machine, of all stores."""
    for name, seed in (("a", 1), ("b", 2)):
        write_result(sample_result(seed=seed), tmp_path / name / "result.json")
    return tmp_path / "a", tmp_path / "b" / "result.json"


def test_the_version_is_said_with_the_edition(run: Run) -> None:
    """As the result names both."""
    code, out, _ = run("--version")
    assert code == 0
    assert out == f"storeproof {storeproof.__version__}, edition {VERSION} of the specification\n"


@pytest.mark.parametrize("command", ["", "claims", "compare", "report", "picture", "site", "schema", "stores", "doctor"])
def test_help_by_one_letter(run: Run, command: str) -> None:
    """Of the command itself and of each of its own."""
    words = [command] if command else []
    assert run(*words, "-h") == run(*words, "--help")
    assert run(*words, "-h")[0] == 0


def test_the_shell_completes_commands(run: Run) -> None:
    """What `--install-completion` has bash ask, and what it is answered."""
    assert "--install-completion" in run("--help")[1]
    asked = {"_STOREPROOF_COMPLETE": "complete_bash", "COMP_WORDS": "storeproof co", "COMP_CWORD": "1"}
    command = [str(Path(sys.executable).with_name("storeproof"))]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["compare"], done.stdout + done.stderr


def test_compare_shows_ratios_of_every_common_store(run: Run, two: tuple[Path, Path]) -> None:
    """0: something was compared."""
    code, out, _ = run("compare", *two)
    assert code == 0
    found = re.findall(r"^(\d+) compared, 0 of them paired by block, (\d+) refused, 0 without a partner$", out, flags=re.MULTILINE)
    assert [int(compared) + int(refused) for compared, refused in found] == [25] * len(TARGETS)
    assert "no difference" in out
    assert "ratio of the medians over rounds; 95 % interval" in out


def test_compare_picks_the_stores_it_is_told(run: Run, two: tuple[Path, Path]) -> None:
    """A name without its variant is enough where it is the only one; one file has two stores to compare."""
    code, out, _ = run("compare", two[0], "--store", "redis:aof-always", "--against", "sqlite")
    assert code == 0
    assert "A  redis:aof-always" in out
    assert "B  sqlite:wal-full" in out
    assert "× [" in out


def test_compare_writes_a_file_too(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    """In the format that its name says; another is refused before anything is compared."""
    code, _, _ = run("compare", *two, "--output", tmp_path / "x.json")
    assert code == 0
    assert len(json.loads((tmp_path / "x.json").read_text())) == len(TARGETS)
    code, out, err = run("compare", *two, "--output", tmp_path / "x.txt")
    assert (code, out) == (4, "")
    assert ".json, .md, .html" in err


def test_compare_counts_the_numbers_that_agree(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    """Of the same plan run twice, every store with itself; 1 where it is not the same plan."""
    code, out, _ = run("compare", *two, "--agreement", "--output", tmp_path / "x.md")
    assert code == 0
    assert re.search(
        r"^\d+ of \d+ numbers agree \(\d+ %\); not compared: \d+ not valid, 0 drifting, 0 without a partner$", out, re.MULTILINE
    )
    assert "## Two runs of the same plan" in (tmp_path / "x.md").read_text()
    write_result(sample_result(scale="full"), tmp_path / "c.json")
    code, out, _ = run("compare", two[0], tmp_path / "c.json", "--agreement")
    assert code == 1
    assert "refused: scale differs: standard against full" in out
    for wrong, message in (
        ((two[0], "--agreement"), "give two results"),
        ((*two, "--agreement", "--against", "redis"), "leave --against out"),
    ):
        code, _, err = run("compare", *wrong)
        assert code == 4
        assert message in err


def test_compare_sets_the_disks_of_one_result_against_each_other(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    """0: the store on both, in every format; nothing else."""
    result = sample_result(TARGETS[:2])
    stores = [each.model_copy(update={"disk": disk}) for disk in ("fast", "slow") for each in result.stores]
    write_result(result.model_copy(update={"stores": stores}), tmp_path / "d.json")
    code, out, _ = run("compare", tmp_path / "d.json", "--across=disk", "--store", "redis", "--output", tmp_path / "x.json")
    assert code == 0
    assert "A  redis:aof-always@fast" in out
    assert "B  redis:aof-always@slow" in out
    assert "sqlite" not in out
    (found,) = json.loads((tmp_path / "x.json").read_text())
    assert found["a"]["store"] == "redis:aof-always@fast"
    assert found["pairs"][0]["waits"] == []
    assert run("compare", tmp_path / "d.json", "--across=disk", "--output", tmp_path / "x.html")[0] == 0
    assert run("compare", two[0], "--across=disk")[0] == 4


def test_compare_refuses_the_unlike_with_one(run: Run, two: tuple[Path, Path]) -> None:
    """1: no ratio could be given; the reason that all pairs share is said once."""
    code, out, _ = run("compare", *two, "--store", "redis:volatile", "--against", "redis:aof-always")
    assert code == 1
    assert out.count("proven durability differs: volatile against process_crash") == 1
    assert "×" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.json"], "nothing.json does not exist"),
        (["A"], "with one file, name both sides"),
        (["A", "B", "--store", "redis"], "matches more than one store of"),
        (["A", "B", "--store", "oracle:x"], "--store oracle:x is not in"),
        (["A", "B", "--against", "sqlite"], "--store is missing"),
        (["A", "--across=disk"], "has no store on two disks; it holds sqlite:wal-full, redis:aof-always"),
        (["A", "--across=disk", "--store", "redis"], "has no redis on two disks; it holds"),
        (["A", "B", "--across=disk"], "--across=disk is of one result; leave out B, --against and --agreement"),
        (["A", "--across=moon"], "Invalid value for '--across'"),
        (["A", "B", "--colour"], "No such option"),
        ([], "Missing argument"),
    ],
)
def test_a_wrong_command_line_is_one_message_and_four(run: Run, two: tuple[Path, Path], arguments: list[str], message: str) -> None:
    """With what is there, and without a traceback."""
    files = {"A": str(two[0]), "B": str(two[1])}
    code, out, err = run("compare", *(files.get(each, each) for each in arguments))
    assert code == 4
    assert message in err
    assert "Traceback" not in out + err


def test_compare_of_files_without_a_common_store(run: Run, tmp_path: Path) -> None:
    """Both are listed."""
    write_result(sample_result(TARGETS[:1]), tmp_path / "a.json")
    write_result(sample_result(TARGETS[1:2]), tmp_path / "b.json")
    code, _, err = run("compare", tmp_path / "a.json", tmp_path / "b.json")
    assert code == 4
    assert "sqlite:wal-full" in err
    assert "redis:aof-always" in err


@pytest.mark.slow
def test_report_renders_again_beside_the_result_and_elsewhere(run: Run, tmp_path: Path) -> None:
    """The result itself stays as it is; elsewhere it goes along."""
    write_reports(sample_result(TARGETS[:1]), tmp_path)
    before = (tmp_path / "result.json").stat().st_mtime_ns
    (tmp_path / "report.html").unlink()
    code, out, _ = run("report", tmp_path / "result.json")
    assert code == 0
    assert "sqlite:wal-full" in out
    assert (tmp_path / "report.html").is_file()
    assert (tmp_path / "result.json").stat().st_mtime_ns == before
    assert run("report", tmp_path, "--report-dir", tmp_path / "other")[0] == 0
    assert len(list((tmp_path / "other").iterdir())) == 5


@pytest.mark.slow
def test_report_sets_all_against_a_named_store(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    """By its name or with its variant; one that is not there is a usage error."""
    code, _, _ = run("report", two[0], "--report-dir", tmp_path / "r", "--against", "sqlite")
    assert code == 0
    assert "Each number to that of sqlite:wal-full" in (tmp_path / "r" / "report.md").read_text()
    code, _, err = run("report", two[0], "--report-dir", tmp_path / "s", "--against", "redis")
    assert code == 4
    assert "--against redis matches more than one store of" in err


@pytest.mark.slow
def test_picture_draws_one_result_with_the_speeds_of_another(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    """And says by its exit code that a workload is unknown."""
    drawn = tmp_path / "answer.svg"
    assert run("picture", two[0], "--speeds", two[1], "--output", drawn, "--workload", "hash10-put")[0] == 0
    assert "write ten" in drawn.read_text()
    assert run("picture", two[0], "--workload", "nothing")[0] == 4


def test_picture_of_several_results_without_speeds_asks_for_none(run: Run, tmp_path: Path) -> None:
    """Whose are to be drawn is asked where one of them has any; and no source of speeds is named where there are none."""
    paths = []
    for number in (0, 1):
        result = sample_result(TARGETS[number : number + 1])
        paths.append(tmp_path / str(number) / "result.json")
        write_result(result, paths[-1])
    code, _, err = run("picture", *paths)
    assert (code, "Name it with --speeds" in err) == (4, True)
    for path in paths:
        result = read_result(path)
        result.stores[0].measurements.clear()
        write_result(result, path)
    drawn = tmp_path / "answer.svg"
    assert run("picture", *paths, "--output", drawn)[0] == 0
    assert "Roles and losses: run" in drawn.read_text()
    assert "Speeds: run" not in drawn.read_text()


def test_report_into_a_file_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    """With the option to mend it."""
    write_result(sample_result(TARGETS[:1]), tmp_path / "result.json")
    (tmp_path / "file").write_text("")
    code, _, err = run("report", tmp_path, "--report-dir", tmp_path / "file")
    assert code == 4
    assert "--report-dir" in err


def test_the_exported_schemas_are_those_of_the_models(run: Run) -> None:
    """Drift breaks the build: run `storeproof schema` and commit."""
    code, out, _ = run("schema", "--check")
    assert code == 0, out


@pytest.mark.slow
def test_schema_check_names_every_kind_of_drift(run: Run, tmp_path: Path) -> None:
    """Changed, missing, and left over; writing mends all three."""
    assert run("schema", "--directory", tmp_path)[0] == 0
    assert run("schema", "--check", "--directory", tmp_path)[0] == 0
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "models.json").unlink()
    (tmp_path / "gone.json").write_text("{}")
    code, out, _ = run("schema", "--check", "--directory", tmp_path)
    assert code == 1
    assert f"{tmp_path / 'result.json'}: differs from the models" in out
    assert f"{tmp_path / 'models.json'}: missing" in out
    assert f"{tmp_path / 'gone.json'}: no model has this schema" in out
    assert run("schema", "--directory", tmp_path)[0] == 0
    assert run("schema", "--check", "--directory", tmp_path)[0] == 0


def test_stores_lists_variants_and_claims(run: Run) -> None:
    """In short for all, whole for one; an unknown one is a usage error."""
    code, out, _ = run("stores")
    assert code == 0
    assert "sqlite:wal-full *" in out
    code, out, _ = run("stores", "sqlite")
    assert code == 0
    assert "synchronous=FULL" in out
    assert "claimed: " in out
    code, _, err = run("stores", "sqlit")
    assert code == 4
    assert "did you mean `sqlite`" in err


def test_help_answers_without_loading_the_machinery() -> None:
    """No plots, models or drivers are imported for it."""
    script = (
        "import sys; sys.argv = ['storeproof', '--help']\n"
        "from storeproof.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in ('matplotlib', 'pydantic', 'jinja2', 'pytest', 'hypothesis') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Exit codes" in done.stdout
    assert done.stdout.endswith("[]\n")


@pytest.mark.slow
def test_no_command_hands_escapes_of_a_foreign_result_to_the_terminal(run: Run, tmp_path: Path) -> None:
    """It may clear the screen, name the window, or turn the direction of writing."""
    evil = "\x1b[2J\x1b]0;owned\x07\u202e\u200f"
    for name in ("a", "b"):
        result = sample_result(TARGETS[:1])
        (store,) = result.stores
        measured = [each.model_copy(update={"workload": each.workload + evil}) for each in store.measurements]
        spoiled = store.model_copy(update={"version": evil, "variant": f"v{evil}", "measurements": measured})
        edition = result.edition.model_copy(update={"version": evil})
        write_result(result.model_copy(update={"stores": [spoiled], "edition": edition}), tmp_path / name / "result.json")
    for arguments in (
        ("compare", tmp_path / "a", tmp_path / "b"),
        ("report", tmp_path / "a"),
        ("compare", tmp_path / "a", "--store", evil),
    ):
        _, out, err = run(*arguments)
        assert r"\x1b[2J\x1b]0;owned\x07\u202e" in out + err
        assert not set(out + err) & set(evil) - set("[2J]0;owned"), arguments
    assert not set((tmp_path / "a" / "report.md").read_text()) & {"\x1b", "\u202e", "\u200f"}


def test_a_store_file_shows_no_escapes(run: Run, tmp_path: Path) -> None:
    """Escape sequences and text that runs backwards in a store's title or file name are shown escaped."""
    text = (SPEC_ROOT / "stores" / "sqlite.yaml").read_text()
    (tmp_path / "x.yaml").write_text(text.replace("title: SQLite", r'title: "\\e[2J\\u202e"'.replace("\\\\", "\\")))
    code, out, err = run("stores", tmp_path / "x.yaml")
    assert code == 0, err
    assert r"\x1b[2J\u202e" in out
    assert "\u202e" not in out.replace(r"\u202e", "")
    code, _, err = run("stores", tmp_path / "\x1b[2J.yaml")
    assert code == 4
    assert r"\x1b[2J.yaml does not exist" in err
    assert "\x1b" not in err
