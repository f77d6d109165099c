"""How commands say why they can't do something."""


def why(error: Exception) -> str:
    """The error in one line; for a file with its name and the system's message."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
