"""Files in object stores and in HDFS, and what comes through pipes: it is copied to this machine, or, where
Spark reads, file by file to the machines of its executors."""

import os
import select
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from .errors import PipelineError
from .readers.files import Refused, readable, walk

_SCHEME: Final = "://"
_PATIENCE_MS: Final = 2_000
"""How long a pipe may have nobody who writes into it."""
_AT_ONCE: Final = 8 << 20
_MORE: Final = 1 << 18
Tell = Callable[[str], None]


class File(NamedTuple):
    """A file of `size` bytes: its `name` is a path, or, if it is in the `store` that a URI names, a URI
    too."""

    name: str
    size: int
    store: str | None = None
    path: str = ""
    """Within the store."""


def is_uri(path: str | Path) -> bool:
    return not isinstance(path, Path) and _SCHEME in path


def listed(uri: str) -> list[File]:
    """The files that a URI names, in order of name. PipelineError for what can't be read, or an unknown
    scheme."""
    from pyarrow import fs

    with _told(uri):
        files, root = _store(uri)
        about = files.get_file_info(root)
        if about.type == fs.FileType.NotFound:
            raise PipelineError(f"{uri}: no such file or folder")
        found = [about]
        if about.type == fs.FileType.Directory:
            found = files.get_file_info(fs.FileSelector(root, recursive=True))
    name = uri.partition("?")[0].rstrip("/")
    return [
        File(f"{name}{each.path.removeprefix(root.rstrip('/'))}", each.size, uri, each.path)
        for each in sorted(found, key=lambda each: PurePosixPath(each.path))
        if each.type == fs.FileType.File
    ]


@contextmanager
def here(file: File, start: int = 0, end: int | None = None, lines: int = 0) -> Iterator[Path]:
    """The file, on this machine: of one in a store a copy, which has zeros in place of what is neither from
    `start` to before `end` nor among so many lines after that. PipelineError."""
    if file.store is None:
        yield Path(file.name)
        return
    with TemporaryDirectory(prefix="mockbroker-") as folder:
        own = PurePosixPath(file.path)
        path = Path(folder, own.parent.name.replace("..", "_") or "_", own.name)
        try:
            path.parent.mkdir()
            with _told(file.name):
                _copy_range(file, path, start, min(file.size if end is None else end, file.size), lines)
            yield path
        except Exception as error:
            told = str(error) if isinstance(error, PipelineError) else f"{type(error).__name__}: {error}"
            raise PipelineError(told.replace(str(path), file.name)) from error


def _copy_range(file: File, path: Path, start: int, end: int, lines: int) -> None:
    assert file.store is not None
    files, _ = _store(file.store)
    with files.open_input_file(file.path) as source, path.open("wb") as copy:
        copy.truncate(file.size)
        source.seek(start)
        copy.seek(start)
        while start < end and (data := source.read(min(_AT_ONCE, end - start))):
            start += copy.write(data)
        while lines > 0 and (data := source.read(_MORE)):
            lines -= data.count(b"\n")
            copy.write(data)


def _store(uri: str) -> tuple[Any, str]:
    from pyarrow import fs

    files, root = fs.FileSystem.from_uri(uri)
    return files, root


@contextmanager
def _told(uri: str) -> Iterator[None]:
    """Turns the errors of Arrow's file systems into one that names the URI."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, ValueError) as error:
        if isinstance(error, PipelineError):
            raise
        raise PipelineError(f"{uri}: {str(error).splitlines()[0]}") from None


def files_of(
    paths: Iterable[str | Path], folder: Path, refused: Refused, tell: Tell = lambda _: None, *, copy: bool
) -> list[File]:
    """The files that are meant, and those in folders. `folder` gets what comes through pipes, which can be
    read only once, and with `copy` what URIs name, such as `s3://bucket/logs`.

    PipelineError for what can't be read, or an unknown scheme; in a folder `refused` hears of it.
    """
    found: list[File] = []
    for number, path in enumerate(paths, 1):
        into = folder / str(number)
        if not is_uri(path):
            found += local(_through_pipe(Path(path), into, tell), refused)
        elif copy:
            tell(f"copying {path}")
            found += local(_copy(str(path), into), refused)
        else:
            tell(f"listing {path}")
            found += listed(str(path))
    return found


def local(path: Path, refused: Refused) -> list[File]:
    """A file of this machine, or those in a folder."""
    return [File(str(each), each.stat().st_size) for each in walk([path], refused)]


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
    from pyarrow import fs

    with _told(uri):
        files, root = _store(uri)
        about = files.get_file_info(root)
        if about.type == fs.FileType.NotFound:
            raise PipelineError(f"{uri}: no such file or folder")
        into.mkdir(parents=True)
        if about.type == fs.FileType.File:
            into /= Path(root).name
        fs.copy_files(root, str(into), source_filesystem=files)
    return into
