"""What `python -m guide bench` measures: one part a file, each a function that gives figures."""
