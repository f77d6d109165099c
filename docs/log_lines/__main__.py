"""Writes the catalogue of log statements again."""

import sys
from collections import Counter

from .catalogue import made, write


def main() -> None:
    found = made()
    write(found)
    for verdict, times in Counter(each.verdict.partition(": ")[0] for each in found).most_common(4):
        sys.stdout.write(f"{times:5} {verdict}\n")


if __name__ == "__main__":
    main()
