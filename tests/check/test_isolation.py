"""Anomalies of isolation: each kind by hand, and none where some order of the transactions explains what was read."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storeproof import native_support
from storeproof.check import FORBIDS, contended, explain, find_anomalies, forbidden
from storeproof.check.isolation.anomaly import CycleKind
from storeproof.check.isolation.dependencies import Dependencies
from storeproof.history import Access, Transaction
from storeproof.spec.isolation import AnomalyOrder, Guarantees
from tests.check.isolation_oracle import any_history, cycles_by_definition, kind_of
from tests.check.transactions import Behaviour, SimulatedStore, transactions

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")

ANOMALIES = {
    "dirty read": (("|---no  x=1", "  |---|  x?1"), {"G1a"}),
    "dirty read, of one that read what does not fit": (("|---no  x=1 y?- z?1", "|---|  y=1 x?1 z?-", "|---|  z=1"), {"G1a"}),
    "dirty read by an unknown transaction that was committed": (("|---no  x=1", "|---?  x?1 y=1", "|---|  y?1"), {"G1a"}),
    "dirty read of an intermediate version": (("|---|  x=1 x=2", "  |---|  x?1"), {"G1b"}),
    "circular information flow": (("|---|  x=1 y?2", "|---|  y=2 x?1"), {"G1c"}),
    "dirty writes": (("|-|  x=1", "|---|  x?1 x=2 y?4 y=3", "  |---|  y?- y=4 x?2 x=5"), {"G0", "G1c"}),
    "does not read its own write": (("|---|  x=1", "   |---|  x=2 x?1"), {"own-writes"}),
    "does not find its own record": (("|---|  x=1 x?-",), {"own-writes"}),
    "reads its earlier write": (("|---|  x=1 x=2 x?1",), {"own-writes"}),
    "reads what it has not written yet": (("|---|  x?1 x=1",), {"own-writes"}),
    "fuzzy read": (("|-|  x=1", " |-|  x?1 x=2", "|-----|  x?1 x?2"), {"fuzzy-read", "G-single"}),
    "lost update": (("|-|  x=1", "  |---|  x?1 x=2", "    |---|  x?1 x=3"), {"lost-update"}),
    "lost insert": (("  |---|  x?- x=2", "    |---|  x?- x=3"), {"lost-update"}),
    "lost update by an unknown transaction that was read": (("|---|  x?- x=2", "|---?  x?- x=3", "  |---|  x?3"), {"lost-update"}),
    "read skew": (("|--|  x?- x=1 y?- y=1", "|---|  x?- y?1"), {"G-single"}),
    "read skew over a blind write": (("|--|  x=1 y=1", "|---|  x?- y?1"), {"G-single"}),
    "lost update of a list": (("|-|  x=1", " |--|  x?1 x=2<1", " |---|  x?1 x=3<2"), {"lost-update", "G-single"}),
    "read skew of lists": (("|-|  x=1 y=1", " |--|  x=2<1 y=2<1", " |---|  x?2 y?1"), {"G-single"}),
    "appends in two orders": (("|-|  x=1 y=2<1", "|-|  y=1 x=2<1"), {"G0"}),
    "long fork": (("|--|  x=1", "|--|  y=1", "|---|  x?1 y?-", "|---|  x?- y?1"), {"G-nonadjacent"}),
    "write skew": (("|--|  x?- y?- x=1", "|--|  x?- y?- y=1"), {"G2-item"}),
    "write skew of three": (("|--|  x?- y=1", "|--|  y?- z=1", "|--|  z?- x=1"), {"G2-item"}),
    "a reader sees it (Fekete et al., 2004)": (
        ("|-------|  x?- y?- x=1", "  |-|  y?- y=2", "     |-|  x?- y?2"),
        {"G2-item"},
    ),
    "write skew, and the records were searched for too": (("|--|  x?- x~- y=1", "|--|  y~- y?- x=1"), {"G2-item"}),
    "read skew over the second of two blind writes": (("|-|  x=1", "|--|  x=2 y=1", "|---|  x?- y?1"), {"G-single"}),
    "phantoms": (("|--|  x~- y=1", "|--|  y~- x=1"), {"G2"}),
    "stale read": (("|--|  x=1", "    |--|  x?-"), {"G-single-realtime"}),
    "stale read of its own": (("|--|  A: x=1", "    |--|  A: x?-"), {"G-single-process"}),
    "commits in another order than real time": (("|--|  x?1", "     |--|  x=1"), {"G1c-realtime"}),
    "long fork between clients": (
        ("|--------|  x=1", " |----|  x?1 y?-", "  |-|  A: y=1", "      |-|  A: x?-"),
        {"G-nonadjacent-process"},
    ),
    "long fork in real time": (
        ("|--------|  x=1", " |----|  x?1 y?-", "  |-|  y=1", "      |-|  x?-"),
        {"G-nonadjacent-realtime"},
    ),
}  # fmt: skip
NONE = {
    "nothing": (),
    "reads of one moment": ("|--|  x=1 y=1", " |--|  x?- y?-", "    |--|  x?1 y?1"),
    "a rolled back transaction reads anything": ("|--no  x=1 x=2", "  |--no  x?1 x?- y=3 y?-"),
    "its own intermediate version": ("|--|  x=1 x?1 x=2 x?2",),
    "what an unknown transaction read, and no one saw": ("|--|  x=1 y=1", "|--?  x?1 y?- z=1"),
    "two replaced a version, and one was rolled back": ("|-|  x=1", "  |--|  x?1 x=2", "  |--no  x?1 x=3"),
    "two replaced a version, and one is unknown": ("|-|  x=1", "  |--|  x?1 x=2", "  |--?  x?1 x=3"),
    "blind writes in any order": ("|-|  x=1", "   |-|  x=2", "     |-|  x?2"),
    "a stale read of a transaction that may not have happened": ("|-?  x=1", "   |-|  x?-"),
    "an append after that of an unknown transaction": ("|-?  x=1", "  |-|  x=2<1", "      |-|  x?2"),
    "an unknown transaction happens after the next of its client": ("|-?  A: x=1", "   |-|  A: x?-", "       |-|  A: x?1"),
    "appends of a list, read in part": ("|-|  x=1", "|-|  x=2<1", "|-|  x=3<2", "|-|  x?2", "|-|  x?1"),
    "an append to what was rolled back tells no order": ("|-no  x=1", "|-|  x=2<1", "  |-|  x?-"),
    "one at a time, to the nanosecond": ("|-|  x=1", "  |-|  x?1", " |-|  x?1 x=2"),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "kinds"), ANOMALIES.values(), ids=ANOMALIES)
def test_each_kind_is_found_and_named(lines: tuple[str, ...], kinds: set[str]) -> None:
    """The examples of Berenson et al., Adya, and Fekete et al.; each is the only kind in its history."""
    history = transactions(*lines)
    found = find_anomalies(history)
    assert {str(each) for each in found} == kinds
    for each in found:
        assert {index for edge in each.edges for index in edge[:2]} == set(each.transactions)
        assert all(edge.target == after.source for edge, after in itertools.pairwise(each.edges))
        assert all(text.endswith(".") for text in explain(each, history))


@pytest.mark.parametrize("lines", NONE.values(), ids=NONE)
def test_what_could_be_right_is_no_anomaly(lines: tuple[str, ...]) -> None:
    """One for each rule without which a right store would be accused."""
    assert find_anomalies(transactions(*lines)) == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("|-|  x=1", "  |-|  x=1"), "each version is written once"),
        (("|-|  x=2<1",), "no transaction wrote 1 of x"),
        (("|-|  x?1",), "no transaction wrote 1 of x"),
        (("|-|  x=1", "  |-no  y?1"), "no transaction wrote 1 of y"),
        (("|---|  A: x=1", "  |---|  A: x=2"), "two transactions at a time"),
    ],
)
def test_an_impossible_history_is_an_error_of_its_recorder(lines: tuple[str, ...], message: str) -> None:
    """It says nothing about the store."""
    with pytest.raises(ValueError, match=message):
        find_anomalies(transactions(*lines))


@pytest.mark.parametrize(
    ("name", "words"),
    {
        "dirty read": ["T2 (client 1) read version 1 of x, which T1 (client 0) had written.",
                       "T1 (client 0) was rolled back: no other transaction was to see that version."],
        "does not find its own record": ["T1 (client 0) wrote version 1 of x, and then found no record of x."],
        "reads what it has not written yet": ["T1 (client 0) read version 1 of x before it wrote that."],
        "lost insert": ["T1 (client 0) and T2 (client 1) both found no record of x.",
                        "T2 (client 1) wrote version 3, and T1 (client 0) version 2; both committed.",
                        "The later of the two overwrote an update that it had not seen."],
        "phantoms": ["T1 (client 0) searched and found no record of x, and T2 (client 1) wrote version 1: T1 comes before T2.",
                     "T2 (client 1) searched and found no record of y, and T1 (client 0) wrote version 1: T2 comes before T1.",
                     "So T1 would come before itself: all of them committed, and no order of them explains what they found."],
        "stale read": ["T1 (client 1) found no record of x, and T2 (client 0) wrote version 1: T1 comes before T2.",
                       "T2 (client 0) completed before T1 (client 1) began.",
                       "So T1 would come before itself: all of them committed, and no order of them explains what they found."],
    }.items(),
)  # fmt: skip
def test_an_anomaly_is_read_aloud(name: str, words: list[str]) -> None:
    """One sentence an edge, by names that the history has."""
    history = transactions(*ANOMALIES[name][0])
    (found,) = find_anomalies(history)
    assert explain(found, history) == words


def test_a_story_says_at_which_node_each_client_was() -> None:
    """Of a cluster; of the others nothing is said."""
    history = transactions(*ANOMALIES["stale read"][0])
    (found,) = find_anomalies(history)
    assert explain(found, history, ["n1", "n2"])[1] == "T2 (client 0 at n1) completed before T1 (client 1 at n2) began."
    assert explain(found, history, ["n1"])[1] == "T2 (client 0 at n1) completed before T1 (client 1) began."


def test_the_smallest_is_shown_and_the_first_is_counted() -> None:
    """A skew of three after three commits; and one of two, which is shown, after the fifth."""
    history = transactions(
        "|--|  x?- y=1", "|--|  y?- z=1", "|--|  z?- x=1", "      |---|  v?- w=1", "     |--|  w?- v=1"
    )  # fmt: skip
    (skew,) = find_anomalies(history)
    assert set(skew.transactions) == {3, 4}
    assert skew.after == 3


def test_of_those_without_a_cycle_the_first_to_complete_is_shown() -> None:
    """Two dirty reads, and three who replaced one version: neither began first."""
    history = transactions(
        "|--no          x=1", "  |-------|    x?1", "  |----|       x?1",
        "        |---|  y?- y=1", "        |----| y?- y=2", "         |-|   y?- y=3",
    )  # fmt: skip
    dirty, lost = find_anomalies(history)
    assert (dirty.kind, dirty.transactions, dirty.after) == ("G1a", (0, 2), 1)
    assert (lost.kind, lost.transactions, lost.after) == ("lost-update", (5, 3), 4)


def test_a_store_that_finds_nothing_is_judged_as_fast_as_any() -> None:
    """Each of 2,000 readers comes before each of 2,000 writers; not every pair is an edge."""
    history = []
    for number in range(4_000):
        access = Access("write", "x", f"v{number}") if number % 2 else Access("read", "x", None)
        history.append(Transaction(number, number, number, "ok", (access,)))
    assert len(Dependencies(history).edges) < 10 * len(history)
    assert [str(each) for each in find_anomalies(history)] == ["G-single-realtime"]


def test_levels_that_forbid_a_form_forbid_all_that_imply_it() -> None:
    """What is found hides what it implies: no level may forbid the one and allow the other."""
    for level in get_args(Guarantees):
        kinds = FORBIDS[level]
        for kind, order in kinds:
            assert order == "item" or (kind, "item") in kinds
            assert order != "realtime" or (kind, "process") in kinds
            if kind == "G-nonadjacent":
                assert {(worse, order) for worse in ("G0", "G1c", "G-single")} <= kinds
            if kind == "G2":
                assert ("G2-item", order) in kinds


def orders(history: Sequence[Transaction], strict: bool) -> Iterator[tuple[Transaction, ...]]:
    """Every order of the commits, with any of the unknown ones or without; if strict, only those of real time."""
    unknown = [each for each in history if each.outcome == "unknown"]
    for size in range(len(unknown) + 1):
        for some in itertools.combinations(unknown, size):
            for order in itertools.permutations([*(each for each in history if each.outcome == "ok"), *some]):
                pairs = itertools.combinations(order, 2)
                if not strict or not any(later.completed is not None and later.completed < earlier.invoked for earlier, later in pairs):
                    yield order


def explains(order: Sequence[Transaction]) -> bool:
    """Whether one after the other would have read this."""
    state: dict[str, str | None] = {}
    for each in order:
        for access in each.accesses:
            if access.action == "write":
                state[access.key] = access.version
            elif state.get(access.key) != access.version:
                return False
    return True


@st.composite
def histories(draw: st.DrawFn, blind: bool) -> list[Transaction]:
    """A few transactions on two keys, which replay some order and then change a few of the reads."""
    versions: dict[str, list[str | None]] = {"x": [None], "y": [None]}
    found = []
    for number in range(draw(st.integers(1, 5))):
        accesses = []
        own: dict[str, str] = {}
        for place in range(draw(st.integers(1, 3))):
            key = draw(st.sampled_from("xy"))
            how = draw(st.sampled_from(["read", "update", "write"] if blind else ["read", "update"]))
            if how != "write":
                latest = own.get(key, versions[key][-1])
                read = draw(st.sampled_from([latest] * 5 + versions[key])) if key not in own else latest
                accesses.append(Access("read", key, read, draw(st.booleans())))
            if how != "read":
                own[key] = f"{number}.{place}"
                accesses.append(Access("write", key, own[key]))
        outcome = draw(st.sampled_from(["ok", "ok", "ok", "ok", "unknown", "refused"]))
        for key, version in own.items():
            if outcome != "refused" and draw(st.integers(0, 9)):
                versions[key].append(version)
        invoked = draw(st.integers(0, 8)) + 2 * number
        completed = None if outcome == "unknown" else invoked + draw(st.integers(0, 8))
        found.append(Transaction(number, invoked, completed, outcome, tuple(accesses)))  # type: ignore[arg-type]
    return found


@settings(max_examples=200, deadline=None)
@given(histories(blind=False))
def test_no_anomaly_is_to_be_serializable(history: list[Transaction]) -> None:
    """Where each write is of a record that was read, the reads tell all: there is an anomaly if and only if no order explains them."""
    found = find_anomalies(history)
    assert any(map(explains, orders(history, strict=True))) == (not found)
    assert any(map(explains, orders(history, strict=False))) == (not any(each.order == "item" for each in found))


@settings(max_examples=200, deadline=None)
@given(histories(blind=True))
def test_what_an_order_explains_shows_no_anomaly(history: list[Transaction]) -> None:
    """Blind writes leave the order of versions open: what is found is wrong, whatever it was."""
    found = find_anomalies(history)
    if any(each.order == "item" for each in found):
        assert not any(map(explains, orders(history, strict=False)))
    elif found:
        assert not any(map(explains, orders(history, strict=True)))


def test_it_finds_what_the_definition_finds() -> None:
    """All simple cycles of 10,000 small histories, against the search of the compiled part; which have every kind in every order."""
    seen: Counter[str] = Counter()
    for seed in range(10_000):
        history = any_history(seed)
        expected = cycles_by_definition(history)
        found = [each for each in find_anomalies(history) if each.kind in get_args(CycleKind)]
        ends = [max(history[index].completed or history[index].invoked for index in each.transactions) for each in found]
        shown = {(each.kind, each.order, len(each.edges), end, each.after) for each, end in zip(found, ends, strict=True)}
        assert shown == expected, (seed, history)
        for each in found:
            assert kind_of(each.edges) == each.kind
            edges = Dependencies(history).edges
            for edge in each.edges:
                before = history[edge.source].completed
                assert edge in edges or (edge.kind == "realtime" and before is not None and before < history[edge.target].invoked)
        seen.update(map(str, found))
    assert len(seen) == len(get_args(CycleKind)) * len(get_args(AnomalyOrder)), seen


HONEST: dict[Behaviour, Guarantees] = {
    "serializable": "strict_serializable",
    "snapshot": "strong_snapshot_isolation",
    "read committed": "read_committed",
    "lagging replica": "serializable",
    "long fork": "parallel_snapshot_isolation",
}
BROKEN: dict[Behaviour, Guarantees] = {
    "no transactions": "read_committed",
    "leaking rollbacks": "read_committed",
    "forgets own writes": "read_committed",
    "lost updates": "parallel_snapshot_isolation",
    "snapshot": "serializable",
    "write skew of three": "serializable",
    "long fork": "snapshot_isolation",
    "lagging replica": "strong_snapshot_isolation",
}


@pytest.mark.parametrize("behaviour", HONEST)
@pytest.mark.parametrize("seed", range(3))
def test_a_store_that_keeps_a_level_shows_nothing_that_it_forbids(behaviour: Behaviour, seed: int) -> None:
    """Simulated, with lost replies, rollbacks, records that are new, and reads by conditions."""
    history = SimulatedStore(behaviour, seed).run(250)
    assert not [explain(each, history) for each in find_anomalies(history) if forbidden(HONEST[behaviour], each)]


@pytest.mark.parametrize("behaviour", BROKEN)
def test_a_store_that_breaks_a_level_is_caught(behaviour: Behaviour) -> None:
    """Each mutant within a few hundred commits."""
    history = SimulatedStore(behaviour, seed=1).run(600)
    assert [each for each in find_anomalies(history) if forbidden(BROKEN[behaviour], each)]


def test_commits_that_got_in_each_others_way_are_counted() -> None:
    """One of two at the same time wrote the record, and whether the other one was committed does not matter; two readers do not count."""
    history = transactions(
        "|---|           x=1",
        "  |---|         x?-",
        "|-----|         y?-",
        "       |---|    y=1 y=2",
        "          |-|   y?2",
        "|-----|         z=1",
        "|-----no        z=2",
        "          |---| x=2",
        "|-----|         v?-",
        "    |---|       v=1",
        "|-----|         w=1 w?1",
        "    |---|       w?-",
    )
    assert contended(history) == 9
    assert contended([]) == 0
