"""Files are whole or not there, and what goes wrong is a sentence."""

import errno
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from disks import fill_disk
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from viscoil.core.checkpoint import load_checkpoint, read_metadata, save_checkpoint
from viscoil.core.errors import ResumeError, RunError
from viscoil.core.files import write_whole
from viscoil.outputs.frames import FramesOutput, frame_number, read_frame
from viscoil.outputs.png import PngError, decode_png, encode_png, read_png, write_png
from viscoil.outputs.protocol import Output
from viscoil.outputs.stats import StatsOutput, cut_back, read_stats
from viscoil.running.resume import find_start
from viscoil.runs.checkpoint_store import CheckpointStore, thinned
from viscoil.runs.folder import RunFolder, read_record
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, MaterialLook, Snapshot


def snapshot(frame: int = 7, count: int = 5) -> Snapshot:
    channels: dict[str, Array] = {
        "position": np.arange(3 * count, dtype=np.float32).reshape(count, 3),
        "velocity": np.ones((count, 3), dtype=np.float32),
        "id": np.arange(count, dtype=np.int64),
        "material": np.zeros(count, dtype=np.int32),
    }
    look = MaterialLook("honey", (0.9, 0.6, 0.1))
    return Snapshot(frame, 0.25, channels, [look], [], 0.01)


# Whole files


def test_full_disk_keeps_the_earlier_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    path.write_bytes(b"earlier")
    fill_disk(monkeypatch)
    with pytest.raises(RunError, match=r"disk is full.*a\.json.*--resume"), write_whole(path) as f:
        f.write(b"later")
    assert path.read_bytes() == b"earlier"
    assert os.listdir(tmp_path) == ["a.json"]


def test_an_interrupted_write_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), write_whole(tmp_path / "a.bin") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == []


def test_the_name_appears_only_when_whole(tmp_path):
    with write_whole(tmp_path / "frame_000001.npz") as file:
        file.write(b"half")
        file.flush()
        assert not list(tmp_path.glob("frame_*"))
    assert (tmp_path / "frame_000001.npz").read_bytes() == b"half"


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_an_unwritable_folder_is_a_sentence(tmp_path, monkeypatch, number):
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(RunError, match=r"shot.*cannot be written.*--out"):
        RunFolder(tmp_path / "shot")


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "shot").write_text("a file")
    with pytest.raises(RunError, match="a file is in the way"):
        RunFolder(tmp_path / "shot")
    with pytest.raises(RunError, match="a file is in the way"):
        RunFolder(tmp_path / "shot" / "inner")


# Checkpoints

ARRAYS: dict[str, Array] = {
    "position": np.linspace(0, 1, 3000, dtype=np.float32).reshape(-1, 3),
    "id": np.arange(1000, dtype=np.int64),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "scalar": np.array(0.1),
}


def test_a_checkpoint_comes_back_bit_for_bit(tmp_path):
    odd = np.array([np.nan, -0.0, np.inf, 1e-45], dtype=np.float32)
    metadata = {"time": 0.1 + 0.2, "step": 12, "layers": [1, 2], "name": "größe"}
    save_checkpoint(tmp_path / "c.npz", {**ARRAYS, "odd": odd}, metadata)
    back = load_checkpoint(tmp_path / "c.npz")
    assert back.metadata == metadata
    assert set(back.arrays) == {*ARRAYS, "odd"}
    for name, array in {**ARRAYS, "odd": odd}.items():
        assert back.arrays[name].dtype == array.dtype
        assert back.arrays[name].tobytes() == array.tobytes()


def test_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="bad"):
        save_checkpoint(tmp_path / "c.npz", {"bad": np.array([{}], dtype=object)}, {})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99, 0.999])
def test_a_truncated_checkpoint_is_told(tmp_path, share):
    path = tmp_path / "step_000000001.npz"
    save_checkpoint(path, ARRAYS, {"step": 1})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ResumeError, match=r"step_000000001\.npz is truncated or damaged"):
        load_checkpoint(path)


def test_a_flipped_bit_is_told(tmp_path):
    path = tmp_path / "c.npz"
    save_checkpoint(path, ARRAYS, {})
    data = bytearray(path.read_bytes())
    data[2000] ^= 1
    path.write_bytes(data)
    with pytest.raises(ResumeError, match="damaged"):
        load_checkpoint(path)


def test_other_files_are_no_checkpoints(tmp_path):
    path = tmp_path / "c.npz"
    np.savez(path, position=np.zeros(3))
    with pytest.raises(ResumeError, match="not a checkpoint"):
        load_checkpoint(path)
    header = json.dumps({"format": "viscoil checkpoint", "version": 99, "metadata": {}})
    np.savez(path, metadata=np.frombuffer(header.encode(), dtype=np.uint8))
    with pytest.raises(ResumeError, match="another format"):
        load_checkpoint(path)
    with pytest.raises(ResumeError, match="no checkpoint"):
        load_checkpoint(tmp_path / "none.npz")


def test_metadata_alone_is_read_from_whole_checkpoints_only(tmp_path):
    path = tmp_path / "step_000000001.npz"
    save_checkpoint(path, ARRAYS, {"step": 1})
    assert read_metadata(path) == {"step": 1}
    data = bytearray(path.read_bytes())
    data[2000] ^= 1
    path.write_bytes(data)
    with pytest.raises(ResumeError, match="damaged"):
        read_metadata(path)


def test_the_store_keeps_the_latest(tmp_path):
    store = CheckpointStore(tmp_path / "checkpoints", keep=2)
    store.make_folder()
    for step in (5, 9, 10, 100):
        save_checkpoint(store.path(step), ARRAYS, {"step": step})
        store.thin()
    assert [p.name for p in store.all()] == ["step_000000010.npz", "step_000000100.npz"]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(2, 9))
def test_thinning_keeps_the_last_two_and_a_bounded_number(gaps, keep):
    """Whatever the steps between checkpoints, and they are thinned one by one as in a run."""
    steps = [sum(gaps[: k + 1]) for k in range(len(gaps))]
    kept: list[int] = []
    for step in steps:
        kept = thinned([*kept, step], keep)
    assert len(kept) == min(keep, len(steps))
    assert kept[-2:] == steps[-2:]
    assert kept == sorted(set(kept)) and set(kept) <= set(steps)


@given(st.integers(1, 400), st.integers(3, 9))
def test_thinned_checkpoints_are_spread_over_the_run(count, keep):
    """At equal intervals, no gap is longer than twice that of the best spacing.

    The spread ones are keep - 2; the gap that is closed is always the shortest pair, so none can
    grow past twice the mean of the pairs, (count - 1) / (keep - 1) each.
    """
    kept: list[int] = []
    for step in range(1, count + 1):
        kept = thinned([*kept, step], keep)
    longest = max(b - a for a, b in zip([0, *kept], kept, strict=False))
    assert longest <= max(1, 2 * count / (keep - 1))


def test_a_full_disk_keeps_the_earlier_checkpoints(tmp_path, monkeypatch):
    store = CheckpointStore(tmp_path, keep=2)
    save_checkpoint(store.path(1), ARRAYS, {"step": 1})
    fill_disk(monkeypatch)
    with pytest.raises(RunError, match="disk is full"):
        save_checkpoint(store.path(2), ARRAYS, {"step": 2})
    assert [p.name for p in store.all()] == ["step_000000001.npz"]
    assert read_metadata(store.path(1)) == {"step": 1}


# Frames


def test_a_frame_holds_its_channels(tmp_path):
    output = FramesOutput(tmp_path / "frames", ["position", "id"])
    assert isinstance(output, Output)
    output.frame(snapshot())
    back = read_frame(tmp_path / "frames" / "frame_000007.npz")
    assert set(back) == {"position", "id", "time", "frame", "spacing", "collider_pose"}
    np.testing.assert_array_equal(back["position"], snapshot().channels["position"])
    assert back["id"].dtype == np.int64
    assert [back[name] for name in ("time", "frame", "spacing")] == [0.25, 7, 0.01]


def test_an_unknown_channel_is_told(tmp_path):
    with pytest.raises(RunError, match=r"'vorticity'.*id, material, position, velocity"):
        FramesOutput(tmp_path, ["position", "vorticity"]).frame(snapshot())


def test_a_half_written_frame_is_told(tmp_path):
    FramesOutput(tmp_path).frame(snapshot())
    path = tmp_path / "frame_000007.npz"
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(RunError, match=r"frame_000007\.npz is truncated"):
        read_frame(path)


# Statistics


def test_stats_can_be_read_while_they_are_written(tmp_path):
    output = StatsOutput(tmp_path / "stats.jsonl")
    momentum = np.array([1.0, np.nan, 3.0], dtype=np.float32)
    output.step({"step": 1, "dt": np.float32(0.5), "momentum": momentum, "error": math.inf})
    assert list(read_stats(tmp_path / "stats.jsonl")) == [
        {"step": 1, "dt": 0.5, "momentum": [1.0, None, 3.0], "error": None}
    ]
    output.close()


def test_stats_are_cut_back_and_go_on(tmp_path):
    path = tmp_path / "stats.jsonl"
    lines = [f'{{"step": {i}}}\n' for i in range(1, 6)]
    path.write_text("".join(lines) + '{"step": 6, "ti')
    assert [r["step"] for r in read_stats(path)] == [1, 2, 3, 4, 5]
    cut_back(path, 3)
    assert path.read_text() == "".join(lines[:3])
    output = StatsOutput(path)
    output.step({"step": 4})
    output.close()
    assert path.read_text() == "".join(lines[:4])


def test_cutting_back_nothing_is_fine(tmp_path):
    cut_back(tmp_path / "stats.jsonl", 3)
    assert not (tmp_path / "stats.jsonl").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_stats_on_a_full_disk():
    output = StatsOutput("/dev/full")
    with pytest.raises(RunError, match="disk is full"):
        output.step({"step": 1})
    output.close()


# Run folder


def test_run_json_says_what_ran_but_not_where(tmp_path):
    folder = RunFolder(tmp_path / "a" / "b")
    assert not folder.has_run()
    with pytest.raises(RunError, match="holds no run"):
        read_record(folder.path)
    folder.write_run("[simulation]\n", "cpu", 2, state="running")
    record = read_record(folder.path)
    assert record["scene"] == "[simulation]\n"
    assert (record["arch"], record["threads"], record["state"]) == ("cpu", 2, "running")
    assert record["versions"]["numpy"] == np.__version__
    text = folder.run.read_text()
    assert os.uname().nodename not in text
    assert str(tmp_path) not in text


@pytest.mark.parametrize("content", [b"", b'{"scene": ', b"[1]", b"{}", b'{"scene": 3}', b"\xff"])
def test_a_damaged_run_json_is_told_alike_to_all(tmp_path, content):
    """By those who read a run and those who go on with it; a new run may take its place."""
    folder = RunFolder(tmp_path)
    folder.run.write_bytes(content)
    sentence = f"{folder.run} is damaged: run the scene again with --overwrite or another --out"
    for read in (read_record, Run, lambda path: find_start(path, Scene.load("cream"), resume=True)):
        with pytest.raises(RunError) as caught:
            read(tmp_path)
        assert str(caught.value) == sentence
    folder.clear()
    assert folder.run.read_bytes() == content  # until that of the new run is written


def fill(folder: RunFolder, frames: range) -> None:
    folder.frames.mkdir()
    folder.pictures.mkdir()
    for number in frames:
        folder.frame(number).write_bytes(b"")
        folder.frame_picture(number).write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("frame_000012.npz", 12), ("frame_1234567.png", 1234567), ("frame_000000.vdb", 0),
        ("frame_12.npz", None), ("frame_0000012.npz", None), ("frame_000012.tar.gz", None),
        ("000012.npz", None), ("frame_000012", 12), ("frame_00001٢.npz", None),
        ("frame_-00012.npz", None), (f"frame_{'9' * 5000}.npz", None), ("myframe_000012.npz", None),
    ],
)  # fmt: skip
def test_only_our_names_are_frames(name, number):
    assert frame_number(Path(name)) == number


def test_cut_back_removes_later_frames(tmp_path):
    folder = RunFolder(tmp_path)
    fill(folder, range(5))
    folder.stats.write_text('{"step": 1}\n{"step": 2}\n')
    folder.cut_back(step=1, frame=2)
    assert sorted(os.listdir(folder.frames)) == [f"frame_00000{i}.npz" for i in range(3)]
    assert sorted(os.listdir(folder.pictures)) == [f"frame_00000{i}.png" for i in range(3)]
    assert folder.stats.read_text() == '{"step": 1}\n'


def test_clear_removes_only_our_files(tmp_path):
    """And keeps run.json until that of the next run replaces it."""
    folder = RunFolder(tmp_path)
    fill(folder, range(2))
    folder.checkpoints.make_folder()
    save_checkpoint(folder.checkpoints.path(1), ARRAYS, {})
    (folder.frames / ".frame_000002.part.npz").write_bytes(b"half")
    folder.write_run("", "cpu", 1)
    (folder.frames / "frame_notes.npz").write_text("mine")
    (tmp_path / "notes.txt").write_text("mine")
    folder.clear()
    left = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file())
    assert left == ["frames/frame_notes.npz", "notes.txt", "run.json"]


# PNG


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9), st.just(3))
pictures = hnp.arrays(np.uint8, sizes, elements=st.integers(0, 255))


@given(pictures)
def test_pictures_come_back(picture):
    np.testing.assert_array_equal(decode_png(encode_png(picture)), picture)


@given(pictures, st.data())
def test_truncated_pictures_are_told(picture, data):
    whole = encode_png(picture)
    length = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(PngError):
        decode_png(whole[:length])


@given(pictures, st.data())
def test_damaged_pictures_are_told(picture, data):
    whole = bytearray(encode_png(picture))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(PngError):
        decode_png(bytes(whole))


def test_other_programs_read_our_pictures(tmp_path):
    image = pytest.importorskip("PIL.Image")
    picture = np.random.default_rng(0).integers(0, 256, (17, 31, 3), dtype=np.uint8)
    write_png(tmp_path / "a.png", picture)
    np.testing.assert_array_equal(np.asarray(image.open(tmp_path / "a.png")), picture)


def test_a_half_written_picture_is_told(tmp_path):
    path = tmp_path / "a.png"
    write_png(path, np.zeros((4, 4, 3), dtype=np.uint8))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(RunError, match=r"a\.png cannot be used \(truncated\)"):
        read_png(path)
