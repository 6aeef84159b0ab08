"""The drawn task world: recordings with known steps, made with OpenCV alone."""
