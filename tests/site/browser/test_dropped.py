"""A result of one's own, dropped on the first screen: the scripts find in it what Python finds, and bad files are one message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from storeproof.report.parts.first_screen import with_first_screen
from storeproof.result.model import FORMAT
from tests.report.sample import sample_result
from tests.site.browser.small import small_result

CELLS = "(rows) => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.innerText))"


def drop(page: Any, name: str, text: str) -> str:
    """Give the page a file by its field; what it says."""
    page.get_by_label("result.json", exact=True).set_input_files({"name": name, "mimeType": "application/json", "buffer": text.encode()})
    said = page.locator("#dropped")
    said.wait_for()
    return str(said.inner_text())


def test_the_scripts_find_in_a_result_what_python_finds(open_page: Any, small_site: str, small: Path) -> None:
    """The same result, published and dropped, has the same cells; its speeds are shown when its run is chosen."""
    page = open_page(f"{small_site}/index.html")
    said = drop(page, "result.json", (small / "result.json").read_text())
    assert said.startswith("result.json: 2 variants added to the table, marked “yours”.")
    published, own = page.locator("#table tbody tr:not(.own)"), page.locator("#table tbody tr.own")
    assert own.count() == published.count() == 2
    before = published.evaluate_all(CELLS)
    assert [cells[:4] for cells in own.evaluate_all(CELLS)] == [cells[:4] for cells in before]
    assert {cell for cells in own.evaluate_all(CELLS) for cell in cells[4:]} == {"–"}
    told, hint = "partition: 90 % lost; failover 2.75 s (promoted by storeproof)", "; failover: the median, at most 6 s"
    assert [each.locator("small", has_text="partition").all_inner_texts() for each in (published, own)] == [[told], [told]]
    assert all(each.locator("small span, small a").first.get_attribute("title").endswith(hint) for each in (published, own))
    page.get_by_label("speeds of run").select_option(label="result.json (yours), standard")
    assert [cells[4:] for cells in own.evaluate_all(CELLS)] == [cells[4:] for cells in before]
    assert {cell for cells in published.evaluate_all(CELLS) for cell in cells[4:]} == {"–"}


def test_the_scripts_judge_nothing(open_page: Any, small_site: str) -> None:
    """The page shows the verdicts of the result, whatever its records and its missing demands are."""
    said = small_result().model_dump(mode="json")
    screen = said["stores"][0]["first_screen"]
    assert (screen["roles"]["cache"]["verdict"], screen["losses"]["process_crash"]["state"]) == ("lacks", "lost")
    screen["roles"] = {"cache": {**screen["roles"]["cache"], "verdict": "meets"}}
    screen["losses"] = {"process_crash": {**screen["losses"]["process_crash"], "state": "kept", "text": "0 of 7"}}
    screen["speeds"]["single-get"] |= {"rate": 7, "low": 7, "high": 7, "invalid": None}
    screen["apart"] = {"single-put-distinct-100": "engine differs"}
    screen["product"] = "Another 1.0"
    page = open_page(f"{small_site}/index.html")
    drop(page, "x.json", json.dumps(said))
    page.get_by_label("speeds of run").select_option(label="x.json (yours), standard")
    row = page.locator("#table tr.own").first
    assert "Another 1.0" in row.inner_text()
    cells = row.evaluate("(row) => [...row.cells].slice(1).map((cell) => [cell.innerText, cell.className])")
    assert cells[:4] == [["✔ meets", "good"], ["–", ""], ["0 of 7", "good"], ["–", ""]]
    assert [text for text, _ in cells[4:]] == ["7±0 %A", "not comparable", "✘ errorsnot valid", "–"]


def test_a_file_is_dropped_by_the_pointer(open_page: Any, small_site: str) -> None:
    """Anywhere on the page."""
    page = open_page(f"{small_site}/index.html")
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.items.add(new File([text], "mine.json", { type: "application/json" }));
          for (const kind of ["dragenter", "dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        }""",
        small_result().model_dump_json(),
    )
    page.locator("#dropped").wait_for()
    assert page.locator("#table tr.own").count() == 2


def test_a_whole_hostile_result_is_text(open_page: Any, small_site: str) -> None:
    """Markup in it does nothing; all of its variants are shown."""
    spoilt = with_first_screen(sample_result()).model_dump(mode="json")
    for store in spoilt["stores"]:
        store |= {
            "title": "<img src=x onerror=alert(1)>",
            "variant": f"<b>{store['variant']}</b>\u202e",
            "version": "<script>alert(1)</script> 1.0",
        }
    page = open_page(f"{small_site}/index.html")
    drop(page, "<i>x</i>.json", json.dumps(spoilt))
    assert page.locator("#table tr.own").count() == len(spoilt["stores"])
    assert page.locator("#table img, #table b:not(.grade), #dropped i").count() == 0
    assert "\u202e" not in page.locator("#table").inner_text()
    assert "\\u202e" in page.locator("#table").inner_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.json is not JSON; give a result.json that `pytest suites/` wrote"),
        ("[1, 2", "x.json is not JSON; give"),
        ("7", "x.json is JSON, but no result of storeproof: it lacks `format` or `stores`; give"),
        ('{"stores": []}', "x.json is JSON, but no result of storeproof"),
        ('{"format": "2.4", "stores": []}', f"x.json has format 2.4; this page reads {FORMAT}; `storeproof site` reads all older ones"),
        (f'{{"format": "{FORMAT}", "stores": []}}', f"x.json is not a result in format {FORMAT}: run is undefined, and must be object"),
        (
            f'{{"format": "{FORMAT}", "run": {{"scale": "x", "started": "y"}}, "stores": [7]}}',
            f"x.json is not a result in format {FORMAT}: stores.0 is number, and must be object",
        ),
    ],
)
def test_a_bad_file_is_one_message(open_page: Any, small_site: str, text: str, message: str) -> None:
    """It says what was found and what to give, and the table stays as it was."""
    page = open_page(f"{small_site}/index.html")
    assert drop(page, "x.json", text).startswith(message)
    assert page.locator("#table tbody tr").count() == 2
    assert page.locator("#table tr.own").count() == 0


@pytest.mark.parametrize("place", ["durability", "first_screen", "capabilities", "variant"])
def test_a_result_that_lacks_a_field_is_one_message(open_page: Any, small_site: str, place: str) -> None:
    """With the name of the field."""
    broken = small_result().model_dump(mode="json")
    del broken["stores"][1][place]
    page = open_page(f"{small_site}/index.html")
    assert f"stores.1.{place} is undefined" in drop(page, "x.json", json.dumps(broken))
    assert page.locator("#table tr.own").count() == 0
