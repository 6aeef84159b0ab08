"""Headsets, phones and dashboards over HTTP and WebSocket."""
