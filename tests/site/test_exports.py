"""What other programs read: summary.json, summary.csv, badges, and the data of the scripts."""

from __future__ import annotations

import csv
import io
import json
from xml.etree import ElementTree

import pytest

from storeproof.outcome import Outcome
from storeproof.site.badges import badge_of, default_of
from storeproof.site.names import capability_page, number_anchor, run_page, slug, variant_page
from storeproof.site.script_data import as_script, payload, ratios
from storeproof.site.site_content import SiteContent
from storeproof.site.summary import render_csv, render_json
from tests.site.made import content, fault, judged, rate, result, struck, tried

WRITES = [rate("single-put-distinct-100", 1000.5), rate("single-get", 2000, at_least=True)]


@pytest.fixture(scope="module")
def made() -> SiteContent:
    return content(
        result(
            struck(
                "redis:aof-always",
                fault("process_crash"),
                fault("power_loss", Outcome.FAIL, lost=250),
                measurements=WRITES,
                profiles=[judged("cache", "conforms")],
                capabilities=tried("redis:x", ("text.word", Outcome.PASS), ("text.phrase", Outcome.UNSUPPORTED)).capabilities,
            ),
            struck("redis:volatile", measurements=[], version="=cmd()"),
            run="r7",
        )
    )


def test_the_summary_has_each_datum_with_its_run(made: SiteContent) -> None:
    """What is not there is null or left out, never zero."""
    summary = json.loads(render_json(made))
    keeps, other = summary["variants"]
    assert keeps["capabilities"] == {"shown": 1, "of": 2, "run": "r7"}
    assert keeps["roles"] == {"cache": "meets"}
    assert keeps["losses"]["power_loss"] == {
        "lost_operations": 250,
        "at_least": False,
        "acknowledged": 1000,
        "faults": 20,
        "verdict": "lost",
        "promised": True,
        "run": "r7",
    }
    speed = keeps["speeds"]["single-get"]
    assert (speed["per_second"], speed["marks"], speed["anchor"]) == (2000, ["at_least"], "number.redis.aof-always.single-get.0i.50c")
    assert (other["capabilities"], other["losses"], other["speeds"]) == (None, {}, {})


def test_the_csv_has_a_line_for_each_variant_and_no_formula(made: SiteContent) -> None:
    """A version that a spreadsheet would run is text."""
    keeps, other = csv.DictReader(io.StringIO(render_csv(made)))
    assert (keeps["store"], keeps["power_loss_lost_operations"], keeps["role cache"]) == ("redis", "250", "meets")
    assert (keeps["single-put-distinct-100 per_second"], keeps["single-get marks"]) == ("1000.5", "at_least")
    assert (other["version"], other["capabilities"], other["speeds_run"]) == ("'=cmd()", "", "")


def test_a_badge_says_what_was_proven(made: SiteContent) -> None:
    """As a picture without other files, and as JSON for an endpoint of shields."""
    badge = badge_of(made.variants[0], made)
    assert badge.message == "survives a power cut · 1 of 2 capabilities"
    assert json.loads(badge.endpoint) == {"schemaVersion": 1, "label": "storeproof", "message": badge.message, "color": badge.colour}
    root = ElementTree.fromstring(badge.svg)
    assert root.attrib["aria-label"] == f"storeproof: {badge.message}"


@pytest.mark.parametrize(("proven", "colour"), [("power_loss", "brightgreen"), ("process_crash", "red"), (None, "lightgrey")])
def test_a_badge_is_green_only_where_the_claim_was_proven(proven: str | None, colour: str) -> None:
    """Red where a fault refuted it, grey where nothing was shown."""
    kept = fault("power_loss", Outcome.FAIL if proven == "process_crash" else Outcome.PASS)
    made = struck("redis:aof-always", fault("process_crash"), kept)
    proved = made.model_copy(update={"durability": made.durability.model_copy(update={"proven": proven})})
    shown = content(result(proved))
    assert badge_of(shown.variants[0], shown).colour == colour


def test_a_store_is_stood_for_by_its_default_variant() -> None:
    """By the first one where the specification does not know the store."""
    made = content(result(*(struck(name, fault("process_crash")) for name in ("redis:volatile", "redis:aof-always", "own:b", "own:a"))))
    assert default_of(made.of_store("redis"), made).variant == made.stores["redis"].default_variant
    assert default_of(made.of_store("own"), made).variant == "b"


def test_the_data_have_every_cell_of_the_first_screen(made: SiteContent) -> None:
    """With run and anchor."""
    data = payload(made)
    assert data["run"] == 0
    keeps, other = data["variants"]
    assert keeps["answers"] == "pu"
    assert [name for name, *_ in data["faults"]] == ["process_crash", "power_loss"]
    assert keeps["losses"]["power_loss"]["at"] == "loss.redis.aof-always.power_loss"
    cells = keeps["speeds"]["0"]
    assert [each and each["rate"] for each in cells] == [2000, 1000.5, None, None]
    assert cells[0]["at_least"] is True
    assert "invalid" not in cells[0]
    assert other["answers"] == ""
    assert ratios(made) == []


def test_data_cannot_end_their_script_element() -> None:
    """And are read back as they were."""
    value = {"</script>": "<!-- & \u2028 ü"}
    assert "<" not in as_script(value)
    assert json.loads(as_script(value)) == value


def test_different_names_have_different_files_also_where_case_is_ignored() -> None:
    """A hostile name stays in its folder, and a long one fits."""
    texts = ["Redis", "redis", "re/dis", "re~2f~dis", "..", "", ".", "ü", "\u202e", "x" * 300, "x" * 301, "a.b"]
    slugs = [slug(each) for each in texts]
    assert len({each.lower() for each in slugs}) == len(texts)
    assert all(0 < len(each) <= 100 and "/" not in each and "." not in each for each in slugs)
    assert variant_page("a.b", "c") != variant_page("a", "b.c")
    assert run_page("../../x") == "run/~2e~~2e~~2f~~2e~~2e~~2f~x.html"
    assert capability_page("text.language-ja") == "capability/text.language-ja.html"


def test_an_anchor_tells_the_numbers_of_a_store_from_each_other() -> None:
    """By clients, indexes, pipeline, record and rate."""
    plain = rate("single-get", 1)
    changes = [{}, {"clients": 8}, {"indexes": 1}, {"pipeline": 16}, {"record": "size-1000"}, {"rate": 5000.0, "load_model": "open"}]
    anchors = {number_anchor("redis", "x", plain.model_copy(update=each)) for each in changes}
    assert len(anchors) == len(changes)
