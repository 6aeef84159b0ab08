"""From embeddings to memberships, energies, cuts and settled labels."""
