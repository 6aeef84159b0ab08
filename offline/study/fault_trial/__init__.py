"""Right and wrong flags on recordings left out of learning: `python -m offline.study.fault_trial`."""
