"""The old name of `python -m offline.study.trial`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.trial", "offline.study.trial")
