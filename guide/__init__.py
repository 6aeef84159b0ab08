"""The live side: from frames to guidance. Runs without torch."""

__version__ = "0.1.0"
