"""The old name of `python -m offline.study.left_out`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.left_out", "offline.study.left_out")
