"""The numbers the paper prints about its method that anything here goes by, with its symbol and where it stands.

"Table" numbers are those of the compiled paper with its appendix. Results are in `published.py`, our own choices in
`config.py`; nothing here is tuned.
"""

from __future__ import annotations

from typing import Final

# Hyper-parameters, table 11 (appendix)
KEY_STEPS: Final = 7
"""K, number of key-steps; background is one of them."""
SAMPLED_FRAMES: Final = 32
"""Frames drawn from each video for one training step."""
BATCH_SIZE: Final = 5
"""Videos in one training step."""
LEARNING_RATE: Final = 1e-4
WEIGHT_DECAY: Final = 1e-5
WINDOW_FRAMES: Final = 300
"""sigma of eq. 4: frames of a video at most this far apart are neighbours."""
MARGIN: Final = 2.0
"""zeta of eq. 4."""
XI: Final = 1.0
"""xi of eq. 5, weight of C-IDM."""
CONTEXT_FRAMES: Final = 2
"""c, frames stacked for one embedding."""
CONTEXT_STRIDE: Final = 15
"""Frames between context frames."""
EMBEDDING_DIMENSION: Final = 128
OPTIMIZER: Final = "adam"

# Implementation details, section 4.4
BACKBONE: Final = "resnet50"
BACKBONE_LAYER: Final = "conv4c"
"""Third block of the fourth stage, 1024 x 14 x 14 at 224 px."""
IMAGE_SIZE_PX: Final = 224
LOSS: Final = "tc3i"
CLUSTERER: Final = "pcm"

# Named in the text without a value; the released code has these
RELEASED_VARIANCE_WEIGHT: Final = 0.001
"""lambda of eq. 3."""
FRAMES_PER_SECOND: Final = 2.0
"""Not said anywhere; the paper's random rows reproduce at this rate."""

# Key-steps tried in the K study, tables 6 and 9
KEY_STEPS_TRIED: Final = (7, 10, 12, 15)
