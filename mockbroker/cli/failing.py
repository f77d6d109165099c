"""How commands say why they can't do something."""


def why(error: Exception) -> str:
    """In one line; for a file its name, and what the system says of it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
