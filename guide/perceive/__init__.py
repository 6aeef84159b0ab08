"""From frames to network input, trunk outputs and embeddings."""
