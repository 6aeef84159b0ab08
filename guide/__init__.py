"""The live side: from frames to guidance. Runs without torch."""
