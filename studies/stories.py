"""Known bugs as `mockbroker explore` finds them: the first table of "What was found" in docs/simulation.md.

`python -m studies.stories` prints its rows as Markdown.
"""

import argparse
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mockbroker.simulation.consumer_setting import Commit
from mockbroker.simulation.exploring import Count, Summary, Variant
from mockbroker.simulation.plan import Options
from mockbroker.simulation.producer_setting import Generation
from mockbroker.simulation.workers import explore


@dataclass(frozen=True, slots=True)
class Story:
    """A row: what `options` violate, and by the name of each fix what takes its place with it.

    A fix with several options is one that can be made in several ways: its rate is that of all of them.
    """

    title: str
    options: Options
    invariant: str
    fixes: Mapping[str, Sequence[Options]]


def _with(options: Options, **policies: str) -> Options:
    """The same with other behaviours; `_` stands for the `-` of their names."""
    named = {name.replace("_", "-"): answer for name, answer in policies.items()}
    return replace(options, policies={**options.policies, **named})


def _any_epoch(options: Options) -> list[Options]:
    return [replace(options, commit=commit) for commit in Commit if commit is not Commit.NO_EPOCH]


def _idempotent(kafka: str, generation: Generation) -> Options:
    return Options(kafka, producer=generation)


def _transactional(kafka: str, generation: Generation) -> Options:
    return Options(kafka, producer=generation, transactional=True)


LIVE: Final = _with(Options("4.4"), fetch_log_start_offset="live")
RETENTION: Final = _with(Options("3.9"), epoch_below_first="undefined")
ALIGNED: Final = _with(Options("0.11"), unaligned_log_start="accepted")
NEWER_BROKER: Final = {
    "2.4": [_idempotent("2.4", Generation.V1_0)],
    "2.4, client `2.5`": [_idempotent("2.4", Generation.V2_5)],
}
NEWER_CLIENT: Final = {"client `2.5` alone": [_idempotent("2.3", Generation.V2_5)]}
ZOMBIES: Final = {
    "2.4": [_transactional("2.4", Generation.V1_0)],
    "client `2.5` alone": [_transactional("2.3", Generation.V2_5)],
}
NEWER_COMMITS: Final = Options("3.9", offsets_topic=True, newer_commits=True)
RACE: Final = _with(
    Options("3.9", offsets_topic=True),
    offsets_cleanup="during-load",
    offsets_load_pace="slow",
    compaction="dead",
)
STORIES: Final = (
    Story(
        "KAFKA-7104: the log start past the follower's data",
        LIVE,
        "follower-fetcher-dead",
        {"`follower-log-start-offset=bounded`": [_with(LIVE, follower_log_start_offset="bounded")]},
    ),
    Story(
        "KAFKA-19902: a leader that is cut off, an offset committed without epoch",
        Options("3.9", commit=Commit.NO_EPOCH),
        "reset-without-loss",
        {"any epoch in the commit": _any_epoch(Options("3.9"))},
    ),
    Story(
        "KAFKA-19902's own theory: retention removes the epoch",
        RETENTION,
        "reset-without-loss",
        {
            "KAFKA-7415 (`requested-epoch`)": [Options("3.9")],
            "with that, and any epoch in the commit": _any_epoch(Options("3.9")),
            "any epoch in the commit alone": _any_epoch(RETENTION),
        },
    ),
    Story(
        "KAFKA-6975: a log start inside a batch",
        Options("0.11"),
        "follower-fetcher-dead",
        {
            "`unaligned-log-start=accepted`": [ALIGNED],
            "with that, and KAFKA-7104's": [_with(ALIGNED, follower_log_start_offset="bounded")],
        },
    ),
    Story(
        "KIP-185: spurious OUT_OF_ORDER",
        _idempotent("0.11", Generation.V0_11),
        "spurious-out-of-order",
        {"1.0, client `1.0`": [_idempotent("1.0", Generation.V1_0)], **NEWER_BROKER},
    ),
    Story(
        "KIP-360, first problem: a retry after its record was deleted",
        _idempotent("2.3", Generation.V1_0),
        "written-twice",
        {**NEWER_BROKER, **NEWER_CLIENT},
    ),
    Story(
        "the same, as seen by a consumer that has read the first copy",
        _idempotent("2.3", Generation.V1_0),
        "read-out-of-order",
        {**NEWER_BROKER, **NEWER_CLIENT},
    ),
    Story(
        "KIP-360, second: state that comes back",
        _idempotent("2.3", Generation.V1_0),
        "acknowledged-record-lost",
        {**NEWER_BROKER, **NEWER_CLIENT},
    ),
    Story(
        "the same, with several batches",
        _idempotent("2.3", Generation.V1_0),
        "spurious-out-of-order",
        {**NEWER_BROKER, **NEWER_CLIENT},
    ),
    Story(
        "KIP-360, third: a zombie whose state was deleted",
        _transactional("2.3", Generation.V1_0),
        "last-stable-offset-stuck",
        ZOMBIES,
    ),
    Story(
        "the same: the next instance commits its record",
        _transactional("2.3", Generation.V1_0),
        "aborted-record-committed",
        ZOMBIES,
    ),
    Story(
        "KAFKA-8069: offsets expire once another coordinator has loaded them",
        _with(Options("2.1"), loaded_offsets="expire-at-once"),
        "group-offset-lost",
        {"`as-committed`": [Options("2.1")]},
    ),
    Story(
        "LinkedIn's first rewind: a load stops at a record that it can't parse",
        _with(NEWER_COMMITS, offsets_load="stops"),
        "group-offset-back",
        {"`skips`": [_with(NEWER_COMMITS, offsets_load="skips")]},
    ),
    Story(
        "the same up to 3.9: nothing is loaded",
        NEWER_COMMITS,
        "group-offset-lost",
        {"`skips`": [_with(NEWER_COMMITS, offsets_load="skips")]},
    ),
    Story(
        "the same since 4.0: nobody coordinates the group",
        replace(NEWER_COMMITS, kafka="4.4"),
        "consumer-stuck",
        {"`skips`": [_with(replace(NEWER_COMMITS, kafka="4.4"), offsets_load="skips")]},
    ),
    Story(
        "LinkedIn's second rewind: a long load, and the cleanup of expired offsets meanwhile",
        RACE,
        "group-offset-lost",
        {
            "`after-load`": [_with(RACE, offsets_cleanup="after-load")],
            "`compaction=runs` alone": [_with(RACE, compaction="runs")],
            "`offsets-load-pace=fast` alone": [_with(RACE, offsets_load_pace="fast")],
        },
    ),
)


