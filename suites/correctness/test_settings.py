"""Nothing is believed: the live store's product, settings and options are read back before it is tried."""

from __future__ import annotations

import pytest

from storeproof.plugin.verdict import Verdict
from storeproof.trial import Trial


@pytest.mark.case(id="settings.readback")
def test_settings_are_read_back(trial: Trial, verdict: Verdict) -> None:
    trial.shared()  # raises SettingsMismatch, an error of ours, where the live store differs from its variant
    verdict.add(", ".join(f"{name}={value}" for name, value in trial.record.settings.items()) or "the variant sets nothing")
