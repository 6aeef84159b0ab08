"""The live side: from frames to guidance. Runs without torch."""

import os

__version__ = "0.2.0"

MOST_PIXELS = 2**26
"""Of any picture that is decoded, more than 8K: a file of a few bytes can claim a thousand million."""

os.environ["OPENCV_IO_MAX_IMAGE_PIXELS"] = str(MOST_PIXELS)  # read once, when OpenCV is first imported
