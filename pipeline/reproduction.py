"""How an incident can be shown again: as a simulated history, and as a test and a scenario with a cluster.

The simulation itself is imported only when a history is drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Final

from ..simulation.consumer_setting import Commit
from ..simulation.plan import Options, Plan
from ..simulation.producer_setting import Generation

Prevents = Callable[[Plan], Plan]
Fits = Callable[[str, str], bool]
_LATE_MS: Final = 3_000


@dataclass(frozen=True, slots=True)
class Template:
    """Texts in which `{topic}`, `{kafka}` and `{story}` are to be filled in, and `{group}` with its quotes.
    In the scenario `failing` is the line that `passing` takes the place of where the incident is prevented.
    """

    test: str
    scenario: str | None = None
    failing: str = ""
    passing: str = ""


def always(why: str, evidence: str) -> bool:
    """Fits any incident."""
    return True


def unchanged(plan: Plan) -> Plan:
    """The same plan."""
    return plan


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Of incidents that are called one of `names`: a plan for each seed, of a release (`kafka` if no other is
    asked for), and the same with what prevents the incident. `fails` and `passes` say what these have.

    If an invariant says what is wrong, seeds are tried until a plan violates it; else a plan always shows the
    incident, and `template` has the files that do so with a cluster. Without plan there is only the template.
    `fits` is given why the incident came about and the text of its evidence, and `when` says for people when
    that is true.
    """

    names: tuple[str, ...]
    fails: str
    passes: str
    plan: Callable[[int, str], Plan] | None = None
    prevented: Prevents = unchanged
    invariant: str | None = None
    template: Template | None = None
    kafka: str = "3.9"
    when: str = ""
    fits: Fits = always


def explored(
    names: tuple[str, ...],
    fails: str,
    passes: str,
    invariant: str,
    prevented: Prevents,
    kafka: str = "3.9",
    **options: Any,
) -> Reproduction:
    """Of histories that `mockbroker explore` draws; `options` are those of its plans."""

    def plan(seed: int, release: str) -> Plan:
        from ..simulation.history import draw

        return draw(seed, Options(release, **options))

    return Reproduction(names, fails, passes, plan, prevented, invariant, kafka=kafka)


def answering(**policies: str) -> Prevents:
    """The same plan with other behaviours; `_` stands for the `-` of their names."""
    named = {name.replace("_", "-"): answer for name, answer in policies.items()}
    return lambda plan: replace(plan, policies={**plan.policies, **named})


def with_epochs(plan: Plan) -> Plan:
    """The same plan, in which the consumer commits positions with their epochs."""
    return replace(plan, consumer=replace(plan.consumer, commit=Commit.POSITION))


def forgotten_producer(name: str, invariant: str) -> Reproduction:
    """By brokers of 2.3 and a producer of 1.0, which newer ones prevent."""

    def newer(plan: Plan) -> Plan:
        producers = tuple(replace(each, generation=Generation.V2_5) for each in plan.producers)
        return replace(plan, kafka="2.4", producers=producers)

    said = ("brokers of 2.3", "brokers of 2.4 and a producer of 2.5")
    return explored((name,), *said, invariant, newer, "2.3", producer=Generation.V1_0)


def late_ms(seed: int) -> int:
    """What the files don't tell about when something happened, a seed chooses."""
    return Random(f"{seed}").randrange(_LATE_MS)


def scenario(config: str, steps: list[str], expected: list[str]) -> str:
    """Steps are 200 ms from each other; three seconds after the start the topic has to have the values."""

    def parts() -> Iterator[str]:
        yield '# {story}\n\n[cluster]\nkafka = "{kafka}"\nbrokers = 3\ntopics = {{ "{topic}" = 1 }}\n'
        yield f"config = {{{{ {config} }}}}\n" if config else ""
        for index, step in enumerate(steps, 1):
            yield f'\n[[step]]\nafter = "{200 * index}ms"\n{step}'
        values = ", ".join(f'{{{{ value = "{value}" }}}}' for value in expected)
        yield '\n[[check]]\nafter = "3s"\ndo = "records list"\ntopic = "{topic}"\nwithin = "2s"\n'
        yield f"expect = [{values}]\n"

    return "".join(parts())


def produce(value: int) -> str:
    """A step of a scenario."""
    return f'do = "records produce"\ntopic = "{{topic}}"\nvalue = "{value}"\n'


def broker(do: str, broker: int) -> str:
    """A step of a scenario."""
    return f'do = "brokers {do}"\nbroker = {broker}\n'
