"""AlterReplicaLogDirs, as far as recorded answers don't say: they are of brokers with one folder."""

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.alter_replica_log_dirs import AlterReplicaLogDir, AlterReplicaLogDirsRequest
from mockbroker.protocol.messages.common import NamePartitions

from ..driving.cluster import a_cluster, ask


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/a", ErrorCode.NONE),
        ("/b", ErrorCode.NONE),
        ("/c", ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        ("/d", ErrorCode.LOG_DIR_NOT_FOUND),
    ],
)
def test_of_several_folders_each_takes_replicas_that_is_not_cordoned(path: str, code: ErrorCode) -> None:
    cluster = a_cluster(brokers=1, log_dirs="/a, /b, /c", cordoned_log_dirs="/c")
    cluster.create_topic("t", [[1]])
    asked = AlterReplicaLogDir(path, [NamePartitions("t", [0])])
    (result,) = ask(cluster, AlterReplicaLogDirsRequest([asked])).results
    assert [(each.partition_index, each.error_code) for each in result.partitions] == [(0, code)]
