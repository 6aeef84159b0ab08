"""The old name of `python -m offline.study.evaluate`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.evaluate", "offline.study.evaluate")
