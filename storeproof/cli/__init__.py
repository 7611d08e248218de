"""The command `storeproof`: everything except running the tests, which is `pytest suites/`.

Every command imports what it needs when it is called, so that `storeproof --help` is fast.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from storeproof.cli.standard_output import standard_output
from storeproof.errors import StoreproofError, UsageError
from storeproof.printable import printable

USAGE_ERROR = 4
"""The same code as pytest's: the command line or a file asks for something that does not exist or is not allowed."""

app = typer.Typer(
    name="storeproof",
    help="Conformance, durability and performance tests for data stores. To run the tests: `pytest suites/ --store=NAME`.",
    epilog="Exit codes: 0 success · 1 negative result (see each command's help) · 4 usage error.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


needs_app = typer.Typer(help="Needs files for `storeproof decide`.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(needs_app, name="needs")
edition_app = typer.Typer(help="Frozen editions of the specification, and who judges in them.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(edition_app, name="edition")


_ONLY_READ = frozenset({"claims", "compare", "decide", "picture", "report", "site", "verify"})
"""Commands that read results, start nothing and touch nothing else: they do not look for what killed runs left either."""


class Answered(SystemExit):
    """The exit code of an answer: 2 is one of its own here, and Typer's for a wrong command line."""


def _print_version(wanted: bool) -> None:
    if not wanted:
        return
    from storeproof import __version__
    from storeproof.spec.edition import VERSION

    print(f"storeproof {__version__}, edition {VERSION} of the specification")
    raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback prints
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and the edition, and exit.")
    ] = False,
) -> None:
    """Options that come before the name of a command."""
    if context.invoked_subcommand not in _ONLY_READ and not {"--help", "-h"} & set(sys.argv):
        from storeproof.cleanup.sweep import sweep_all

        sweep_all()


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="A result.json, or the report directory that holds one.")],
    b: Annotated[
        Path | None, typer.Argument(help="The result to compare with; without it, --store and --against name two stores of A.")
    ] = None,
    store: Annotated[str | None, typer.Option(help="The store of A: NAME or NAME:VARIANT.")] = None,
    against: Annotated[str | None, typer.Option(help="The store of B (default: the same as --store).")] = None,
    agreement: Annotated[
        bool, typer.Option("--agreement", help="A and B are the same plan run twice: how many numbers agree within their noise.")
    ] = False,
    across: Annotated[Literal["disk"] | None, typer.Option(help="disk: each store of A on its disks, which --disk named.")] = None,
    output: Annotated[Path | None, typer.Option(help="A file to write it to as well: .json, .md or .html.")] = None,
) -> None:
    """Compare two results: ratios with 95 % confidence intervals. Comparisons that would mislead are refused.

    Without --store, every store:variant that is in both files is compared.

    Exit codes: 0 at least one pair was compared · 1 every pair was refused, or none matched · 4 usage error.
    """
    from storeproof.cli.compare import across as across_disks
    from storeproof.cli.compare import agreement_of, compare_files
    from storeproof.errors import UsageError

    if agreement and against:
        raise UsageError("--agreement sets each store against itself; leave --against out")
    if across:
        if b or against or agreement:
            raise UsageError("--across=disk is of one result; leave out B, --against and --agreement")
        raise typer.Exit(across_disks(a, store, output))
    raise typer.Exit(agreement_of(a, b, store, output) if agreement else compare_files(a, b, store, against, output))


