"""The workshop: learns a procedure from recordings and exports it for the live side."""
