"""The old name of `python -m offline.study.show`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.demo.show", "offline.study.show")
