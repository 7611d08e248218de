"""Renders a result as GitHub-flavoured Markdown: the same tables as the page, for pull requests and wikis."""

from __future__ import annotations

import html

from storeproof import units
from storeproof.outcome import Outcome
from storeproof.printable import printable
from storeproof.report import capability_matrix, formatting, gates, tables
from storeproof.report.faults_without_guarantee import hardships
from storeproof.report.parts import (
    cluster_rounds,
    crash_table,
    fault_table,
    isolation_table,
    joint_loads,
    losses,
    missing,
    outages,
    overview,
    roles,
    stale_reads,
)
from storeproof.report.parts.crash_states import states_told
from storeproof.report.resources.anatomy import ANATOMY_NOTE, anatomies, sentences, unmatched
from storeproof.report.resources.server_cost import COST_NOTE, about_costs, costs
from storeproof.report.speed import caches, noise, numbers, ratios
from storeproof.report.speed.table import about, operations_of, speed
from storeproof.report.tables import Table
from storeproof.result.model import Result, StoreResult


def render_markdown(result: Result, against: str = "") -> str:
    """The report as text; `against`: the `store:variant` that the others are set against, where it is not the fastest."""
    run = result.run
    meaning = formatting.SCALES.get(run.scale, "")
    parts = [
        f"# storeproof: {cell_of(run.scale.upper())}{f' ({meaning})' if meaning else ''}",
        (
            f"Run {cell_of(run.id)}, started {cell_of(run.started)}, took {units.seconds(run.seconds)}, seed {run.seed}, "
            f"edition {cell_of(result.edition.name)} ({cell_of(result.edition.hash)}), storeproof {cell_of(run.storeproof)}."
        ),
        *(
            f"Corpus: {cell_of(each.name)}, {cell_of(each.language)}, {each.pages} articles, SHA-256 {cell_of(each.checksum)}."
            for each in run.corpus
        ),
        f"Command: {_code(run.command)}",
        _section("Overview", overview.overview(result)),
        *(_folded(f"What is missing: {cell_of(roles.label_of(name))}", table) for name, table in missing.missing(result).items()),
        _folded(missing.TITLE, missing.beyond(result)),
        _section("Correct", tables.outcome_matrix(result)),
        f"### Capabilities\n\n{_capabilities(result)}",
        _section("Durable", tables.ladder(result)),
        losses.NOTE if result.stores else "",
        _clusters(result),
        table_of(hardships(result)),
        _noted("Stale reads", stale_reads.NOTE, stale_reads.stale_reads(result)),
        _noted(crash_table.TITLE, crash_table.NOTE, crash_table.crash_table(result)),
        _noted(isolation_table.TITLE, isolation_table.NOTE, isolation_table.isolation_table(result.stores)),
        _folded("Every fault in numbers", fault_table.faults(result)),
        _speed(result, against),
        _noted("All roles at the same time", joint_loads.NOTE, joint_loads.joint_loads(result.stores)),
        _noted("While something fails", outages.NOTE, outages.outages(result)),
        _caches(result),
        _section("Environment and limits", tables.machine(result)),
        _section("Settings", tables.settings(result)),
        "## Cases that are not a pass",
        *(_cases(store) for store in result.stores),
        _section("Totals", tables.totals(result)),
        "END OF REPORT",
    ]
    return printable("\n\n".join(part for part in parts if part)) + "\n"


def _clusters(result: Result) -> str:
    """What became of the writes of one round of each fault; nothing where no primary of a cluster was struck."""
    lines = [
        f"* {cell_of(formatting.name_of(store))}, {cell_of(each.fault)}: {cell_of(cluster_rounds.told(each, case.kind))}"
        for store in result.stores
        for each, case in cluster_rounds.pictured(store.durability.guarantees, store.durability.failovers)
    ]
    return "### When the primary of a cluster is struck\n\n" + "\n".join(lines) if lines else ""


def _capabilities(result: Result) -> str:
    table = capability_matrix.as_table(result)
    if not table.rows:
        return table.empty
    return (
        f"{capability_matrix.SIGNS}.\n\n{table_of(table)}"
        if capability_matrix.was_asked(result)
        else _folded("None was tried in this run", table)
    )


