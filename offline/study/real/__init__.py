"""Every real set at hand on one page: `python -m offline.study.real`."""
