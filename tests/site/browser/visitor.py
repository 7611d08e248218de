"""A new user of the site: what they do is counted."""

from __future__ import annotations

from typing import Any


class Visitor:
    """Clicks, chooses, types and presses keys; each is one interaction."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.interactions = 0

    def click(self, selector: str) -> None:
        """The first element that a selector finds."""
        self.interactions += 1
        self.page.locator(selector).first.click()

    def follow(self, name: str) -> None:
        """A link by its text."""
        self.interactions += 1
        self.page.get_by_role("link", name=name, exact=True).first.click()

    def choose(self, label: str, option: str) -> None:
        """An option of a list."""
        self.interactions += 1
        self.page.get_by_label(label).select_option(label=option)

    def type(self, label: str, text: str) -> None:
        """Text into a field."""
        self.interactions += 1
        self.page.get_by_label(label, exact=True).fill(text)

    def press(self, key: str) -> None:
        """A key."""
        self.interactions += 1
        self.page.keyboard.press(key)

    def cell(self, variant: str, label: str) -> str:
        """What the first screen says of a variant in a column."""
        return str(self.page.locator(f'#table tr[data-variant="{variant}"] td[data-label="{label}"]').first.inner_text())

    @property
    def answer(self) -> str:
        """The sentence above the table."""
        return str(self.page.locator(".answer").inner_text())

    def after(self, heading: str) -> str:
        """The text between a heading, by its id, and the next one of the same level, of the page that was asked for last."""
        self.page.wait_for_function("(id) => document.readyState === 'complete' && document.getElementById(id)", arg=heading)
        return str(
            self.page.evaluate(
                """(id) => {
                  const heading = document.getElementById(id);
                  const words = [];
                  for (let each = heading.nextElementSibling; each && each.tagName !== heading.tagName; each = each.nextElementSibling) {
                    words.push(each.innerText);
                  }
                  return words.join("\\n");
                }""",
                heading,
            )
        )