def told(options: Options) -> str:
    """The brokers and clients in words, which are different for different options."""
    policies = " and ".join(f"`{name}={answer}`" for name, answer in options.policies.items())
    chosen = (options.commit, options.reset, options.producer)
    clients = "".join(f", `{each}`" for each in chosen if each is not None)
    return (
        options.kafka
        + f" with {policies}" * bool(policies)
        + clients
        + " transactional" * bool(options.transactional)
        + (", `--newer-commits`" if options.newer_commits else ", `--offsets-topic`" * options.offsets_topic)
    )


def compared(stories: Iterable[Story]) -> list[Variant]:
    """Everything that has to be run, once."""
    every: dict[str, Options] = {}
    for story in stories:
        for options in itertools.chain([story.options], *story.fixes.values()):
            every[told(options)] = options
    return [Variant(name, options) for name, options in every.items()]


def row(story: Story, summary: Summary) -> str:
    """The row of the table."""
    count = _count(summary, [story.options], story.invariant)
    cells = (
        story.title,
        told(story.options),
        f"`{story.invariant}`",
        "none" if count.first_seed is None else str(count.first_seed),
        _rate(count),
        "; ".join(
            f"{name}: {_rate(_count(summary, options, story.invariant))}"
            for name, options in story.fixes.items()
        ),
    )
    return f"| {' | '.join(cells)} |"


def _count(summary: Summary, every: Sequence[Options], invariant: str) -> Count:
    names = [told(each) for each in every]
    counts = [summary.counts.get((name, invariant), Count(summary.runs[name])) for name in names]
    first = [each.first_seed for each in counts if each.first_seed is not None]
    runs, violations = sum(each.runs for each in counts), sum(each.violations for each in counts)
    return Count(runs, violations, min(first, default=None))


def _rate(count: Count) -> str:
    """Of 1,000, with two digits or, below 1, with one that isn't 0."""
    rate = 1000 * count.violations / count.runs
    return f"{rate:.0f}" if rate >= 10 or not rate else f"{rate:.1f}" if rate >= 0.1 else f"{rate:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=4000)
    parser.add_argument("--workers", type=int, help="processes; if not given, one for each core")
    given = parser.parse_args()
    summary = Summary()
    for rows in explore(compared(STORIES), range(given.seeds), given.workers):
        summary.add(rows)
    for story in STORIES:
        sys.stdout.write(row(story, summary) + "\n")


if __name__ == "__main__":
    main()
