"""Models of a reader's own, and requests, in a needs file: what is read, what is refused, and whose evidence counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from storeproof.errors import SpecError
from storeproof.spec.questions.needs import NeedsFile
from storeproof.spec.questions.read_needs import read_needs
from tests.architecture.installed import CHECKOUT
from tests.shipped import SHIPPED

FILE = """\
format: "1.1"
decision: d
question: Which?
models:
  order:
    record: {kind: document, shape: {object: {customer: {text: 24}, total: {real: 64}}}}
    indexes: [[customer]]
  session: {record: {kind: hash, fields: [user, token], size: 64}}
roles:
  orders:
    model: order
    load:
      mix: [{name: a, operation: find, request: {filter: [total, gt, 1]}}, {operation: get}]
      rate: 10
  sessions: {model: session}
"""


def read(tmp_path: Path, text: str = FILE) -> NeedsFile:
    path = tmp_path / "needs.yaml"
    path.write_text(text)
    return read_needs(path, SHIPPED)


def test_a_role_names_its_model_by_what_it_says(tmp_path: Path) -> None:
    """So that a result of another model with that name is no evidence; a title changes nothing."""
    first = read(tmp_path).roles["orders"].model
    assert first.startswith("order-")
    assert read(tmp_path, FILE.replace("  order:\n", "  order:\n    title: Ours\n")).roles["orders"].model == first
    for old, new in (("text: 24", "text: 25"), ("indexes: [[customer]]", "indexes: []"), ("real: 64", "integer: 64")):
        assert read(tmp_path, FILE.replace(old, new)).roles["orders"].model != first, new


def test_a_store_claims_it_if_it_claims_records_of_its_kind(tmp_path: Path) -> None:
    """Its file cannot name it."""
    needs = read(tmp_path)
    spec = SHIPPED.with_models(needs.own_models)
    order, session = (needs.roles[name].model for name in ("orders", "sessions"))
    assert {order, session} <= set(spec.store("sqlite")[0].claims.models)
    redis = set(spec.store("redis")[0].claims.models)
    assert session in redis
    assert (order in redis) == any(SHIPPED.models[name].record.kind == "document" for name in SHIPPED.store("redis")[0].claims.models)
    assert not {order, session} & set(spec.store("memcached")[0].claims.models)
    assert not {order, session} & set(SHIPPED.store("sqlite")[0].claims.models)


def test_its_cases_belong_to_no_edition_and_come_in_no_edition_too_late(tmp_path: Path) -> None:
    """A frozen edition is tried with them, and keeps its name and its hash."""
    needs = read(tmp_path)
    spec = SHIPPED.with_models(needs.own_models)
    assert spec.edition == SHIPPED.edition
    order = needs.roles["orders"].model
    assert spec.suite_cases - SHIPPED.suite_cases >= {f"stateful.{order}", f"concurrency.whole/{order}"}
    assert spec.later_cases == SHIPPED.later_cases


def test_the_example_of_the_documentation_is_valid(tmp_path: Path) -> None:
    """With a head, it is a file of needs."""
    page = (CHECKOUT / "docs" / "NEEDS.md").read_text()
    example = page.partition("```yaml\n")[2].partition("```")[0]
    head = 'format: "1.1"\ndecision: d\nquestion: Which?\n'
    assert {name for name, role in read(tmp_path, head + example).roles.items() if role.load and role.load.requests} == {"orders"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  order:\n", "  product:\n", "5: models.product: found product, which is a model of the specification; allowed: another name"),
        ("model: order", "model: ordr", "11: roles.orders.model: unknown model `ordr` (did you mean `order`?)"),
        ("kind: document", "kind: counter", "6: models.order.record"),
        ("text: 24", "text: 16", "no text that is long enough; allowed: one text of 17 characters or more"),
        ("text: 24", "text: 2000000", "6: models.order.record: found a record of 2,000,008 bytes; allowed: at most 1,048,576"),
        ("customer: {text: 24}", "customer: {text: 24}, x: {list: 100000000, of: {text: 3}}", "found more than 1000 fields and items"),
        ("customer: {text: 24}", 'customer: {text: 24}, "a.b": {text: 3}', "found the field 'a.b'; allowed: a letter, then"),
        ("customer: {text: 24}", "customer: {text: 24}, Total: {text: 3}", "found two fields with one name"),
        ("[[customer]]", "[[buyer]]", "7: models.order.indexes.0: found the path buyer; allowed: that of a field of the record"),
        ("size: 64", "size: 16", "8: models.session.record.size: found fields of 16 bytes; allowed: 17 or more"),
        ("[user, token]", "[user, key]", "found key, which is the column of the key"),
        ("[user, token]", "[]", "found 0 fields; allowed: 1 to 1000"),
        ("    indexes: [[customer]]", "    text: [[customer]]", "7: models.order.text"),
        (
            "operation: find, request: {filter: [total, gt, 1]}",
            "operation: find",
            "13: roles.orders.load.mix.0.request: `find` needs a request",
        ),
        ("{operation: get}", "{operation: get, request: {}}", "13: roles.orders.load.mix.1.request: `get` takes none; allowed: of find,"),
        ("[total, gt, 1]", "[total, above, 1]", "13: roles.orders.load.mix.0.request"),
        (
            "[total, gt, 1]",
            "[customer, eq, $word]",
            "roles.orders.load.mix.0.request: found $word, which stands for a part of an article; allowed: on records of corpus",
        ),
        ("[total, gt, 1]", "[customer, eq, $name]", "found $name; allowed: $word, $language, $category"),
        ("{operation: get}", "{name: a, operation: get}", "13: roles.orders.load.mix.1: found two that are called a"),
        ("model: order\n", "model: session\n", "found find on records of the kind hash; allowed: on documents"),
        ("mix: [{name: a, operation: find, request: {filter: [total, gt, 1]}}, {operation: get}]", "workload: row-get", "allowed: a `mix`"),
        ('"1.1"', '"1.4"', '1: format: found \'1.4\'; allowed: "1.0" or "1.1" or "1.2" or "1.3"; a newer file needs a newer storeproof'),
    ],
)
def test_an_error_names_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What was found, and what is allowed."""
    assert old in FILE
    with pytest.raises(SpecError) as raised:
        read(tmp_path, FILE.replace(old, new))
    assert any(message in each for each in raised.value.problems), raised.value.problems
