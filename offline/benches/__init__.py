"""What `python -m offline.bench` measures: one part a file, each a function that gives figures."""
