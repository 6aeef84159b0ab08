"""The old name of `python -m offline.study.fault_trial`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.fault_trial", "offline.study.fault_trial")
