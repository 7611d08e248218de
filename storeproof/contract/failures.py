"""How an operation can fail. The checks depend on the difference between these exceptions."""

from __future__ import annotations


class Refused(Exception):
    """The operation definitely did not happen: the store rejected it, or the request was never sent."""


class GaveUp(Refused):
    """As `Refused`: the store waited for a lock as long as the adapter lets it, and gave up. That says nothing of what it can do."""


class Unsupported(Exception):
    """The adapter or the store does not offer the operation. `what`: which, where many operations are refused for one reason."""

    def __init__(self, reason: str = "", what: str = "") -> None:
        super().__init__(f"{what}: {reason}" if what else reason)
        self.reason = reason


class Unknown(Exception):
    """The operation may have happened: the reply was lost, late, or inconclusive."""


class WrongReply(Exception):
    """The server's answer has a form that is not allowed: a value of another type, too many members, a reply that cannot be parsed.

    The store's answer is wrong; a `Breach`, in contrast, is an error in the adapter's code.
    """


RAISES = "an adapter may raise Refused, Unknown and Unsupported only"
"""What to do where it let another exception through."""


class Breach(Exception):
    """The adapter broke the contract: a reply of the wrong type or shape, or an exception that it did not map."""
