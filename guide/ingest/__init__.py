"""Frames from cameras, files and streams."""
