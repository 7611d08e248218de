"""The ways in which an operation can fail. The checks depend on the difference between them."""

from __future__ import annotations


class Refused(Exception):
    """The operation definitely did not happen: the store rejected it, or the request was never sent."""


class Unsupported(Exception):
    """The adapter or the store does not offer the operation."""


class Unknown(Exception):
    """The operation may have happened: the reply was lost, late, or inconclusive."""


class WrongReply(Exception):
    """The server answered, and no answer of this form is allowed: a value of another type, a member too many, a reply that cannot be read.

    It is the store's answer that is wrong, where `Breach` is about the adapter's code.
    """


class Breach(Exception):
    """The adapter broke the contract: a reply of the wrong type or shape, or an exception that it did not translate."""
