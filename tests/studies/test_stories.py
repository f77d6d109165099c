"""The table of known bugs that simulated histories show."""

from mockbroker.simulation.exploring import Summary, run
from studies.stories import STORIES, compared, row, told


def test_a_row_has_the_first_seed_and_the_rates_without_and_with_the_fix() -> None:
    story = STORIES[0]
    summary = Summary()
    for variant in compared([story]):
        summary.add(run(variant, range(179, 181)))
    assert row(story, summary).endswith(
        "| `follower-fetcher-dead` | 180 | 500 | `follower-log-start-offset=bounded`: 0 |"
    )


def test_different_brokers_and_clients_have_different_names() -> None:
    every = []
    for story in STORIES:
        for options in ([story.options], *story.fixes.values()):
            every += [each for each in options if each not in every]
    assert len({told(each) for each in every}) == len(every) == len(compared(STORIES))
