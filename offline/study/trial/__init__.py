"""How right flags are: drawn tasks are learned, and unseen recordings of them with planted faults are followed."""
