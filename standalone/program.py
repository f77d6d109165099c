"""`mockbroker`, where there is no Python."""

import multiprocessing
import os
import sys

from mockbroker.cli import main


def _as_found() -> None:
    """What is started must not load the libraries of this folder (PyInstaller, "LD_LIBRARY_PATH")."""
    found = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if found is None:
        os.environ.pop("LD_LIBRARY_PATH", None)
    else:
        os.environ["LD_LIBRARY_PATH"] = found


if __name__ == "__main__":
    _as_found()
    multiprocessing.freeze_support()
    try:
        main()
    except ModuleNotFoundError as error:
        why = f"{error.name} is not part of the standalone program"
        sys.stderr.write(f"mockbroker: {why}: use `pip install mockbroker` for this\n")
        sys.exit(2)
