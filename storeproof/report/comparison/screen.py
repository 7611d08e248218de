"""A comparison in the terminal, within 80 columns."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from storeproof.report.comparison.content import ComparedContent

_STYLES = {"strong": "bold", "dim": "dim", "open": "yellow"}


def print_content(content: ComparedContent, console: Console) -> None:
    """Print it. The first column of the table is folded; the others have what they need."""
    for line in content.about:
        console.print(Text(line, "bold"))
    if content.table.rows:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
        for column, heading in enumerate(content.table.header):
            right = column in content.table.numbers
            table.add_column(heading, justify="right" if right else "left", no_wrap=column > 0, overflow="fold")
        for row in content.table.rows:
            table.add_row(*(Text(cell.text, _STYLES.get(cell.tone, "")) for cell in row))
        console.print(table)
    elif content.table.empty:
        console.print(Text(content.table.empty, "yellow"))
    for note in content.notes:
        console.print(Text(note.text, _STYLES.get(note.tone, "")))
