"""Faulty recordings made from labelled clean ones: the same frames in another order, and the truth of what was done."""
