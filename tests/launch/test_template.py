"""Templates name what the launch knows, and nothing else."""

from __future__ import annotations

import pytest

from storeproof.errors import UsageError
from storeproof.launch.template import Template


@pytest.fixture
def template() -> Template:
    return Template("redis", {"port": "7001", "password": "a$b"}, ("--${name}", "${value}"), {"save": "", "appendonly": "yes"})


def test_settings_alone_become_arguments(template: Template) -> None:
    """An empty value stays an argument: `--save ""` is how Redis switches snapshots off."""
    assert template.command(["--port", "${port}", "${settings}"]) == ["--port", "7001", "--save", "", "--appendonly", "yes"]


def test_settings_in_a_file_become_lines(template: Template) -> None:
    """`${settings}` in a file is one line per setting."""
    assert template.text("port ${port}\n${settings}") == "port 7001\n--save \n--appendonly yes"


def test_values_are_not_templates(template: Template) -> None:
    """A dollar in a password is a dollar."""
    assert template.table({"PASSWORD": "${password}"}) == {"PASSWORD": "a$b"}


def test_double_dollar_is_a_dollar(template: Template) -> None:
    """`$$` is a literal dollar."""
    assert template.text("$$HOME") == "$HOME"


def test_unknown_name_says_what_is_allowed(template: Template) -> None:
    """An unknown name is a usage error that lists the allowed ones."""
    with pytest.raises(UsageError) as caught:
        template.command(["--${prot}"])
    assert str(caught.value) == "redis: unknown name ${prot} in '--${prot}'; allowed: ${here}, ${password}, ${port}, ${settings}"


def test_stray_dollar_says_how_it_is_written(template: Template) -> None:
    """A dollar that starts no name is a usage error that says how to write it."""
    with pytest.raises(UsageError, match=r"write a literal dollar as `\$\$`"):
        template.text("cost: 5$")
