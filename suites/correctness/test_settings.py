"""The product, settings and options are read back from the live store before it is tested."""

from __future__ import annotations

import pytest

from storeproof.result.running_case import CaseResult
from storeproof.store_under_test import StoreUnderTest


@pytest.mark.case(id="settings.readback")
def test_settings_are_read_back(sut: StoreUnderTest, case_result: CaseResult) -> None:
    """The running store has the settings of its variant."""
    sut.shared()  # raises SettingsMismatch, an error of ours, where the live store differs from its variant
    case_result.add(", ".join(f"{name}={value}" for name, value in sut.record.settings.items()) or "the variant has no settings")
