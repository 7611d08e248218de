"""How an operation can end other than well. Checks depend on the difference between these."""

from __future__ import annotations


class Refused(Exception):
    """The operation definitely did not happen: the store said no, or the request never left."""


class Unsupported(Exception):
    """The adapter or the store does not offer the operation, and says so."""


class Unknown(Exception):
    """The operation may have happened: the reply was lost, late, or left the question open."""


class WrongReply(Exception):
    """The server answered, and no answer of this form is allowed: a value of another type, a member too many, a reply that cannot be read.

    It is the store's answer that is wrong, where `Breach` is about the adapter's code.
    """


class Breach(Exception):
    """The adapter broke the contract: a reply of the wrong type or shape, or an error that it did not sort."""
