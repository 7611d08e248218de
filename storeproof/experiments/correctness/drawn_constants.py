"""From which constants random examples are drawn."""

from __future__ import annotations

from hypothesis.internal.conjecture import providers


def leave_out_constants_of_code() -> None:
    """Have Hypothesis draw none of the constants in the source of the modules that are loaded; its own list of unusual values stays.

    It reads those of all modules outside site-packages, and has no option for that. Then one seed draws other examples in a checkout than
    from an installed package, and others with another adapter; and each run in a new directory parses our whole source, for seconds.
    """
    providers._get_local_constants = lambda: providers._local_constants