def _speed(result: Result, against: str) -> str:
    workloads = tables.workloads(result)
    if not workloads:
        return "## Fast\n\nNothing was measured in this run."
    counted = numbers.count(each for store in result.stores for each in store.measurements)
    words = noise.in_words(noise.floors_of(noise.kinds_of(result)))
    parts = [
        "## Fast",
        (
            "Only operations that were correct in this run. Median over rounds with its 95 % interval, beside the durability that was "
            f"*proven*: rows of unlike durability are not comparable. {numbers.LEGEND} {gates.LEGEND}."
        ),
        f"**{cell_of(counted)}.**" + (f" {cell_of(words[:1].upper() + words[1:])}." if words else ""),
    ]
    if (table := ratios.matrix(result, workloads, against)).rows:
        against_whom = cell_of(against or "the fastest store of equal proven durability")
        parts.append(f"### Ratios\n\nEach number to that of {against_whom}, which is 1 ◂. {ratios.NOTE}\n\n{table_of(table)}")
    parts.append(_folded("What indexes cost: the rate with indexes to the rate without", ratios.index_table(result)))
    parts.append(_folded("Noise floor of every kind of workload", noise.noise(result)))
    for name, measured in workloads.items():
        title = f"{cell_of(measured[0][1].title)} ({cell_of(name)})"
        beside = ratios.beside(result, measured, against) if ratios.asked(result, measured) else None
        parts.append(f"### {title}\n\n{cell_of(about(measured))}\n\n{table_of(speed(measured, beside))}")
        parts.append(cell_of(beside.reasons) if beside else "")
        if each := operations_of(measured):
            parts.append(f"Each operation by itself:\n\n{table_of(each)}")
        if each := costs(measured):
            parts.append(f"{cell_of(about_costs(measured))}\n\n{table_of(each)}")
        if each := anatomies(measured):
            parts.append("\n\n".join([ANATOMY_NOTE, table_of(each), *map(cell_of, [*sentences(measured), *unmatched(measured)])]))
    if any(costs(measured) for measured in workloads.values()):
        parts.insert(2, COST_NOTE)
    return "\n\n".join(part for part in parts if part)


def _caches(result: Result) -> str:
    found = caches.all_tables(result)
    shown = [f"{title}:\n\n{table_of(table)}" for title, table in found]
    return "\n\n".join(["### What the cache does", caches.NOTE, *shown]) if found else ""


def _cases(store: StoreResult) -> str:
    """Every outcome but `pass`, the worst first."""
    order = list(Outcome)
    shown = sorted((each for each in store.outcomes if each.outcome is not Outcome.PASS), key=lambda each: order.index(each.outcome))
    if not shown:
        return f"**{cell_of(formatting.name_of(store))}**: " + ("every case passed." if store.outcomes else "no case was run.")
    lines = [f"<details><summary>{html.escape(formatting.name_of(store))}: {len(shown)} of {len(store.outcomes)}</summary>", ""]
    for each in shown:
        lines.append(f"* {formatting.MARKS[each.outcome]} **{each.outcome}** {_code(each.id)} (revision {each.revision}, {each.stage})")
        lines.append(f"  <pre>{html.escape(each.told).replace(chr(10), '<br>')}</pre>" if each.told else "  no detail was given")
        lines += [f"  * {_code(line)}" for line in states_told(each)]
    return "\n".join([*lines, "", "</details>"])


def _section(title: str, table: Table) -> str:
    return f"## {title}\n\n{table_of(table)}"


def _noted(title: str, note: str, table: Table) -> str:
    """A table that not every run has, behind what its numbers are."""
    return f"### {title}\n\n{note}\n\n{table_of(table)}" if table.rows else ""


def _folded(title: str, table: Table) -> str:
    """A long table behind one click; nothing where it would be empty."""
    return f"<details><summary>{title}</summary>\n\n{table_of(table)}\n\n</details>" if table.rows else ""


def table_of(table: Table) -> str:
    """A table, or the sentence that stands for an empty one."""
    if not table.rows:
        return table.empty
    lines = [
        "| " + " | ".join(cell_of(name) for name in table.header) + " |",
        "|" + "|".join("--:" if column in table.numbers else "---" for column in range(len(table.header))) + "|",
    ]
    for row in table.rows:
        cells = [f"**{cell_of(cell.text)}**" if cell.tone == "strong" else cell_of(cell.text) for cell in row]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cell_of(text: str) -> str:
    """Text that stays in its cell and is not read as markup."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    return "".join(f"\\{char}" if char in "\\|`*[]" else char for char in escaped)


def _code(text: str) -> str:
    """Text as it is. HTML between the tags is escaped, and what Markdown would still read there too."""
    return f"<code>{cell_of(text)}</code>"
