"""Files in object stores and in HDFS: they are copied to this machine, and read from there."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from .errors import PipelineError

_SCHEME: Final = "://"
Tell = Callable[[str], None]


def fetched(paths: Iterable[str | Path], folder: Path, tell: Tell = lambda _: None) -> list[Path]:
    """Paths of this machine as they are; for each URI, such as `s3://bucket/logs`, a folder in `folder` into
    which all was copied that lies there. PipelineError for what can't be read, or an unknown scheme."""
    found: list[Path] = []
    for path in paths:
        if isinstance(path, Path) or _SCHEME not in path:
            found.append(Path(path))
        else:
            tell(f"copying {path}")
            found.append(_copy(path, folder / str(len(found) + 1)))
    return found


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
