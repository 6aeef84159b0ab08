"""Scoring key-step finders against true steps: what to compare, on what, and how it is shown."""
