from collections.abc import Iterator

import pytest

from mockbroker import MockCluster

from .asking import let_lead


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 2}) as cluster:
        let_lead(cluster, 1)
        yield cluster
