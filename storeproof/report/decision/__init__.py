"""The answer to a needs file: on the screen, as a page, as a decision record, and as JSON."""
