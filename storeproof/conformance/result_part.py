"""The result in a bundle: it has one notation, so that no other tool finds something else in it, as where a key is there twice."""

from __future__ import annotations

import re
from typing import Final

from storeproof.conformance.archive import RESULT, Archive
from storeproof.conformance.reasons import ClaimRefused, Reason
from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.result.json_file import result_from, written
from storeproof.result.model import FORMAT, Result

OLDEST: Final = (2, 2)
"""The oldest format of a result that is verified. Those before it are completed with verdicts while they are read."""

_BEGIN: Final = re.compile(rb'\{\n "format": "([0-9]{1,4})\.([0-9]{1,4})",')
_NEWEST: Final = tuple(int(part) for part in FORMAT.split("."))


def result_of(archive: Archive) -> Result:
    """The result in an archive.

    Raises:
        ClaimRefused: it is none, is in a format that is not verified, or is not written as a run writes it.
    """
    content = archive.read(RESULT)
    found = _BEGIN.match(content)
    if found is None or not OLDEST <= (int(found[1]), int(found[2])) <= _NEWEST:
        older = ".".join(map(str, OLDEST))
        raise ClaimRefused(
            Reason.RESULT, f"{RESULT} is not in format {FORMAT}, or one from {older} on, as a run writes it; run the suites again"
        )
    try:
        text = content.decode("utf-8")
        result = result_from(text, RESULT)
    except UnicodeDecodeError:
        raise ClaimRefused(Reason.RESULT, f"{RESULT} is not text in UTF-8") from None
    except UsageError as reason:
        raise ClaimRefused(Reason.RESULT, in_one_line(str(reason))) from None
    if content != _in_its_notation(result):
        raise ClaimRefused(Reason.RESULT, f"{RESULT} is not written as a run writes it")
    return result


def _in_its_notation(result: Result) -> bytes:
    """As the release of its format wrote it: without the fields that came later. A value of another type, such as "0" for 0, is written
    otherwise than it was found."""
    return written(result) if result.format == FORMAT else f"{result.model_dump_json(indent=1, exclude_unset=True)}\n".encode()
