"""Readers for data sets with true steps, one file a data set."""
