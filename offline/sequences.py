"""The old name of `python -m offline.study.sequences`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.sequences", "offline.study.sequences")
