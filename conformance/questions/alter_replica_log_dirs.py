"""AlterReplicaLogDirs: KIP-113; as brokers with one folder answer, in which all replicas are already."""

from typing import Any

from ...rig import batches
from ..registry import Scene, Steps, question
from .describe_configs import BROKER


def _to(path: str, *topics: tuple[str, tuple[int, ...]]) -> dict[str, Any]:
    return {
        "path": path,
        "topics": [{"name": name, "partitions": list(partitions)} for name, partitions in topics],
    }


def _folder(s: Scene, broker: int = 0) -> str:
    answer = s.call("describe_log_dirs", {"topics": []}, client=s.new_client(broker=broker))
    return str(answer["results"][0]["log_dir"])


def the_folder_it_is_in(s: Scene) -> Steps:
    topic, folder = s.topic(partitions=2), _folder(s)
    s.produce(topic, batches.batch(3))
    yield "one", s.ask(dirs=[_to(folder, (topic, (0,)))])
    yield "two", s.ask(dirs=[_to(folder, (topic, (0, 1)))])
    yield "again", s.ask(dirs=[_to(folder, (topic, (0, 0)))])
    yield "in two entries", s.ask(dirs=[_to(folder, (topic, (0,))), _to(folder, (topic, (0, 1)))])
    yield "topic twice", s.ask(dirs=[_to(folder, (topic, (0,)), (topic, (1,)))])
    yield "the log is still there", s.offset(topic)


def other_folders(s: Scene) -> Steps:
    topic, folder = s.topic(), _folder(s)
    for label, path in {
        "unknown": "/nowhere",
        "relative": "nowhere",
        "empty": "",
        "with a slash at its end": f"{folder}/",
        "its parent": folder.rpartition("/")[0],
    }.items():
        yield label, s.ask(dirs=[_to(path, (topic, (0,)))])
    yield (
        "first unknown, then known",
        s.ask(dirs=[_to("/nowhere", (topic, (0,))), _to(folder, (topic, (0,)))]),
    )
    yield (
        "first known, then unknown",
        s.ask(dirs=[_to(folder, (topic, (0,))), _to("/nowhere", (topic, (0,)))]),
    )


def odd_partitions(s: Scene) -> Steps:
    topic, folder = s.topic(), _folder(s)
    yield "unknown partition", s.ask(dirs=[_to(folder, (topic, (0, 1, -1)))])
    yield "unknown topic", s.ask(dirs=[_to(folder, (s.name("unknown"), (0,)))])
    yield "unknown topic and folder", s.ask(dirs=[_to("/nowhere", (s.name("unknown"), (0,)))])
    yield "invalid names", s.ask(dirs=[_to(folder, ("", (0,)), ("a/b", (0,)), (".", (0,)))])
    yield "no partitions", s.ask(dirs=[_to(folder, (topic, ()))])
    yield "no topics", s.ask(dirs=[_to(folder)])
    yield "nothing", s.ask(dirs=[])


def long_names(s: Scene) -> Steps:
    """The folder of a move needs 40 characters more."""
    folder = _folder(s)
    for length in (211, 212, 213, 214, 249):
        name = s.name("l")
        name = name + "x" * (length - len(name))
        answer = s.ask(dirs=[_to(folder, (name, (0,)))])
        yield f"{length}", answer["results"][0]["partitions"]


@question(brokers=3)
def replicas(s: Scene) -> Steps:
    """Each broker moves only its own."""
    topic = s.topic(replicas=[[0, 1]])
    for rank in range(3):
        folder = _folder(s, rank)
        yield f"broker {rank}", s.ask(dirs=[_to(folder, (topic, (0,)))], client=s.new_client(broker=rank))


@question(newest_only=True)
def cordoned(s: Scene) -> Steps:
    """A cordoned folder (KIP-1066, since 4.3) takes no replica, not even its own."""
    topic, folder = s.topic(), _folder(s)
    for value in ("*", None):
        altered = s.configure(BROKER, str(s.node(0)), cordoned_log_dirs=value)
        yield "configured", altered["responses"][0]["error_code"]
        s.target.network.sleep(1)
        yield f"{value}", s.ask(dirs=[_to(folder, (topic, (0,)))])
