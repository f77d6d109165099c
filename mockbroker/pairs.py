"""NAME=VALUE options of command lines."""


def pairs(option: str, values: list[str] | None) -> dict[str, str]:
    """NAME=VALUE options as a dict. ValueError for one without an equals sign."""
    found = {}
    for value in values or []:
        name, equals, rest = value.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} {value!r}: write it as NAME=VALUE")
        found[name] = rest
    return found
