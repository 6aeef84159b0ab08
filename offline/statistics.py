"""The old name of `python -m offline.study.statistics`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.statistics", "offline.study.statistics")
