"""The command `storeproof`: what is not a test run. The trial itself is `pytest suites/`.

Every command imports what it needs when it is called, so that `storeproof --help` answers at once.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from storeproof.errors import StoreproofError, UsageError
from storeproof.printable import printable

USAGE_ERROR = 4
"""As pytest's: the command line or a file asks for something that does not exist or is not allowed."""

app = typer.Typer(
    name="storeproof",
    help="Correct first, durable second, fast last. The trial itself is `pytest suites/ --store=NAME`.",
    epilog="Exit codes: 0 done · 1 the answer is no (each command says what that means) · 4 usage error.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from storeproof import __version__
    from storeproof.spec.edition import VERSION

    print(f"storeproof {__version__}, edition {VERSION} of the specification")
    raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: ARG001 - its callback prints
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and the edition, and exit.")
    ] = False,
) -> None:
    """Options of the command itself, before the name of one of its commands."""
    if not {"--help", "-h"} & set(sys.argv):
        from storeproof.cleanup.sweep import sweep_all

        sweep_all()


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="A result.json, or the report directory that holds one.")],
    b: Annotated[Path | None, typer.Argument(help="Another one; without it, --store and --against name two stores of A.")] = None,
    store: Annotated[str | None, typer.Option(help="Which store of A: NAME or NAME:VARIANT.")] = None,
    against: Annotated[str | None, typer.Option(help="Which store of B; without it, the same as --store.")] = None,
) -> None:
    """Set two results against each other: ratios with 95 % intervals, refused where they would mislead.

    Without --store, every store:variant that both files hold is compared.

    Exit codes: 0 at least one pair was compared · 1 every pair was refused, or nothing matches · 4 usage error.
    """
    from storeproof.cli.compare import compare_files

    raise typer.Exit(compare_files(a, b, store, against))


@app.command()
def report(
    result: Annotated[Path, typer.Argument(help="A result.json, or the directory that holds one.")],
    report_dir: Annotated[Path | None, typer.Option(help="Where to write; without it, beside the result.")] = None,
) -> None:
    """Render report.html, report.md, junit.xml and latency.hlog from a result.json again.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.report import render

    render(result, report_dir)


@app.command()
def picture(
    result: Annotated[Path, typer.Argument(help="A result.json, or the directory that holds one.")],
    output: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("answer.png"),
    speeds: Annotated[Path | None, typer.Option(help="Another result.json, whose speeds are shown; without it, those of RESULT.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="A workload that has a column; may be given several times.")] = None,
    cost_of_durability: Annotated[
        str | None, typer.Option(metavar="WORKLOAD", help="Draw what each variant loses beside how fast it is with this workload.")
    ] = None,
    narrow: Annotated[bool, typer.Option("--narrow", help="For a phone: 390 pixels wide.")] = False,
) -> None:
    """Draw one table of a result: the roles that each store fills, what it lost, how fast it was.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.picture import picture as draw

    draw(result, speeds, workload or [], output, narrow=narrow, cost_of_durability=cost_of_durability)


@app.command()
def claims(
    results: Annotated[list[Path], typer.Argument(help="Each a result.json, or the directory that holds one.")],
    output: Annotated[Path | None, typer.Option(help="A page with all numbers: .md, .html or .json.")] = None,
) -> None:
    """Hold results against published claims: reproduced, refuted, or why that cannot be said.

    Exit codes: 0 at least one claim was reproduced or refuted · 1 of none it can be said · 4 usage error.
    """
    from storeproof.cli.claims import claims as held_against

    raise typer.Exit(held_against(results, output))


@app.command()
def schema(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; report every file that is not up to date.")] = False,
    directory: Annotated[Path | None, typer.Option(help="Where the schemas are; without it, spec/schema of this installation.")] = None,
) -> None:
    """Export the JSON Schemas of the spec's files and of result.json.

    Exit codes: 0 written, or up to date · 1 --check found drift · 4 usage error.
    """
    from storeproof.cli.schema import check_schemas, write_schemas

    raise typer.Exit(check_schemas(directory) if check else write_schemas(directory))


@app.command()
def stores(
    names: Annotated[list[str] | None, typer.Argument(help="Stores to show with all their claims: names, or paths of YAML files.")] = None,
) -> None:
    """List the stores, their variants, and what they claim.

    Exit codes: 0 listed · 4 usage error.
    """
    from storeproof.cli.stores import list_stores

    list_stores(names or [])


@app.command()
def doctor() -> None:
    """Say what can run on this machine, and which command would enable the rest."""
    from storeproof.cli.doctor import doctor as examine

    examine()


@app.command("new-store")
def new_store(
    name: Annotated[str, typer.Argument(help="What it is called on command lines.")],
    embedded: Annotated[
        bool, typer.Option("--embedded/--server", help="A library, which is hosted in a process of its own; or a server.")
    ] = False,
    directory: Annotated[Path, typer.Option(help="Where the two files go.")] = Path(),
) -> None:
    """Write the two files of a new store, with comments that say what to fill in.

    Exit codes: 0 written · 4 usage error: a file is there already, for one.
    """
    from storeproof.cli.new_store import new_store as write

    write(name, directory, embedded=embedded)


@app.command()
def manual(topic: Annotated[str, typer.Argument(help="A topic, or `all`; without one, the list of topics.")] = "") -> None:
    """Show how stores, capabilities, faults and workloads are added, and the language of requests.

    Exit codes: 0 shown · 4 usage error.
    """
    from storeproof.cli.manual import manual as text_of

    print(text_of(topic))


def main() -> None:
    """The entry point: an error is one message, and a traceback is only for unforeseen ones."""
    try:
        app()
    except StoreproofError as error:
        print(printable(f"storeproof: {error}"), file=sys.stderr)
        sys.exit(USAGE_ERROR if isinstance(error, UsageError) else 1)
    except SystemExit as ended:
        if ended.code == 2:  # the command-line library's own code for a wrong command line
            sys.exit(USAGE_ERROR)
        raise
