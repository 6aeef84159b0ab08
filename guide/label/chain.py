"""The labelling of least energy when only next frames are linked: exact dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from guide.domain import Labels
from guide.label.energy import Unaries, check_unary

# Recordings up to so many times the square root of all frames are solved side by side: longer ones in blocks.
SIDE_BY_SIDE = 8.0
# Up to so many frames and labels, as in a live window, plain numbers are quicker than arrays.
FEW_FRAMES = 256
FEW_LABELS = 32


def chain(unary: Unaries, change_costs: NDArray[np.float64]) -> Labels:
    """The labels (T,) of least energy when only next frames are linked: change_costs (T - 1,), exact.

    Dynamic programming in time linear in T, over about sqrt(T) blocks side by side so that Python loops run over
    a block's frames, not the recording's: costs through each block for every label before it, then the best
    message into each block, then the labels backwards.
    """
    check_unary(unary, len(change_costs) + 1 if len(unary) else 0)
    total, label_count = unary.shape
    if total == 0:
        return np.zeros(0, dtype=np.int64)
    if total <= FEW_FRAMES and label_count <= FEW_LABELS:
        return _short_chain(unary, change_costs)
    length = int(np.ceil(np.sqrt(total)))
    count = -(-total // length)
    # Frames added to fill the last block cost nothing and change for nothing.
    costs = np.zeros((count * length, label_count))
    costs[:total] = unary
    costs = costs.reshape(count, length, label_count)
    change = np.zeros(count * length)
    change[1:total] = change_costs
    change = change.reshape(count, length, 1)
    message = _messages(_through_blocks(costs, change))
    turns, origin, message = _forwards(costs, change, message)
    return _labels(turns, origin, _last_labels(turns, origin, message[-1])).reshape(-1)[:total]


def _short_chain(unary: Unaries, change_costs: NDArray[np.float64]) -> Labels:
    """The same frame by frame: where both are few, plain numbers are quicker than arrays."""
    rows, costs = unary.tolist(), change_costs.tolist()
    message, steps = rows[0], []
    for row, cost in zip(rows[1:], costs, strict=True):
        least = min(message)
        changed = least + cost
        steps.append((message, changed, least))
        message = [(kept if kept <= changed else changed) + own for kept, own in zip(message, row, strict=True)]
    label = message.index(min(message))
    labels = [label]
    for before, changed, least in reversed(steps):
        if changed < before[label]:
            label = before.index(least)
        labels.append(label)
    return np.array(labels[::-1], dtype=np.int64)


def chains(unaries: Sequence[Unaries], change_costs: Sequence[NDArray[np.float64]]) -> list[Labels]:
    """What `chain` gives for each of several recordings of equally many labels, all at once.

    Recordings lie side by side as blocks that need no message from each other, unless one is so long that blocks of
    its own are the shorter way.
    """
    lengths = [len(unary) for unary in unaries]
    if not lengths or not _fit_side_by_side(lengths):
        return [chain(unary, change) for unary, change in zip(unaries, change_costs, strict=True)]
    shape = (len(unaries), max(lengths), unaries[0].shape[1])
    costs, changes = np.zeros(shape), np.zeros((*shape[:2], 1))
    for number, (unary, change) in enumerate(zip(unaries, change_costs, strict=True)):
        check_unary(unary, len(change) + 1)
        costs[number, : len(unary)] = unary
        changes[number, 1 : len(unary), 0] = change
    turns, origin, message = _forwards(costs, changes, np.zeros((shape[0], shape[2])))
    labels = _labels(turns, origin, message.argmin(axis=1))
    return [each[:length].copy() for each, length in zip(labels, lengths, strict=True)]


def _fit_side_by_side(lengths: Sequence[int]) -> bool:
    """Whether recordings are short enough, and alike enough that filling them up to the longest wastes little."""
    longest, total = max(lengths), sum(lengths)
    return min(lengths) > 0 and longest <= SIDE_BY_SIDE * np.sqrt(total) and len(lengths) * longest <= 4 * total


def _through_blocks(costs: NDArray[np.float64], change: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least costs (B, K, K) of each block's frames, from the label before it to its last frame's label."""
    count, length, label_count = costs.shape
    through = np.full((count, label_count, label_count), np.inf)
    through[:, np.arange(label_count), np.arange(label_count)] = 0.0
    for t in range(length):
        changed = through.min(axis=2, keepdims=True) + change[:, t, :, None]
        np.minimum(through, changed, out=through)
        through += costs[:, t, None, :]
    return through


def _messages(through: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least costs (B, K) of all frames before each block, by the label of the last of them."""
    message = np.zeros(through.shape[:2])
    for block in range(len(through) - 1):
        message[block + 1] = (message[block][:, None] + through[block]).min(axis=0)
    return message


def _forwards(
    costs: NDArray[np.float64], change: NDArray[np.float64], message: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]]:
    """Whether to change into a label (B, L, K), from which one (B, L), and the costs up to each block's end (B, K)."""
    changes = np.empty(costs.shape, dtype=np.bool_)
    origin = np.empty(costs.shape[:2], dtype=np.int64)
    for t in range(costs.shape[1]):
        origin[:, t] = message.argmin(axis=1)
        changed = message.min(axis=1, keepdims=True) + change[:, t]
        np.less(changed, message, out=changes[:, t])
        message = np.minimum(message, changed) + costs[:, t]
    return changes, origin, message


def _last_labels(
    changes: NDArray[np.bool_], origin: NDArray[np.int64], costs: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Each block's last label (B,), from what it says of the label before its block; costs (K,) are of the last."""
    count, length, label_count = changes.shape
    blocks = np.arange(count)
    before = np.broadcast_to(np.arange(label_count), (count, label_count))
    for t in reversed(range(length)):
        before = np.where(changes[blocks[:, None], t, before], origin[:, t, None], before)
    current = np.empty(count, dtype=np.int64)
    current[-1] = costs.argmin()
    for block in reversed(range(1, count)):
        current[block - 1] = before[block, current[block]]
    return current


def _labels(changes: NDArray[np.bool_], origin: NDArray[np.int64], current: NDArray[np.int64]) -> Labels:
    """Labels (B, L), from each block's last one (B,)."""
    count, length, _ = changes.shape
    blocks = np.arange(count)
    labels = np.empty((count, length), dtype=np.int64)
    for t in reversed(range(length)):
        labels[:, t] = current
        current = np.where(changes[blocks, t, current], origin[:, t], current)
    return labels
