"""`product.yaml`: whose product a conformance claim is about."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, StringConstraints

from storeproof.spec.base import LINK_PATTERN, SpecFile
from storeproof.spec.questions.readable_name import readable_name

Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$"),
    AfterValidator(readable_name),
]
Link = Annotated[str, StringConstraints(max_length=300, pattern=LINK_PATTERN)]


class Product(SpecFile):
    """The identity of a product."""

    organization: Line
    """Who makes the claim."""
    product: Line
    """The product's name, as its server reports it."""
    version: Line
    """Its version, as its server reports it."""
    url: Link
    """Where it is described."""
    contact: Line
    """Whom to ask about the claim: an address or a URL."""
    mode: Literal["self-managed", "managed-service", "embedded"]
    """How it is operated: by its user, as a service of its vendor, or as a library in the user's process."""
