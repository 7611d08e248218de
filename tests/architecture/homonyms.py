"""Names that still stand for several things, and what each shall become. A name that is mended leaves the list; none is added."""

from __future__ import annotations

CLASSES = {
    "Answer": "oracle: Answer; load/wire/capture: CapturedReply; site/answers: SiteAnswer",
    "Capability": "spec: Capability; launch/handle: FaultMeans",
    "Case": "spec: CapabilityCase; plugin: SuiteCase",
    "Closable": "one protocol, in cleanup",
    "Content": "report/comparison: ComparedContent; site: SiteContent",
    "Counter": "contract: CounterOperations; spec/model: CounterRecord",
    "Ending": "blame: CaseEnding; contract/clusters: EndsAsWhole",
    "Exchange": "load/wire/capture: Exchange; report/parts/demands: ShownStep",
    "Finding": "check: Finding; experiments/correctness: FailingExample",
    "Found": "contract/values: Page; result/claims/pairs: ClaimPair; both summaries: RoundFaults; site/evidence: JoinedResult",
    "Group": "report/answer_table: ColumnGroup; report/matrix: RowGroup; site: CapabilityGroup",
    "Job": "experiments/client_threads: ClientThread; load/wire: Job",
    "Judged": "check/transfers: JudgedTransfers; result/claims: JudgedClaim",
    "Judgement": "blame: Judgement; load/quality: GateJudgement",
    "Known": "conformance: KnownJudges; site/store_pages: KnownFailure",
    "Line": "report/comparison: ComparedLine; site/groups: GroupLine",
    "Link": "embedded: HostLink; launch: NetworkLink",
    "Members": "contract: MemberOperations; spec/model: MembersRecord",
    "Operation": "contract: OperationKind; history: Operation",
    "Part": "contract/address: PartAddress; result: OperationPart",
    "Places": "contract: PlaceOperations; spec/model: PlacesRecord",
    "PowerCut": "disk: PowerCutMethod; faults: PowerCut",
    "Queue": "contract: QueueOperations; spec/model: QueueRecord",
    "Ranking": "contract: RankingOperations; spec/model: RankingRecord",
    "Role": "spec/questions/needs: Role; report/parts/roles: ProfileAnswer",
    "Row": "contract: Row; report/matrix: MatrixRow; spec/model: RowRecord",
    "Run": "load: RunningRound; plugin: Run",
    "Session": "contract: Session; embedded: ForwardingSession",
    "Share": "spec/questions/needs: ShareBound; stats: Proportion",
    "Source": "result/needs: JoinedPart; site: SourceResult",
    "Together": "launch/several: Servers; result/needs: JointLoads",
    "Variant": "spec: Variant; site: SiteVariant",
    "Verdict": "result/claims: ClaimVerdict; result/needs: NeedVerdict",
}
"""By the name, each place with the name that it shall have."""

JUDGES = {
    "storeproof/blame.py": "judge_error",
    "storeproof/check/durability.py": "judge_key",
    "storeproof/cli/edition.py": "record_judge",
    "storeproof/load/quality/gates.py": "judge_rounds",
    "storeproof/result/claims/judge.py": "judge_quote",
    "storeproof/result/needs/judge.py": "judge_need",
    "storeproof/result/profiles.py": "judge_profile",
}
"""Modules with a function `judge`, and the verb with its object that it shall have."""
