"""Ways to turn embeddings into key-steps, one a file, behind one interface."""
