"""What `python -m offline.study.benchmark` measures: one part a file, each a function that gives figures."""
