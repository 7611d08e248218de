"""Holds results against the published claims: reproduced, refuted, or why that cannot be said. Pure: nothing is measured here."""

from storeproof.result.claims.judge import judge_claims
from storeproof.result.claims.judged import (
    AnomalyTried,
    AnomalyVerdict,
    ClaimVerdict,
    DeviceTested,
    JudgedClaim,
    JudgedClaims,
    RatioFound,
    ReportedAnomaly,
    RunRead,
    SideFound,
)
