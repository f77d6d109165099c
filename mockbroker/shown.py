"""Shows text from outside within one of our lines."""


def shown(text: str) -> str:
    r"""`text` in one line, with everything escaped that a terminal can't print, as in `\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )
