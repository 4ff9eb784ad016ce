"""USD export of what is missing, damaged, empty or odd."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf
from usd_rigs import NAMES, SPACING, export, make_scene, make_snapshot, opened, points_at

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.exchange.usd.format import UsdFormat
from viscoil.exchange.usd.names import identifier, identifiers
from viscoil.outputs.frames import frame_name
from viscoil.snapshots.snapshot import Snapshot


def test_no_particles_at_all(tmp_path: Path) -> None:
    scene = make_scene()
    snapshot = make_snapshot(scene, 0, (0, 0, 0))
    stage = opened(export(UsdFormat(), tmp_path, scene, [snapshot]))
    for name in NAMES:
        assert len(points_at(stage, name).GetPointsAttr().Get(0)) == 0


@pytest.mark.parametrize("spread", [1, 10**9])
def test_ids_may_be_sparse_or_doubled(tmp_path: Path, spread: int) -> None:
    scene = make_scene()
    snapshot = make_snapshot(scene, 0, (50, 0, 0))
    ids = np.array(snapshot.channels["id"], dtype=np.int64) * spread
    ids[3] = ids[4]
    snapshot.channels["id"][:] = 0
    changed = {**snapshot.channels, "id": ids}
    snapshot = Snapshot(0, 0.0, changed, snapshot.materials, snapshot.colliders, SPACING)
    stage = opened(export(UsdFormat(), tmp_path, scene, [snapshot]))
    assert points_at(stage, NAMES[0]).GetIdsAttr().Get(0) == sorted(ids.tolist())


def test_names_that_usd_takes() -> None:
    assert identifier("crème brûlée 2") == "creme_brulee_2"
    assert identifier("3d") == "_3d"
    assert identifier("") == "_"
    assert identifier("日本") == "__"
    assert identifiers(["a b", "a_b", "a b", "a_b_2"]) == ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]
    for name in ("crème brûlée 2", "3d", "", "日本", "a/b.c", "²"):
        assert Sdf.Path.IsValidIdentifier(identifier(name))


def test_without_usd_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n == "pxr" or n.startswith("pxr.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pxr", None)
    scene = make_scene()
    with pytest.raises(MissingExtraError, match=r"pip install 'viscoil\[usd\]'"):
        UsdFormat().write(tmp_path / "a.usdc", make_snapshot(scene, 0), ())
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    scene = make_scene()
    good = make_snapshot(scene, 0)
    path = tmp_path / "frame_000000.usdc"
    UsdFormat().write(path, good, ())
    before = path.read_bytes()
    odd = make_snapshot(scene, 0, odd=lambda n: np.zeros((n, 5), np.float32))
    with pytest.raises(RunError, match=r"'odd' has 5 numbers .* leave it out with --channels"):
        UsdFormat().write(path, odd, ["odd"])
    with pytest.raises(RunError, match="frame 0 has no channel 'heat': it has id, material"):
        UsdFormat().write(path, good, ["heat"])
    alien = make_snapshot(scene, 0, material=lambda n: np.full(n, 3))
    with pytest.raises(RunError, match="material 3, and the scene has 3 materials"):
        UsdFormat().write(path, alien, ())
    with pytest.raises(RunError, match="no such folder"):
        UsdFormat().write(tmp_path / "nowhere" / "a.usdc", good, ())
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    scene = make_scene()
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match="cannot be written"):
        UsdFormat().write(tmp_path / "a.usdc", make_snapshot(scene, 0), ())


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    path = tmp_path / "frame_000000.usdc"
    path.mkdir()
    with pytest.raises(RunError, match="cannot be"):
        UsdFormat().write(path, make_snapshot(make_scene(), 0), ())
    assert list(tmp_path.iterdir()) == [path]


def test_frames_that_are_gone_or_damaged(tmp_path: Path) -> None:
    scene = make_scene()
    export(UsdFormat(), tmp_path, scene, [make_snapshot(scene, f) for f in (0, 1)])
    with pytest.raises(RunError, match="has none of the frames"):
        UsdFormat().finish(tmp_path, scene, [8, 9])
    stage = opened(UsdFormat().finish(tmp_path, scene, [0, 1, 2, 3]))
    assert stage.GetEndTimeCode() == 1
    (tmp_path / frame_name(1, ".usdc")).write_bytes(b"PXR-USDC" + bytes(50))
    with pytest.raises(RunError, match=r"frame_000001\.usdc is truncated or damaged"):
        UsdFormat().finish(tmp_path, scene, [0, 1])


def test_a_frame_that_is_written_again_is_seen(tmp_path: Path) -> None:
    """Though the library keeps what it has read in memory under the file's name."""
    scene = make_scene()
    export(UsdFormat(), tmp_path, scene, [make_snapshot(scene, 0)])
    again = make_snapshot(scene, 0, heat=lambda n: np.zeros(n, np.float32))
    path = export(UsdFormat(), tmp_path, scene, [again], ["heat"])
    code = (
        "from pxr import Usd\n"
        f"stage = Usd.Stage.Open({str(path)!r})\n"
        f"prim = stage.GetPrimAtPath('/World/Particles/{NAMES[0]}')\n"
        "print(prim.GetAttribute('primvars:heat').Get(0)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0.0", done.stderr
