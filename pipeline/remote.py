"""Files in object stores and in HDFS, and what comes through pipes: it is copied, and read from there."""

import os
import select
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import copyfileobj
from typing import Final

from .errors import PipelineError
from .readers.files import readable

_SCHEME: Final = "://"
_PATIENCE_MS: Final = 2_000
"""How long a pipe may have nobody who writes into it."""
Tell = Callable[[str], None]


def fetched(paths: Iterable[str | Path], folder: Path, tell: Tell = lambda _: None) -> list[Path]:
    """Paths of this machine as they are. For a pipe, which can be read only once, a copy in `folder`; for
    each URI, such as `s3://bucket/logs`, a folder there into which all was copied.

    PipelineError for what can't be read, or an unknown scheme.
    """
    found: list[Path] = []
    for path in paths:
        into = folder / str(len(found) + 1)
        if isinstance(path, Path) or _SCHEME not in path:
            found.append(_through_pipe(Path(path), into, tell))
        else:
            tell(f"copying {path}")
            found.append(_copy(path, into))
    return found


def _through_pipe(path: Path, into: Path, tell: Tell) -> Path:
    """The path itself, unless it is a pipe."""
    with readable(path):
        kind = path.stat().st_mode
        if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
            return path
        if not stat.S_ISFIFO(kind):
            raise PipelineError(f"{path}: neither a file, a folder nor a pipe")
        tell(f"reading the pipe {path}")
        into.mkdir(parents=True)
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb", buffering=0) as pipe:
            waiting = select.poll()
            waiting.register(pipe, select.POLLIN)
            waiting.poll(_PATIENCE_MS)
            # None: somebody writes to it, and has not written anything yet.
            first = pipe.read(1)
            if first == b"":
                raise PipelineError(f"{path}: a pipe into which nobody writes")
            os.set_blocking(pipe.fileno(), True)
            with (into / path.name).open("wb") as file:
                file.write(first or b"")
                copyfileobj(pipe, file)
    return into / path.name


def _copy(uri: str, into: Path) -> Path:
    import pyarrow as pa
    from pyarrow import fs

    try:
        files, root = fs.FileSystem.from_uri(uri)
        about = files.get_file_info(root)
        if about.type == fs.FileType.NotFound:
            raise PipelineError(f"{uri}: no such file or folder")
        into.mkdir(parents=True)
        if about.type == fs.FileType.File:
            into /= Path(root).name
        fs.copy_files(root, str(into), source_filesystem=files)
    except (OSError, pa.ArrowException, ValueError) as error:
        if isinstance(error, PipelineError):
            raise
        raise PipelineError(f"{uri}: {str(error).splitlines()[0]}") from None
    return into
