"""Text of others in lines of ours."""


def shown(text: str) -> str:
    r"""`text` in one line that a terminal takes as text: what can't be printed is escaped, as `\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )
