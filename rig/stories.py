"""Stories that real brokers tell, and what is kept of them."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol, TypeVar

from .brokers import Brokers
from .real_broker import RealCluster
from .scene import LacksApiError
from .stage import Stage

Steps = Iterator[tuple[str, Any]]
Answers = list[list[Any]]
"""The label and the answer of each step."""
S = TypeVar("S", bound=Stage)
F = TypeVar("F", bound=Callable[..., Any])


class Tell(Protocol):
    def __call__(self, what: str, *, passing: bool = False) -> None:
        """Hears what is done; or what is under way, if that is `passing`."""


class Recordable(Protocol):
    """What `python -m mockbroker.rig record` records: `STORIES` of a module."""

    @property
    def releases(self) -> Sequence[str]:
        """Of Kafka, which are recorded where none is named."""

    def about(self) -> Mapping[str, str]:
        """By its name, what a story is about."""

    def sharing(self, names: Sequence[str]) -> list[list[str]]:
        """These stories, with those together that are told on the same brokers."""

    def record(self, release: str, names: Sequence[str], tell: Tell, out: Path | None) -> None:
        """Has real brokers of that release tell stories that share them, and keeps what is to be kept, in
        `out` or where it belongs. Of other stories, what was recorded before stays. LacksApiError if brokers
        are too old."""


def named(*stories: F) -> dict[str, F]:
    """By the names of these functions."""
    return {getattr(each, "__name__", ""): each for each in stories}


def chosen(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Those that a pattern fits; all if there is no pattern. LookupError for a pattern that fits none."""
    for pattern in patterns:
        if not any(fnmatch(name, pattern) for name in names):
            raise LookupError(f"no story is called {pattern}: there are {', '.join(names)}")
    return [name for name in names if not patterns or any(fnmatch(name, each) for each in patterns)]


@dataclass(frozen=True)
class Setting:
    """A cluster to tell stories on; the controller may be `apart` from the brokers, and these may have the
    listener of `rig.sasl_listener` too, whose tokens are signed by keys of the JWKS that `jwks` gives, and
    more `listeners`, by name with their protocols. `racks` are by broker."""

    brokers: int = 1
    config: Mapping[str, str] = field(default_factory=dict)
    apart: bool = False
    sasl: bool = False
    jwks: Callable[[], str] | None = None
    listeners: Mapping[str, str] = field(default_factory=dict)
    racks: Mapping[int, str] = field(default_factory=dict)

    def real(self, release: str) -> AbstractContextManager[RealCluster]:
        """Brokers that run inside the `with` block."""
        return RealCluster(
            release,
            self.brokers,
            self.config,
            apart=self.apart,
            sasl=self.sasl,
            jwks=None if self.jwks is None else self.jwks(),
            listeners=self.listeners,
            nodes={node: {"broker.rack": rack} for node, rack in self.racks.items()},
        )

    def with_config(self, config: Mapping[str, str]) -> "Setting":
        return replace(self, config={**self.config, **config})


@dataclass(frozen=True)
class Told(Generic[S]):
    """Stories of which the answers are kept, in `recorded/RELEASE.json` of the folder; those called WAY/NAME
    are there by their way.

    Stories of the same configuration share brokers, unless they are told `alone`. A story that brokers are
    too old for raises LacksApiError.
    """

    folder: Path
    stories: Mapping[str, Callable[[S], Steps]]
    stage: Callable[[Brokers, str], S]
    setting: Setting
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """What is set for one story only."""
    alone: bool = False
    indent: int | None = None
    """Of the file; None for a line each answer."""

    @property
    def releases(self) -> list[str]:
        return sorted(file.stem for file in (self.folder / "recorded").glob("*.json"))

    def about(self) -> dict[str, str]:
        return {name: (each.__doc__ or "").strip() for name, each in self.stories.items()}

    def setting_of(self, name: str) -> Setting:
        return self.setting.with_config(self.configs.get(name, {}))

    def recorded(self, release: str, folder: Path | None = None) -> dict[str, Answers]:
        """By story, what is kept."""
        file = (folder or self.folder / "recorded") / f"{release}.json"
        return dict(_flat(json.loads(file.read_text()))) if file.exists() else {}

    def cases(self) -> list[tuple[str, str]]:
        """Each release and story that is recorded."""
        return [(release, name) for release in self.releases for name in self.recorded(release)]

    def tell(self, brokers: Brokers, names: Sequence[str]) -> Iterator[tuple[str, Answers]]:
        """By story, what these brokers answer, as JSON has it."""
        for name in names:
            stage = self.stage(brokers, name)
            try:
                stage.begin()
                yield name, [[label, plain(answer)] for label, answer in self.stories[name](stage)]
                stage.restore()
            except LacksApiError:
                continue
            finally:
                stage.close()

    def record(self, release: str, names: Sequence[str], tell: Tell, out: Path | None) -> None:
        with self.setting_of(names[0]).real(release) as real:
            for name, answers in self.tell(real, names):
                tell(f"{name}: {len(answers)} answers")
                self._keep(release, name, answers, out or self.folder / "recorded")

    def sharing(self, names: Sequence[str]) -> list[list[str]]:
        found: dict[str, list[str]] = {}
        for name in names:
            key = name if self.alone else json.dumps(self.configs.get(name), sort_keys=True)
            found.setdefault(key, []).append(name)
        return list(found.values())

    def _keep(self, release: str, name: str, answers: Answers, folder: Path) -> None:
        kept = self.recorded(release, folder) | {name: answers}
        nested: dict[str, Any] = {}
        for each in (each for each in self.stories if each in kept):
            way, _, last = each.rpartition("/")
            (nested.setdefault(way, {}) if way else nested)[last] = kept[each]
        text = _lines(nested) if self.indent is None else json.dumps(nested, indent=self.indent)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{release}.json").write_text(text + "\n")


def plain(answer: Any) -> Any:
    """An answer as it is once it was kept."""
    return json.loads(json.dumps(answer))


def _flat(found: Mapping[str, Any], way: str = "") -> Iterator[tuple[str, Answers]]:
    for name, value in found.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{way}{name}/")
        else:
            yield f"{way}{name}", value


def _lines(found: Mapping[str, Any]) -> str:
    """A line for each answer."""
    parts = (
        f"{json.dumps(name)}: "
        + (_lines(value) if isinstance(value, dict) else "[\n" + ",\n".join(map(json.dumps, value)) + "\n]")
        for name, value in found.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}"


@dataclass(frozen=True)
class Files:
    """Stories of which files are kept, each in a folder that it gets."""

    folder: Path
    stories: Mapping[str, Callable[[RealCluster, Path], None]]
    setting: Setting
    releases: Sequence[str]
    place: str = "{release}"
    """In the folder, where the files of a release and of the story `name` are."""

    def about(self) -> dict[str, str]:
        return {name: (each.__doc__ or "").strip() for name, each in self.stories.items()}

    def sharing(self, names: Sequence[str]) -> list[list[str]]:
        return [[name] for name in names]

    def record(self, release: str, names: Sequence[str], tell: Tell, out: Path | None) -> None:
        for name in names:
            into = (out or self.folder) / self.place.format(release=release, name=name)
            with TemporaryDirectory() as scratch, self.setting.real(release) as real:
                self.stories[name](real, Path(scratch))
                shutil.rmtree(into, ignore_errors=True)
                shutil.copytree(scratch, into)
            tell(f"{name}: {sum(each.is_file() for each in into.rglob('*'))} files in {into.name}")
