"""The old name of `python -m offline.study.counterfactual`."""

from offline.moved import run

if __name__ == "__main__":
    run("offline.counterfactual", "offline.study.counterfactual")
