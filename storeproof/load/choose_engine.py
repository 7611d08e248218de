"""Chooses the load engine: the wire engine where it can do the work, else the store's client, with the reason."""

from __future__ import annotations

from dataclasses import replace

from storeproof import native_support
from storeproof.contract.address import Address
from storeproof.errors import NotAvailable
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.load.engine import Engine, EngineWanted, Plan
from storeproof.load.wire.slots import NotTemplated
from storeproof.load.wire.wire_engine import WireEngine
from storeproof.outcome import Lack
from storeproof.spec.store import Target


class Engines:
    """The engines for one store. Their connections last from plan to plan."""

    def __init__(self, target: Target, address: Address, wanted: EngineWanted, no_wire: str = "") -> None:
        """
        Args:
            no_wire: why `auto` does not mean the wire engine here, though it may be possible; empty: it does.

        Raises:
            NotAvailable: the wanted one is not here.
        """
        self._wanted = wanted
        self._driver = DriverEngine(target, address)
        self._wire: WireEngine | None = None
        if not no_wire and not native_support.present():
            no_wire = "the compiled part of storeproof, which has the wire engine, was not built when it was installed"
        self._without_wire = no_wire if wanted == "auto" else ""
        """Why there is no wire engine, where one would be used."""
        if wanted == "wire" or (wanted == "auto" and not no_wire):
            self._wire = WireEngine(target, address, self._driver)

    def choose(self, plan: Plan) -> tuple[Engine, str]:
        """The engine for a plan whose collection is prepared and is empty, and why it is not the wire engine.

        Raises:
            NotAvailable: the wire engine is wanted and no other, and cannot do it.
            StoreSilent, LoadFailed, Refused: connections cannot be made.
        """
        if self._wire is None:
            return self._driver, self._without_wire
        try:
            self._wire.prepare(replace(plan, fixed_numbers=self._wire.fixed_numbers))
        except NotTemplated as reason:
            if self._wanted != "auto":
                remedy = "--engine=auto has the store's client do it"
                raise NotAvailable(f"the engine `{self._wanted}` cannot do it: {reason}", remedy, Lack.ENGINE) from None
            return self._driver, str(reason)
        return self._wire, ""

    def close(self) -> None:
        """End all connections and processes; never raises, and may be called twice."""
        if self._wire is not None:
            self._wire.close()
        self._driver.close()
