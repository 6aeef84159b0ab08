"""Scores of found key-steps against true ones.

Labels are 0 for background, 1 and up for key-steps, -1 for unknown activity, which counts as no step. Every function
takes one label array a recording, true and found ones in the same order, and gives fractions; tables print percent.
"""

from offline.metrics.expectation import expected_random
from offline.metrics.matching import Match, match_steps, relabel, same_numbers
from offline.metrics.order import OrderAgreement, order_agreement
from offline.metrics.protocols import PROTOCOLS, protocol_a, protocol_b, protocol_d, protocol_pooled
from offline.metrics.score import Score, average, harmonic
from offline.metrics.segments import edit_score, mof, segment_f1

__all__ = [
    "PROTOCOLS",
    "Match",
    "OrderAgreement",
    "Score",
    "average",
    "edit_score",
    "expected_random",
    "harmonic",
    "match_steps",
    "mof",
    "order_agreement",
    "protocol_a",
    "protocol_b",
    "protocol_d",
    "protocol_pooled",
    "relabel",
    "same_numbers",
    "segment_f1",
]