@app.command()
def report(
    result: Annotated[Path, typer.Argument(help="A result.json, or the directory that holds one.")],
    report_dir: Annotated[Path | None, typer.Option(help="Output directory (default: the directory of the result).")] = None,
    against: Annotated[
        str, typer.Option(help="The store that ratios are to, NAME or NAME:VARIANT; without it, the fastest of each workload.")
    ] = "",
) -> None:
    """Render report.html, report.md, junit.xml and latency.hlog from a result.json.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.report import render

    render(result, report_dir, against)


@app.command()
def picture(
    results: Annotated[list[Path], typer.Argument(help="Each a result.json, or the directory that holds one.")],
    output: Annotated[Path, typer.Option(help="Output file: .png, .svg or .pdf.")] = Path("answer.png"),
    speeds: Annotated[Path | None, typer.Option(help="A result.json to take throughput from (default: the only RESULT).")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Add a column for this workload; may be repeated.")] = None,
    cost_of_durability: Annotated[
        str | None, typer.Option(metavar="WORKLOAD", help="Draw the losses of each variant beside its throughput with this workload.")
    ] = None,
    narrow: Annotated[bool, typer.Option("--narrow", help="Layout for phones, 390 pixels wide.")] = False,
) -> None:
    """Draw results as one table: the roles each store fills, the data it lost, and its throughput.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.report import picture as draw

    draw(results, speeds, workload or [], output, narrow=narrow, cost_of_durability=cost_of_durability)


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
def decide(
    needs: Annotated[Path, typer.Argument(help="A needs file; `storeproof needs init FILE` writes one with comments.")],
    results: Annotated[
        list[Path] | None,
        typer.Argument(help="Each a result.json, or a directory that holds some (default: the published results of this checkout)."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file with all evidence: .html, .md (a decision record) or .json.")] = None,
    edition: Annotated[
        str | None, typer.Option(help="The edition by which needs are judged (default: the newest frozen one).", metavar="NAME")
    ] = None,
) -> None:
    """Answer which stores meet your needs, by how much the others miss them, and what is not shown.

    Exit codes: 0 a candidate meets all needs · 1 each misses one · 2 one misses none, but some needs are not shown · 4 usage error.
    """
    from storeproof.cli.decide import decide_by

    raise Answered(decide_by(needs, results or [], output, edition))


@needs_app.command("init")
def needs_init(file: Annotated[Path, typer.Argument(help="The file to write.")] = Path("needs.yaml")) -> None:
    """Write a needs file with comments that say what to fill in.

    Exit codes: 0 written · 4 usage error, such as a file that exists already.
    """
    from storeproof.cli.decide import write_template

    write_template(file)


@app.command()
def site(
    results: Annotated[
        list[Path], typer.Argument(help="Each a result.json, the directory that holds one, or a directory of such directories.")
    ],
    out: Annotated[Path, typer.Option(help="Output directory: new, empty, or with an older site.")],
    needs: Annotated[
        list[Path] | None,
        typer.Option(help="A needs file to answer on a page; may be repeated (default: the examples of this checkout)."),
    ] = None,
) -> None:
    """Write published results as a static site that opens from disk and from any web server.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.site import site as write

    write(results, out, needs or [])


@app.command()
def publish(
    reports: Annotated[
        Path, typer.Argument(help="A directory of folders that each hold a result.json, or one that is compressed already.")
    ],
) -> None:
    """Compress published results, and write the index by which `storeproof decide` reads those of this checkout.

    Exit codes: 0 written · 4 usage error.
    """
    from storeproof.cli.publish import publish as write

    write(reports)


@app.command()
def bundle(
    run: Annotated[Path, typer.Argument(help="The report directory of a whole run of one store, or the result.json in it.")],
    product: Annotated[Path, typer.Option(help="A product.yaml: whose product it is, its version, and whom to ask.")],
    out: Annotated[Path, typer.Option(help="The file to write, such as redis-7.4.tar.")],
    store: Annotated[Path | None, typer.Option(help="Your own store file, where the run was given one.")] = None,
) -> None:
    """Make a run a conformance claim, in one file that others can verify.

    Exit codes: 0 written · 1 no claim can be made of the run · 4 usage error.
    """
    from storeproof.cli.conformance import bundle as make

    make(run, product, out, store)


@app.command()
def verify(
    bundle: Annotated[Path, typer.Argument(help="A file that `storeproof bundle` wrote, or a folder of submitted claims.")],
    badge: Annotated[Path | None, typer.Option(help="Write a badge: .svg, or .json for a shields.io endpoint.")] = None,
    require: Annotated[Literal["claimed"] | None, typer.Option(help="claimed: all that is claimed has to be proven.")] = None,
) -> None:
    """Verify a conformance claim offline: everything is computed again that can be. The first line is the answer.

    Exit codes: 0 verified · 1 refused · 3 verified, and expired · 4 usage error · 5 verified, and not all that is claimed is proven.
    """
    from storeproof.cli.conformance import check

    raise typer.Exit(check(bundle, badge, proven=require is not None))


@app.command()
def rerun(
    bundle: Annotated[Path, typer.Argument(help="A file that `storeproof bundle` wrote.")],
    more: Annotated[list[str] | None, typer.Argument(help="After `--`: further options of the suites, such as --endpoint.")] = None,
    report_dir: Annotated[Path, typer.Option(help="A new directory, for the report of the run.")] = Path("reports/rerun"),
    badge: Annotated[Path | None, typer.Option(help="Write a badge: .svg, or .json for a shields.io endpoint.")] = None,
) -> None:
    """Repeat the run of a conformance claim with its seed and scale, and say what agrees. It executes the files in the bundle.

    Exit codes: 0 reproduced · 1 refused, no repetition, or a verdict was not reached again · 4 usage error.
    """
    from storeproof.cli.conformance import rerun as repeat

    raise typer.Exit(repeat(bundle, report_dir, more or [], badge))


@edition_app.command("freeze")
def freeze_edition(name: Annotated[str, typer.Argument(help="YEAR.MONTH, such as 2026.12.")]) -> None:
    """Keep the demands of the draft in spec/editions/ as they are, so that later releases judge by them too.

    Exit codes: 0 written · 4 usage error, such as an edition that exists already.
    """
    from storeproof.cli.edition import freeze

    freeze(name)


@edition_app.command("judge")
def add_judge(name: Annotated[str, typer.Argument(help="The release, or a name for one commit.")]) -> None:
    """Keep the digests of this installation in spec/judges/, so that later releases verify what it judged.

    Exit codes: 0 written · 4 usage error, such as a judge that exists already.
    """
    from storeproof.cli.edition import record_judge

    record_judge(name)


@app.command()
def disputes() -> None:
    """Show what is disputed, and what makers reply: DISPUTES.md is what this prints.

    Exit codes: 0 shown · 4 usage error.
    """
    from storeproof.cli.edition import disputes as text_of

    print(text_of(), end="")


@app.command()
def schema(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; list the files that are out of date.")] = False,
    directory: Annotated[Path | None, typer.Option(help="Directory of the schemas (default: spec/schema of this installation).")] = None,
) -> None:
    """Export the JSON Schemas of the specification's files and of result.json.

    Exit codes: 0 written, or up to date · 1 --check found files that are out of date · 4 usage error.
    """
    from storeproof.cli.schema import check_schemas, write_schemas

    raise typer.Exit(check_schemas(directory) if check else write_schemas(directory))


@app.command()
def stores(
    names: Annotated[list[str] | None, typer.Argument(help="Stores to show in detail: names, or paths of YAML files.")] = None,
) -> None:
    """List the stores, their variants and their claims.

    Exit codes: 0 listed · 4 usage error.
    """
    from storeproof.cli.stores import list_stores

    list_stores(names or [])


@app.command()
def doctor() -> None:
    """Show which stores and faults can run on this machine, and how to enable the others."""
    from storeproof.cli.doctor import doctor as examine

    examine()


@app.command("new-store")
def new_store(
    name: Annotated[str, typer.Argument(help="Name of the store, as used on the command line.")],
    embedded: Annotated[bool, typer.Option("--embedded/--server", help="A library, hosted in its own process; or a server.")] = False,
    directory: Annotated[Path, typer.Option(help="Output directory.")] = Path(),
) -> None:
    """Create the two files of a new store, a store file and an adapter, with comments that say what to fill in.

    Exit codes: 0 written · 4 usage error, such as a file that exists already.
    """
    from storeproof.cli.new_store import new_store as write

    write(name, directory, embedded=embedded)


@app.command("crash-state")
def crash_state(
    result: Annotated[Path, typer.Argument(help="The report directory of a run, or its bundle.")],
    state: Annotated[str, typer.Argument(help="A state, as a case of durability.crash_states names it.")],
    store: Annotated[str | None, typer.Option(help="The store: NAME or NAME:VARIANT, or its own file as FILE.yaml:VARIANT.")] = None,
    guarantee: Annotated[str | None, typer.Option(help="Of which case: process_crash or power_loss.")] = None,
    into: Annotated[Path | None, typer.Option(help="Write the files of the state into this empty directory.")] = None,
    start: Annotated[bool, typer.Option("--start", help="Start the store on it, and read back what it must have.")] = False,
) -> None:
    """Show a state that a crash may leave: which writes are on the disk, what must be there, and what was read.

    Exit codes: 0 shown · 1 with --start: something is missing, or it does not start · 4 usage error.
    """
    from storeproof.cli.crash_state import crash_state as show

    raise typer.Exit(show(result, state, store, guarantee, into, start=start))


@app.command()
def manual(topic: Annotated[str, typer.Argument(help="A topic, or `all`; without it, the topics are listed.")] = "") -> None:
    """Show how to add stores, capabilities, faults and workloads, how to publish a claim, and the query language.

    Exit codes: 0 shown · 4 usage error.
    """
    from storeproof.cli.new_store import manual as text_of

    print(text_of(topic))


def main() -> None:
    """The entry point. A known error is printed as one message; only an unexpected one has a traceback."""
    try:
        with standard_output():
            app()
    except StoreproofError as error:
        with suppress(OSError):  # where nothing can be written either, the exit code says it
            print(printable(f"storeproof: {error}"), file=sys.stderr, flush=True)
        sys.exit(USAGE_ERROR if isinstance(error, UsageError) else 1)
    except SystemExit as ended:
        if ended.code == 2 and not isinstance(ended, Answered):  # Typer's code for a wrong command line
            sys.exit(USAGE_ERROR)
        raise
