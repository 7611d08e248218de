"""Which load engine is taken where nothing was compiled."""

from __future__ import annotations

import pytest

from storeproof import native_support
from storeproof.contract import Address, Layout
from storeproof.errors import NotAvailable
from storeproof.load.choose_engine import Engines
from storeproof.load.engine import Plan
from storeproof.spec import Mix
from tests.shipped import SHIPPED

SPEC = SHIPPED
ADDRESS = Address("127.0.0.1", 1)
"""An unused address: the store is not contacted."""
PLAN = Plan(Layout("t", SPEC.models["single_key"]), (Mix(operation="put", keys="new"),), clients=1, seconds=1.0, seed=1, known=0)


@pytest.fixture
def nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a Rust toolchain."""
    monkeypatch.setattr(native_support, "present", lambda: False)


@pytest.mark.usefixtures("nothing_compiled")
def test_auto_takes_the_driver_and_says_why() -> None:
    """The reason stands beside the figures in the result."""
    (target,) = SPEC.targets(["sqlite"])
    engine, reason = Engines(target, ADDRESS, "auto").choose(PLAN)
    assert engine.name == "driver"
    assert "compiled part of storeproof" in reason
    assert "was not built when it was installed" in reason


@pytest.mark.usefixtures("nothing_compiled")
def test_the_driver_that_was_asked_for_needs_no_reason() -> None:
    """It would have been taken anyway."""
    (target,) = SPEC.targets(["sqlite"])
    engine, reason = Engines(target, ADDRESS, "driver").choose(PLAN)
    assert (engine.name, reason) == ("driver", "")


@pytest.mark.usefixtures("nothing_compiled")
def test_the_wire_engine_is_refused_with_the_remedy() -> None:
    """No other engine takes its place in silence."""
    (target,) = SPEC.targets(["sqlite"])
    with pytest.raises(NotAvailable, match="the engine `wire` needs the compiled part of storeproof") as refused:
        Engines(target, ADDRESS, "wire")
    assert refused.value.remedy == native_support.REMEDY


def test_auto_takes_the_driver_where_a_ratio_needs_it() -> None:
    """Though the wire engine could do it. Who asks for that one gets it."""
    (target,) = SPEC.targets(["redis"])
    assert Engines(target, ADDRESS, "driver", "a ratio needs it").choose(PLAN)[1] == ""
    engine, reason = Engines(target, ADDRESS, "auto", "a ratio needs it").choose(PLAN)
    assert (engine.name, reason) == ("driver", "a ratio needs it")
