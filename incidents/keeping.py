"""What is kept of a recording: brokers' logs, checkpoints and segments, and clients' logs, in an archive."""

import contextlib
import io
import re
import shutil
import socket
import tarfile
from pathlib import Path
from typing import Final

from mockbroker.rig.real_broker import CONTROLLER

from .cluster import RecordedCluster

ARCHIVE: Final = "files.tar.xz"
TRUTH: Final = "truth.toml"
_INTERNAL: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
_CHECKPOINTS: Final = "*-checkpoint"
_RESOLVER: Final = re.compile(rb"(?<= on )[\d.]+(?=:53: )")
_HOME: Final = re.compile(rb"/(?:root|home|work)/[^\s,;:\"']*")


def keep(cluster: RecordedCluster, clients: Path, topics: tuple[str, ...], folder: Path) -> None:
    """Copies into the new `folder`, without what only tells of this machine."""
    for node in (*cluster.nodes, CONTROLLER):
        own = folder / (f"broker{node}" if node in cluster.ports else "controller")
        own.mkdir(parents=True)
        for log in cluster.logs(node).glob("*"):
            if log.stat().st_size:
                _copy(log, own / log.name, cluster)
    for node in cluster.nodes:
        _keep_disk(cluster.data(node), topics, folder / f"broker{node}" / "data")
        if (second := cluster.second_disk(node)).exists():
            _keep_disk(second, topics, folder / f"broker{node}" / "second")
    (folder / "clients").mkdir()
    for log in clients.glob("*.log"):
        _copy(log, folder / "clients" / log.name, cluster)


def _keep_disk(data: Path, topics: tuple[str, ...], own: Path) -> None:
    for checkpoint in data.glob(_CHECKPOINTS):
        own.mkdir(exist_ok=True)
        shutil.copy(checkpoint, own)
    for partition in sorted(each for each in data.iterdir() if each.is_dir()):
        topic = partition.name.rpartition("-")[0]
        if topic in topics or (topic in _INTERNAL and _used(partition)):
            (own / partition.name).mkdir()
            for file in partition.iterdir():
                with contextlib.suppress(FileNotFoundError):  # retention deleted it meanwhile
                    shutil.copy2(file, own / partition.name)


def _used(partition: Path) -> bool:
    return any(each.stat().st_size for each in partition.glob("*.log"))


def _copy(log: Path, into: Path, cluster: RecordedCluster) -> None:
    text = log.read_bytes().replace(str(cluster.folder).encode(), b"/tmp/kafka")
    text = text.replace(socket.gethostname().encode(), b"localhost")
    text = _RESOLVER.sub(b"192.0.2.53", text)
    into.write_bytes(_HOME.sub(b"/opt/kafka", text))


def pack(folder: Path, archive: Path) -> None:
    """Writes the files of `folder` as xz: logs that repeat each other take little room."""
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                data = path.read_bytes()
                info = tarfile.TarInfo(str(path.relative_to(folder)))
                info.size, info.mtime = len(data), int(path.stat().st_mtime)
                packed.addfile(info, io.BytesIO(data))
