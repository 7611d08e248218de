"""Numbers on the pages that no published result holds, with the kind of what says so."""

from __future__ import annotations

GIVEN: dict[str, dict[str, list[str]]] = {
    "README.md": {
        "a list": ["1. **", "2. **", "3. **", "4. **", "5. **"],
        "a condition": ["20 kills", "Python ≥ 3.11", "Apache-2.0"],
        "of docs/ENGINE.md": ["1.04 to 1.64 times its rate for 0.42 to 0.68 of the processor time"],
        "statistics": ["No loss in 20 faults still allows", "up to 14 % of such faults"],
    },
    "reports/README.md": {
        "a condition of a run, as its command has it": [
            "8, 64 and 256 clients",
            ", 50 clients, in interleaved rounds",
            "of a hard disk of 15,000 rpm, a SATA SSD",
            "are written by 50 clients, and PostgreSQL",
            "[which two cores send late",
            "1,000 to 5,000 requests a second",
            "B with 512 clients, and A and D with 1,024",
            "up to 64 rounds and not 32",
            "2,000 reads of sessions and 200 inserts",
            "up to 20 rounds of each fault",
            "in 20 rounds of",
            ": 50 clients write",
            "the 32 rounds that the time allows",
            "and 50 over one value of 1 kB",
            "one value of 1 kB with 50",
            "with 20 rounds of each fault",
            "2026-11-27, 50 clients.",
            "written by 4 clients",
            "read by 100 clients, with 4 GiB of cache",
        ],
        "a name": ["data on ext4", "an ext4 file system", "the SHA-256", "min-replicas-to-write 1", "WAIT 1", "known defects in 2.6.0"],
        "computed by test_reports.py": ["Of 181 ratios of two stores 172 agree"],
        "of a run that is in this repository's history, and no longer here": [
            "79 of 86 agreed (92 %)",
            "1.2 to 1.3 times as fast",
            "8 of its 12 numbers drifted",
        ],
        "shown by the shell below it": [
            "(15.18): twenty rows",
            "only the first 4 KiB",
            "10 of 20 acknowledged rows",
        ],
        "seen by hand, with perf and strace": ["at 130 inserts per second", "85,000", "80 % of the core"],
    },
    "docs/findings/tarantool-fsync.md": {
        "a list": ["1. At", "2. The", "3. The", "4. All"],
        "a version": ["2.6.0 (Debian 12)", "| 2.6.0,", "2.6.0 shows", "| 3.7.1", "2.11.8, 3.8.0", "In 3.7.1", "1.7.4"],
        "tried by hand": ["7,467 of 20,142 acknowledged writes lost in 11 of 20", "0 of 19,597 lost in 20 power cuts"],
        "a setting": ["256 MB"],
        "a condition": ["of 20 power cuts", "of 20 |"],
        "of the tracker": ["November 2026", "tarantool#2678", "(2017,", "tarantool#10784", "#11948"],
    },
}

UNPUBLISHED = {
    "docs/findings/aria-optimize.md": "a57a9da00478497b",
    "docs/findings/beyond-32-bits.md": "89eb7f2569cfd964",
    "docs/findings/innodb-repeatable-read.md": "5e2befea818d51c2",
    "docs/findings/redis-aof-directory.md": "18fa496569376a6d",
    "docs/findings/redis-multi.md": "b92b315b72f0cce2",
    "docs/findings/relatives.md": "daa9dff11f1f84c0",
    "docs/findings/redis-zero-tail.md": "f5f7a08bfd7e8501",
    "docs/findings/tarantool-cut-tail.md": "1afffd5cfadea2ba",
    "docs/findings/tarantool-snapshot-sync.md": "9673681276cb4328",
    "docs/findings/tarantool-vinyl-checkpoint.md": "8eb46943742f6f64",
    "docs/findings/tarantool-vinyl-index.md": "7360e547ecdec675",
    "docs/findings/tarantool-zero-tail.md": "77390c00aba5a0f5",
}
"""Pages on runs of which no result is published, with a digest of their numbers."""
