"""The few words a wire may say of its own, where a provider refuses silence."""

from __future__ import annotations

NO_OUTPUT = "(no output)"
OPENING_USER = "(The conversation continues.)"
BETWEEN_USERS = "(Read.)"


def is_blank(text: str | None) -> bool:
    """Whether a provider would refuse the text as a part: nothing but white space."""
    return not text or text.isspace()


def shown_result(content: str) -> str:
    """A result's text as it is; a blank one keeps its place in words."""
    return NO_OUTPUT if is_blank(content) else str(content)
