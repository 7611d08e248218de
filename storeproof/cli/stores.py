"""`storeproof stores`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from storeproof.printable import printable
from storeproof.spec.loader import Spec, load_spec
from storeproof.spec.store import Store, Target


def list_stores(names: list[str]) -> None:
    """Print an overview of all stores, or the named ones with every claim.

    Raises:
        UsageError: no such store.
        SpecError: a file breaks a rule.
    """
    spec = load_spec()
    console = Console()
    stores = [spec.store(name) for name in names or spec.store_files]
    if not stores:
        console.print(f"There are no stores in {spec.root / 'stores'}; create one with `storeproof new-store NAME`.")
    elif names:
        for store, file in stores:
            console.print(_safe(_details(store, file, spec)), highlight=False)
    else:
        console.print(_overview(stores, spec))
        console.print("*: the default variant · `storeproof stores NAME` shows settings and every claim", style="dim", highlight=False)


def _overview(stores: Iterable[tuple[Store, Path]], spec: Spec) -> Table:
    """One line for each variant."""
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("store:variant", "claims", "capabilities"):
        table.add_column(heading, no_wrap=True)
    for store, file in stores:
        for name in store.variants:
            target = Target(store, name, file)
            label = Text(target.id, "bold" if target.configuration.default else "").append(" *" if target.configuration.default else "")
            table.add_row(label, target.configuration.guarantee, _claimed(target, spec))
    return table


def _details(store: Store, file: Path, spec: Spec) -> Text:
    """A store with its variants, their settings, and every claim."""
    text = Text.assemble((store.name, "bold"), f"  {store.title} · {store.topology} · {_launches(store)}\n")
    if store.cache is not None:
        text.append(f"cache: {store.cache.setting}, set to the scale's cache size\n")
    for name, variant in store.variants.items():
        target = Target(store, name, file)
        text.append(f"\n{target.id}", "bold").append(" (default)" if variant.default else "")
        stale = "; its reads may be stale" if target.stale_reads else ""
        stale += ", but not of the client's own writes" if stale and target.session_guarantees else ""
        guarantees = ", ".join((variant.guarantee, *variant.survives))
        text.append(f"\n  claims {guarantees}, {_claimed(target, spec)} capabilities{stale}\n")
        if target.cluster is not None:
            nodes = ", ".join(f"{node} ({' and '.join(services)})" for node, services in target.cluster.nodes.items())
            text.append(f"  runs as {target.topology}: {nodes}\n", "dim")
        settings = ", ".join(f"{key}={value}" for key, value in {**variant.settings, **variant.options}.items())
        for line in (settings, variant.note):
            if line:
                text.append(f"  {line}\n", "dim")
    return text.append("\n").append_text(_claims(store, spec))


def _safe(text: Text) -> Text:
    """Without terminal control sequences, since the file may come from anywhere; text that had to be changed loses its style."""
    return text if printable(text.plain) == text.plain else Text(printable(text.plain))


def _claimed(target: Target, spec: Spec) -> str:
    return f"{sum(target.claims(name) for name in spec.capabilities)} of {len(spec.capabilities)}"


def _launches(store: Store) -> str:
    if (parts := store.launch.composite) is not None:
        return f"{parts.front} over {parts.home}"
    return ", ".join(name for name in ("process", "container", "endpoint") if getattr(store.launch, name) is not None) or "no launcher"


def _claims(store: Store, spec: Spec) -> Text:
    claimed = [name for name in spec.capabilities if store.claims_by_default(name)]
    others = [name for name in spec.capabilities if not store.claims_by_default(name)]
    text = Text(f"models: {_listed(store.claims.models)}\nclaimed: {_listed(claimed)}\nnot claimed: {_listed(others)}\n")
    for name, variant in store.variants.items():
        if variant.capabilities:
            differences = [f"{capability} {'claimed' if yes else 'not claimed'}" for capability, yes in variant.capabilities.items()]
            text.append(f"{name} differs: {', '.join(differences)}\n")
    return text


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
