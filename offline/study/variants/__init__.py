"""Tasks that come in variants, made up: what an order checker finds in them, and what it needs for that."""
