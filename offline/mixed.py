"""A network in mixed precision beside the others, for processors that compute in half precision as well.

ONNX Runtime has quick kernels in single precision for all but some depthwise convolutions, and quick ones in half
precision for these too. They add up few numbers each, so hardly anything is lost in them; in the others, which add up
hundreds, four times as much would be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import NodeProto, TensorProto, helper, numpy_helper

from guide.networks import network_name

QUICK_KERNEL = [3, 3]  # depthwise convolutions of this size and without a stride are quick in single precision
FOLLOWERS = frozenset({"Clip", "Relu"})  # kinds of nodes that are halved with what they follow


def mix(path: Path) -> Path | None:
    """Writes the mixed variant of a network beside it: the same inputs and outputs, in single precision.

    None where the network has nothing that would gain.
    """
    model = onnx.load(path)
    graph = model.graph
    is_halved = _halved(graph.node, {each.name: each for each in graph.initializer})
    if not any(is_halved):
        return None
    nodes: list[NodeProto] = []
    made: set[tuple[str, bool]] = {(graph.input[0].name, False)}  # what there is so far, and whether in half precision
    for node, is_half in zip(graph.node, is_halved, strict=True):
        nodes += _casts(node.input, is_half, made)
        nodes.append(_renamed(node) if is_half else node)
        made |= {(name, is_half) for name in node.output}
    nodes += _casts([each.name for each in graph.output], False, made)
    wanted = {name for node in nodes for name in node.input}
    halves = [_half(each) for each in graph.initializer if _half_name(each.name) in wanted]
    kept = [each for each in graph.initializer if each.name in wanted]
    model.graph.CopyFrom(helper.make_graph(nodes, graph.name, graph.input, graph.output, kept + halves))
    variant = path.with_name(network_name(path.name, "mixed"))
    onnx.save(model, variant)
    return variant


def _halved(nodes: Sequence[NodeProto], constants: Mapping[str, TensorProto]) -> list[bool]:
    """Which of the nodes are halved: slow convolutions and what directly follows them."""
    made: set[str] = set()
    halved = []
    for node in nodes:  # each comes after those it depends on
        is_next = node.op_type in FOLLOWERS and node.input[0] in made
        halved.append(is_next or _is_slow(node, constants))
        if halved[-1]:
            made.update(node.output)
    return halved


def _is_slow(node: NodeProto, constants: Mapping[str, TensorProto]) -> bool:
    """Whether this is a depthwise convolution that is slow in single precision."""
    if node.op_type != "Conv" or node.input[1] not in constants:
        return False
    facts = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    channels, each, *kernel = constants[node.input[1]].dims
    if facts.get("group", 1) != channels or each != 1 or len(kernel) != 2:
        return False
    return kernel != QUICK_KERNEL or any(stride != 1 for stride in facts.get("strides", [1]))


def _casts(names: Iterable[str], is_half: bool, made: set[tuple[str, bool]]) -> list[NodeProto]:
    """What turns the other kind of these values into this one, where only that was `made`, which then holds both."""
    casts = []
    for name in names:
        if (name, not is_half) in made and (name, is_half) not in made:
            small, kind = _half_name(name), TensorProto.FLOAT16 if is_half else TensorProto.FLOAT
            first, then = (name, small) if is_half else (small, name)
            casts.append(helper.make_node("Cast", [first], [then], name=f"{then}_cast", to=kind))
            made.add((name, is_half))
    return casts


def _renamed(node: NodeProto) -> NodeProto:
    """The node between halved values."""
    new = NodeProto()
    new.CopyFrom(node)
    for names in (new.input, new.output):
        names[:] = [_half_name(name) if name else "" for name in names]
    return new


def _half(constant: TensorProto) -> TensorProto:
    with np.errstate(over="ignore"):  # what is too large shows as a network that gives something else
        return numpy_helper.from_array(numpy_helper.to_array(constant).astype(np.float16), _half_name(constant.name))


def _half_name(name: str) -> str:
    return f"{name}_half"
