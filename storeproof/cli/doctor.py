"""`storeproof doctor`: what can run on this machine, and the commands that enable the rest."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from storeproof.launch.doctor import Availability, Survey, survey
from storeproof.spec import load_spec


def doctor(console: Console | None = None) -> None:
    """Print the survey. Nothing is started, pulled or installed; something missing is not an error."""
    console = console or Console()
    found = survey(load_spec())
    table = Table(title="What can run here", title_justify="left")
    for heading in ("store", "client", "process", "container"):
        table.add_column(heading, overflow="fold")
    for each in found.stores:
        table.add_row(
            each.title if each.runs else f"[dim]{each.title}[/dim]",
            _cell(each.client, "ready"),
            _cell(each.process, each.process.detail if each.process else ""),
            _cell(each.container, each.container.detail if each.container else ""),
        )
    console.print(table)
    running = sum(each.runs for each in found.stores)
    console.print(f"{running} of {len(found.stores)} stores run here. Container engine: {found.engine.detail}.", highlight=False)
    for name, way in found.power_cuts.items():
        console.print(f"Power cuts by {name}: {way.detail}.", highlight=False)
    console.print(f"Clusters: {found.network.detail}.", highlight=False)
    rest = _remedies(found)
    if rest:
        console.print("\nTo enable the rest (installing packages needs root):")
        for command, gains in rest.items():
            # Never wrapped, since users copy the command. Escaped, since `[binary]` after a package's name is not markup.
            console.print(f"  {escape(command)}    [dim]# {escape('; '.join(gains))}[/dim]", highlight=False, soft_wrap=True)


def _cell(way: Availability | None, ready: str) -> str:
    if way is None:
        return "[dim]-[/dim]"
    return f"[green]{ready}[/green]" if way.ok else "[yellow]missing[/yellow]"


def _remedies(found: Survey) -> dict[str, list[str]]:
    """Each command once, with what it enables and any remarks on it. Composite stores need what the stores need that they consist of."""
    needs = [(found.engine, "a container engine"), *((way, f"power cuts by {name}") for name, way in found.power_cuts.items())]
    needs = [(way, what) for way, what in (*needs, (found.network, "clusters")) if way.remedy]
    for each in (store for store in found.stores if not store.composite):
        for way, what in ((each.client, "client"), (each.process, "process"), (each.container, "container")):
            if way is not None and way.remedy != found.engine.remedy:
                needs.append((way, f"{each.store} ({what})"))
    gains: dict[str, list[str]] = {}
    for need, what in needs:
        if not need.ok:
            command, _, remark = need.remedy.partition("  # ")
            gains.setdefault(command or f"# {need.detail}", []).append(f"{what}: {remark}" if remark else what)
    return gains
