"""What a number says of another machine than that on which it was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from storeproof.result.machine import Environment
from storeproof.result.needs.judged_need import JudgedNeed, NeedVerdict
from storeproof.spec.questions.needs import Machine
from storeproof.units import plural, size

_MIB: Final = 1 << 20
"""Limits of memory are whole ones."""


def on_machine(judged: JudgedNeed, machine: Machine | None, command: str) -> JudgedNeed:
    """What is met on a machine that is no larger is met, and what is missed on one that is no smaller is missed; nothing else is shown.

    Args:
        judged: rests on numbers of one run, if on any.
        machine: of the needs; None: any.
        command: what would show it on that machine.
    """
    if machine is None or judged.verdict is NeedVerdict.NOT_SHOWN or not judged.seen:
        return judged
    environment = judged.seen[0].source.environment
    cores, memory = _given(environment)
    no_larger = cores <= machine.cores and memory // _MIB <= machine.memory // _MIB
    no_smaller = cores >= machine.cores and memory // _MIB >= machine.memory // _MIB
    if no_larger if judged.verdict is NeedVerdict.MET else no_smaller:
        return judged
    reason = f"{judged.reason}, with {plural(cores, 'core')} and {size(memory)}; the machine has {machine.cores} and {size(machine.memory)}"
    return replace(judged, verdict=NeedVerdict.NOT_SHOWN, reason=reason, command=command, headroom=None)


def had_machine(environment: Environment, machine: Machine | None) -> bool:
    """Whether the stores of a run had the cores and the memory of the machine of the needs, as a run with limits gives them."""
    if machine is None:
        return True
    placement = environment.placement
    if placement is None or placement.memory_bytes is None:
        return False
    return len(placement.server) == machine.cores and placement.memory_bytes // _MIB == machine.memory // _MIB


def _given(environment: Environment) -> tuple[int, int]:
    """The cores and bytes that a store had."""
    placement = environment.placement
    if placement is None:
        return environment.cores, environment.memory_bytes
    return len(placement.server), placement.memory_bytes or environment.memory_bytes
