"""The old name of `python -m offline.study.world_difficulty`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.demo.calibrate", "offline.study.world_difficulty")
