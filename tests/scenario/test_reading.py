"""What a scenario says, and where it is wrong."""

from pathlib import Path

import pytest

from mockbroker.scenario.document import ScenarioError
from mockbroker.scenario.durations import seconds
from mockbroker.scenario.playing import fits
from mockbroker.scenario.scenario import Moment, load

SCENARIO = """\
[cluster]
kafka = "3.9"
topics = { orders = 1 }
config = { "default.replication.factor" = 3, "auto.create.topics.enable" = false }

[[fault]]
name = "lost"
do = "disconnect"
api = "Produce"
when = "after"
times = 1

[[step]]
on = { fault = "lost", hits = 2 }
after = "500ms"
do = "brokers cut-off"
broker = 1
from = [2, "controller"]

[[step]]
after = "1m"
do = "faults add"
fault = { do = "delay", ms = 5 }

[[check]]
do = "partitions replicas"
topic = "orders"
partition = 0
within = "5s"
expect = [{ broker = 1, in_sync = true }]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("written", "read"),
    [('"kafka.example"', "kafka.example"), ('["a:1", "b:2", "c:3"]', ["a:1", "b:2", "c:3"])],
)
def test_a_scenario_says_what_is_advertised(tmp_path: Path, written: str, read: object) -> None:
    assert load(write(tmp_path, f"[cluster]\nadvertise = {written}\n")).cluster["advertise"] == read


@pytest.mark.parametrize("written", ['"dump.txt"', '["dump.txt"]'])
def test_a_scenario_names_files_of_offsets_as_seen_from_its_folder(tmp_path: Path, written: str) -> None:
    cluster = load(write(tmp_path, f'[cluster]\noffsets = {written}\nnow = "wall"\n')).cluster
    assert cluster["offsets"] == [tmp_path / "dump.txt"]
    assert cluster["now"] == "wall"


@pytest.mark.parametrize("written", ["5", "true", "[5]", '["a:1", "b:2"]', '"a:0"'])
def test_what_can_not_be_advertised_is_told_with_its_line(tmp_path: Path, written: str) -> None:
    with pytest.raises(ScenarioError, match=r"scenario.toml:2: \[cluster\]: .*advertise"):
        load(write(tmp_path, f"[cluster]\nadvertise = {written}\n"))


def test_a_scenario_is_read(tmp_path: Path) -> None:
    scenario = load(write(tmp_path, SCENARIO))
    assert scenario.cluster["config"] == {
        "default.replication.factor": "3",
        "auto.create.topics.enable": "false",
    }
    [fault] = scenario.faults
    assert (fault.name, fault.given["do"]) == ("lost", "disconnect")
    cut, added = scenario.steps
    assert cut.moment == Moment(0.5, "lost", 2)
    assert cut.action.arguments == {"broker": 1, "from_": [2, "controller"]}
    assert (added.moment, added.action.arguments) == (Moment(60.0, None, 1), {"do": "delay", "ms": 5})
    [check] = scenario.checks
    assert (check.within_s, check.expect) == (5.0, [{"broker": 1, "in_sync": True}])
    assert check.moment is None


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ('on = "lost"', Moment(0, "lost", 1)),
        ('on = { fault = "lost", hits = 3 }\nafter = "1s"', Moment(1, "lost", 3)),
        ('after = "1m"', Moment(60, None, 1)),
    ],
)
def test_a_check_has_a_moment_as_a_step_has(tmp_path: Path, written: str, moment: Moment) -> None:
    [check] = load(write(tmp_path, SCENARIO.replace("[[check]]", f"[[check]]\n{written}"))).checks
    assert check.moment == moment


def test_a_check_on_an_unknown_fault_is_told_with_its_line(tmp_path: Path) -> None:
    text = SCENARIO.replace("[[check]]", '[[check]]\non = "last"')
    line = text[: text.index('on = "last"')].count("\n") + 1
    with pytest.raises(
        ScenarioError, match=rf"scenario\.toml:{line}: \[\[check\]\] 1: no fault named 'last'"
    ):
        load(write(tmp_path, text))


def test_an_empty_scenario_is_a_cluster_and_nothing_else(tmp_path: Path) -> None:
    scenario = load(write(tmp_path, ""))
    assert (scenario.faults, scenario.steps, scenario.checks) == ((), (), ())


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("[[check]]", "[[chek]]", "no such table: did you mean 'check'"),
        ('kafka = "3.9"', 'kafak = "3.9"', "no key 'kafak': did you mean 'kafka'"),
        ('kafka = "3.9"', "kafka = 3.9", "kafka is 3.9: give text"),
        ('kafka = "3.9"', 'kafka = "3.99"', "no Kafka release '3.99'"),
        ("orders = 1", "orders = 0", "give its number of partitions"),
        ('"auto.create', '"auto.crate', "auto.crate.topics.enable"),
        ('name = "lost"', 'nam = "lost"', "a fault 'disconnect' has no field 'nam'"),
        ('name = "lost"', "name = 7", "name is 7: give text, or leave it out"),
        ('do = "disconnect"', 'do = "brokers stop"', "is an operation: write it as a [[step]], with after ="),
        ('do = "brokers cut-off"', 'do = "disconnect"', "is what a fault does: write it as a [[fault]]"),
        ('do = "partitions replicas"', 'do = "delay"', "is what a fault does: write it as a [[fault]]"),
        ("times = 1", 'after = "1s"', "a fault is there from the beginning"),
        ('after = "1m"', 'expect = 1\nafter = "1m"', "write it as a [[check]]"),
        ("topics = { orders = 1 }", "brokers = 0", "0 brokers"),
        ("topics = { orders = 1 }", 'topics = { "a b" = 1 }', "topic 'a b'"),
        ("topics = { orders = 1 }", 'racks = { 4 = "a" }', "choose 1 to 3"),
        ('api = "Produce"', 'api = "Prodce"', "did you mean 'Produce'"),
        ("times = 1", "tims = 1", "did you mean 'times'"),
        ('fault = "lost"', 'fault = "last"', "no fault named 'last': did you mean 'lost'"),
        ("hits = 2", "hist = 2", "no key 'hist': did you mean 'hits'"),
        ('after = "500ms"', "after = 500", "500 is not a duration"),
        ('do = "brokers cut-off"', 'do = "brokers cutoff"', "did you mean 'brokers cut-off'"),
        ("broker = 1\nfrom", "brokr = 1\nfrom", "no key 'brokr': did you mean 'broker'"),
        ("broker = 1\nfrom", 'broker = "one"\nfrom', "broker is 'one': give a number"),
        ('[[step]]\nafter = "1m"\n', "[[step]]\n", "when? Give after"),
        ("ms = 5", "sm = 5", "a fault 'delay' has no field 'sm'"),
        ('topic = "orders"', 'topik = "orders"', "no key 'topik': did you mean 'topic'"),
        ("expect", "expct", "did you mean 'expect'"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_an_error_names_its_place_and_what_would_be_right(
    tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    assert SCENARIO.count(right) == 1
    path = write(tmp_path, SCENARIO.replace(right, wrong))
    line = SCENARIO[: SCENARIO.index(right)].count("\n") + 1
    with pytest.raises(ValueError, match=rf"scenario\.toml:{line}: ") as raised:
        load(path)
    assert message in str(raised.value)


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    text = '[[step]]\nafter = "1s"\ndo = "brokers stop"\n'
    with pytest.raises(ValueError, match=r"scenario\.toml:3: \[\[step\]\] 1: brokers stop needs broker"):
        load(write(tmp_path, text))


def test_what_is_no_toml_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"scenario\.toml:2: Invalid value$"):
        load(write(tmp_path, "[cluster]\nkafka = = 1\n"))


@pytest.mark.parametrize("key", ['kafka = "3.9"', "[topics]\norders = 1", "brokers.x = 1"])
def test_what_is_the_clusters_stands_below_it(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match=r"scenario\.toml:2: \w+ stands below \[cluster\]"):
        load(write(tmp_path, f"# a comment\n{key}\n"))


@pytest.mark.parametrize("others", ["", "min."])
def test_configurations_are_read_together(tmp_path: Path, others: str) -> None:
    """Each alone contradicts a default."""
    heartbeats = [f"group.share.{limit}heartbeat.interval.ms" for limit in dict.fromkeys(("", others))]
    text = "[cluster.config]\n" + "\n".join(f'"{name}" = "100"' for name in heartbeats)
    if others:
        assert len(load(write(tmp_path, text)).cluster["config"]) == 2
    else:
        with pytest.raises(
            ScenarioError, match=r":2: \[cluster\]: .* set group.share.heartbeat.interval.ms to"
        ):
            load(write(tmp_path, text))


def test_a_step_that_does_nothing_is_asked_what(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"scenario\.toml:1: \[\[step\]\] 1: do what\?"):
        load(write(tmp_path, '[[step]]\nafter = "1s"\n'))


def test_faults_without_a_name_are_numbered_as_they_stand(tmp_path: Path) -> None:
    text = '[[fault]]\ndo = "silence"\n\n[[fault]]\nname = "x"\ndo = "silence"\n\n[[fault]]\ndo = "silence"\n'
    assert [each.name for each in load(write(tmp_path, text)).faults] == ["1", "x", "3"]
    step = '[[step]]\non = "3"\ndo = "brokers stop"\nbroker = 1\n'
    assert load(write(tmp_path, text + step)).steps[0].moment.fault == "3"


def test_a_check_only_looks(tmp_path: Path) -> None:
    text = '[[check]]\ndo = "brokers stop"\nbroker = 1\nexpect = {}\n'
    with pytest.raises(ValueError, match="changes the cluster"):
        load(write(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"can't read .*none\.toml: No such file"):
        load(tmp_path / "none.toml")


@pytest.mark.parametrize(("text", "expected"), [("500ms", 0.5), ("2s", 2), ("1.5m", 90), ("1h", 3600)])
def test_times_are_written_with_a_unit(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "1", "-1s", "1d", "s", "1s2s", ".5s", 5, None])
def test_times_without_a_unit_are_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration: write it as '500ms'"):
        seconds(text)


def test_an_answer_fits_what_is_expected_of_it() -> None:
    answer = [{"broker": 1, "isr": [1, 2]}, {"broker": 2, "isr": [1]}]
    assert fits([{"broker": 2}], answer)
    assert fits([{"broker": 1, "isr": [2]}], answer)
    assert not fits([{"broker": 2, "isr": [2]}], answer)
    assert not fits({"broker": 1}, answer)
    assert not fits({"leader": 1}, {"broker": 1})
