"""Prints each failed case of a result as an annotation of GitHub, and its store: `python failures.py reports/latest/result.json`."""

import json
import pathlib
import sys


def escaped(text: str, also: str = "") -> str:
    """As GitHub reads it: a line break would end the annotation, and a colon or a comma its title."""
    for letter in f"%\r\n{also}":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text


stores = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["stores"]
for store in stores:
    for case in store["outcomes"]:
        if case["outcome"] in ("fail", "error"):
            title = f"{case['outcome']}: {store['store']}:{store['variant']} {case['id']}"
            print(f"::error title={escaped(title, ':,')}::{escaped(case['detail'])}")
