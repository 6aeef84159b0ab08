"""The old name of `python -m offline.study.benchmark`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.bench", "offline.study.benchmark")
