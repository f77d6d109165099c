"""`python -m studies.offset_rewinds` plays both incidents with confluent-kafka, and draws the plots."""

from pathlib import Path

from .incidents import FIRST, SECOND, play
from .plot import svg

PAGE = Path(__file__).parents[2] / "docs" / "offset-rewinds"


def main() -> None:
    PAGE.mkdir(exist_ok=True)
    for name, incident in ("first", FIRST), ("second", SECOND):
        (PAGE / f"{name}.svg").write_text(svg(play(incident, {}), ["views", "deployments"]))


if __name__ == "__main__":
    main()
