"""The losses of the paper and its rivals, one a file."""
