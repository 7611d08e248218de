"""The recipes for a vendor's CI: linted by the schemas of GitHub and GitLab; their commands are those of the path that is tried.

`test_path_to_a_badge.py` runs these commands on a small product.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from storeproof.outcome import Outcome
from storeproof.result.json_file import write_result
from tests.architecture.installed import CHECKOUT
from tests.result.claimed import result
from tests.result.needs.needed import case, known

RECIPES = CHECKOUT / "examples" / "ci"
PAGE = (CHECKOUT / "docs" / "CONFORMANCE.md").read_text()
SECTION = PAGE.partition("## From two files to a badge\n")[2].partition("\n## ")[0]
_, WHOLE, BUNDLE, VERIFY = re.findall(r"^   ```\n   (.+)\n   ```$", SECTION, flags=re.MULTILINE)
COMMANDS = (WHOLE, BUNDLE, VERIFY.replace("cairn.svg", "badge.json") + " --require=claimed")


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((RECIPES / name).read_text())
    return found


@pytest.mark.parametrize(("name", "schema"), [("github.yml", "github-workflows"), ("gitlab.yml", "gitlab-ci")])
def test_a_recipe_is_what_its_forge_reads(name: str, schema: str) -> None:
    """By the schema that check-jsonschema brings along, without the network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(RECIPES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_commands_are_those_of_the_path_to_a_badge() -> None:
    """In their order; the page names both files."""
    github = [step["run"] for step in read("github.yml")["jobs"]["storeproof"]["steps"] if "run" in step]
    gitlab = [each for job in ("conformance", "claim") for each in read("gitlab.yml")[job]["script"]]
    for commands in (github, gitlab):
        assert [each for each in commands if each in COMMANDS] == list(COMMANDS)
    assert all(f"examples/ci/{name}" in PAGE for name in ("github.yml", "gitlab.yml", "failures.py"))


def test_a_failure_ends_no_step_that_makes_the_badge() -> None:
    """A run that fails is bundled and verified all the same: the badge says what is proven, and what is not ends its job."""
    steps = {each["name"]: each.get("if", "") for each in read("github.yml")["jobs"]["storeproof"]["steps"] if "name" in each}
    assert steps["Annotate"] == "failure()"
    assert all("always()" in steps[name] for name in ("Bundle", "Verify", "Publish"))
    gitlab = read("gitlab.yml")
    assert gitlab["conformance"]["artifacts"]["when"] == gitlab["claim"]["artifacts"]["when"] == gitlab["claim"]["when"] == "always"
    assert not any("after_script" in job for job in gitlab.values())  # how it ends is ignored


def test_each_failure_is_one_annotation(tmp_path: Path) -> None:
    """Of failures and errors, in one line each; what a store says can end neither the title nor the line."""
    cases = [
        case("a.b/001", Outcome.FAIL, detail="100 % wrong:\n::error::forged"),
        case("a.c/001", Outcome.ERROR, detail="ours"),
        case("a.d/001", detail="right"),
    ]
    write_result(result(known("x:y", cases=cases)), tmp_path / "result.json")
    done = subprocess.run(
        [sys.executable, str(RECIPES / "failures.py"), str(tmp_path / "result.json")], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "::error title=fail%3A x%3Ay a.b/001::100 %25 wrong:%0A::error::forged",
        "::error title=error%3A x%3Ay a.c/001::ours",
    ]
