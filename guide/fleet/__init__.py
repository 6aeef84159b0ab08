"""A fleet: replicas of the server on many machines, behind one address."""
