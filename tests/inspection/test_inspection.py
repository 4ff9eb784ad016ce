"""What looks at a run: info, video and plot."""

import json
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fakes import make
from film_rigs import COLORS, decode, draw
from run_rigs import TEXT

from viscoil.cli import main
from viscoil.inspection.curves import QUANTITIES, chosen, quantities_of, read_curves
from viscoil.inspection.drawing import MOST_POINTS, reduced
from viscoil.inspection.film import missing_numbers
from viscoil.inspection.text import ranges
from viscoil.outputs.png import decode_png, write_png
from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.runs.lock import FolderLock
from viscoil.scene import Scene

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, capsys: Capture) -> Path:
    """A finished run of the fake, with three pictures and figures that a real run has."""
    out = tmp_path / "drop"
    run(Scene.from_toml(TEXT), out, make=make(), checkpoints=CheckpointPlan(frames=2))
    (out / "preview").mkdir()
    draw(out / "preview")
    capsys.readouterr()
    return out


def told(capsys: Capture, *arguments: str | Path) -> str:
    assert main([str(a) for a in arguments]) == 0
    return capsys.readouterr().out


def refused(capsys: Capture, *arguments: str | Path) -> str:
    """The one sentence of a command that fails."""
    assert main([str(a) for a in arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    return line.removeprefix("viscoil: ")


# info


class TestInfo:
    def test_a_finished_run(self, folder: Path, capsys: Capture) -> None:
        lines = told(capsys, "info", folder).splitlines()
        rows = {line.split()[0]: line[15:] for line in lines[1:-1]}
        assert lines[0] == "drop"
        assert rows["state"] == "finished"
        assert rows["frames"] == "0 to 4 of 4 (5 files), 30 per second, 0 to 0.133333 s"
        assert rows["particles"] == "5, 0.1 m apart"
        assert rows["channels"] == "position, id"
        assert rows["materials"] == "a, b"
        assert rows["steps"] == "12, to 0.133333 of 0.133333 s"
        assert rows["checkpoints"] == "at frame 2, 4"
        assert rows["resume"].startswith("it is finished; --resume --until goes on")
        assert "missing" not in rows and "damaged" not in rows
        assert lines[-1].startswith(f"next: viscoil mesh {folder}, viscoil render {folder}")

    def test_json_is_for_programs(self, folder: Path, capsys: Capture) -> None:
        about = json.loads(told(capsys, "info", folder, "--json"))
        assert about["frames"] == {
            "count": 5, "first": 0, "last": 4, "asked": 4, "missing": [], "damaged": [],
        }  # fmt: skip
        assert about["checkpoints"][0]["step"] == 6
        frames = sum(path.stat().st_size for path in (folder / "frames").iterdir())
        assert about["bytes"]["frames"] == frames
        total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        assert sum(about["bytes"].values()) == total

    def test_what_is_missing_and_damaged(self, folder: Path, capsys: Capture) -> None:
        for frame in (1, 2):
            (folder / "frames" / f"frame_00000{frame}.npz").unlink()
        last = folder / "frames" / "frame_000004.npz"
        last.write_bytes(last.read_bytes()[:-9])
        newest = folder / "checkpoints" / "step_000000012.npz"
        newest.write_bytes(newest.read_bytes()[:-9])
        page = told(capsys, "info", folder)
        assert "  missing      1 to 2\n" in page
        assert "  damaged      4\n" in page
        assert "  checkpoints  at frame 2, 1 damaged\n" in page
        assert "  particles    5, 0.1 m apart\n" in page

    def test_what_was_made_of_it(self, folder: Path, capsys: Capture) -> None:
        (folder / "export" / "usd").mkdir(parents=True)
        (folder / "export" / "usd" / "a.usd").touch()
        (folder / "render").mkdir()
        assert "made of it   export/usd (1 files), render (0 files)" in told(capsys, "info", folder)

    def test_a_run_that_was_killed_and_one_that_runs(self, folder: Path, capsys: Capture) -> None:
        text = (folder / "run.json").read_text()
        (folder / "run.json").write_text(text.replace('"finished"', '"running"'))
        page = told(capsys, "info", folder)
        assert "state        killed: it was running" in page
        assert "resume       goes on from frame 4 to frame 4" in page
        assert f"next: viscoil run SCENE --out {folder} --resume, " in page
        with FolderLock(folder) as lock:
            lock.take()
            page = told(capsys, "info", folder)
        assert "state        running: a process writes to it now" in page
        assert "resume       not while a process writes to it" in page

    def test_a_run_that_has_only_begun(self, tmp_path: Path, capsys: Capture) -> None:
        out = tmp_path / "begun"
        run(Scene.from_toml(TEXT), out, make=make(), quiet=True)
        for name in ("frames", "checkpoints"):
            for path in (out / name).iterdir():
                path.unlink()
        (out / "stats.jsonl").unlink()
        capsys.readouterr()
        page = told(capsys, "info", out)
        assert "frames       none of 4" in page and "checkpoints  none yet" in page

    def test_what_is_no_run(self, tmp_path: Path, capsys: Capture) -> None:
        assert "there is no folder" in refused(capsys, "info", tmp_path / "nowhere")
        assert "holds no run" in refused(capsys, "info", tmp_path)
        (tmp_path / "run.json").write_text("{")
        assert "is damaged" in refused(capsys, "info", tmp_path)


@pytest.mark.parametrize(
    ("numbers", "text"), [([], ""), ([3], "3"), ([3, 7, 8, 9], "3, 7 to 9"), ([1, 2], "1 to 2")]
)
def test_numbers_are_gathered(numbers: list[int], text: str) -> None:
    assert ranges(numbers) == text


# video


def foreign_png(path: Path, width: int, height: int) -> None:
    """A PNG as other programs write it: with transparency, 16 bits, and no filter."""
    pixel = struct.pack(">HHHH", 51400, 7710, 7710, 65535)
    rows = (b"\0" + pixel * width) * height
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 6, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


class TestVideo:
    def test_the_preview(self, folder: Path, capsys: Capture) -> None:
        said = told(capsys, "video", folder, "--fps", "10")
        assert said == (
            "note: pictures 3 to 4 are missing, and the film goes on without\n"
            f"{folder}/video.mp4: 3 pictures, 0.3 s at 10 per second; play it, or make better "
            f"pictures with viscoil render {folder}\n"
        )
        assert len(decode(folder / "video.mp4", 64, 48)) == 3
        sentence = refused(capsys, "video", folder)
        assert sentence.endswith("replace it with --overwrite, or give another name with --out")
        told(capsys, "video", folder, "--overwrite")

    def test_a_rendering_is_preferred(self, folder: Path, capsys: Capture) -> None:
        (folder / "render").mkdir()
        foreign_png(folder / "render" / "frame_000000.png", 64, 48)
        told(capsys, "video", folder)
        (frame,) = decode(folder / "render.mp4", 64, 48)
        assert np.abs(frame.astype(int) - COLORS[0]).max() <= 6

    def test_any_folder_in_natural_order(self, folder: Path, capsys: Capture) -> None:
        mine = folder.parent / "mine"
        mine.mkdir()
        for number, color in ((10, COLORS[1]), (9, COLORS[0])):
            write_png(mine / f"shot {number}.png", np.full((48, 64, 3), color, np.uint8))
        told(capsys, "video", folder, "--pictures", mine, "--out", folder / "b.mov")
        first, second = decode(folder / "b.mov", 64, 48)
        assert np.abs(first.astype(int) - COLORS[0]).max() <= 6
        assert np.abs(second.astype(int) - COLORS[1]).max() <= 6

    def test_what_cannot_be_filmed(self, folder: Path, capsys: Capture) -> None:
        assert "there is no folder of pictures" in refused(
            capsys, "video", folder, "--pictures", "render"
        )
        empty = folder.parent / "empty"
        empty.mkdir()
        assert "has no PNG pictures (nothing)" in refused(
            capsys, "video", folder, "--pictures", empty
        )
        (empty / "a.exr").touch()
        assert "(only .exr files)" in refused(capsys, "video", folder, "--pictures", empty)
        (empty / "a.png").write_bytes(b"GIF89a")
        assert "a.png cannot be used (not a PNG file)" in refused(
            capsys, "video", folder, "--pictures", empty
        )
        assert "is no name for a film" in refused(capsys, "video", folder, "--out", "a.gif")
        assert "in a folder that is there" in refused(
            capsys, "video", folder, "--out", folder / "no" / "a.mp4"
        )
        assert not list(folder.rglob("*.mp4"))


@pytest.mark.parametrize(
    ("numbers", "last", "missing"),
    [
        ([0, 1, 2], 0, []),
        ([0, 1, 3], 0, [2]),
        ([0, 5, 10, 20], 0, [15]),
        ([0, 5, 10], 22, [15, 20]),
        ([4], 0, []),
        ([4], 6, [5, 6]),
        ([], 3, []),
    ],
)
def test_missing_pictures(numbers: list[int], last: int, missing: list[int]) -> None:
    paths = [Path(f"frame_{n:06d}.png") for n in numbers]
    assert missing_numbers(paths, last) == missing


# plot


def write_stats(folder: Path, count: int = 40) -> None:
    with (folder / "stats.jsonl").open("w") as file:
        for step in range(1, count + 1):
            record: dict[str, Any] = {
                "step": step, "time": 0.01 * step, "dt": 0.01, "particles": 100 + step,
                "velocity_iterations": 3, "position_iterations": 4,
                "density_error_mean": 1e-3 / step, "density_error_max": None if step == 5 else 1e-2,
                "kinetic_energy": 2.0 / step, "linear_momentum": [3.0, -4.0 * step, 0.0],
                "milliseconds": {"neighbors": 2.0, "density": 3.0},
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")
        file.write('{"step": 41, "ti')


class TestPlot:
    def test_curves_are_those_of_the_statistics(self, folder: Path) -> None:
        write_stats(folder)
        (curves,) = read_curves([folder], quantities_of([folder]))
        assert len(curves.time) == 40 and curves.time[-1] == 0.4
        assert curves.values["energy"]["energy"][3] == 0.5
        assert list(curves.values["momentum"]) == ["magnitude", "x", "y", "z"]
        assert curves.values["momentum"]["magnitude"][0] == 5.0
        np.testing.assert_allclose(curves.values["cost"]["whole step"], 0.005, rtol=1e-12)
        assert np.flatnonzero(np.isnan(curves.values["density-error"]["largest"])).tolist() == [4]

    def test_phases_that_come_and_go(self, folder: Path) -> None:
        phases: list[dict[str, float]] = [{"a": 1.0}, {}, {"a": 2.0, "b": 4.0}, {"b": 5.0}]
        lines = [
            json.dumps({"step": i, "time": i, "milliseconds": p}) for i, p in enumerate(phases)
        ]
        (folder / "stats.jsonl").write_text("\n".join(lines) + "\n")
        (curves,) = read_curves([folder], {"cost": QUANTITIES["cost"]})
        cost, nan = curves.values["cost"], np.nan
        np.testing.assert_array_equal(cost["a"], [0.001, nan, 0.002, nan])
        np.testing.assert_array_equal(cost["b"], [nan, nan, 0.004, 0.005])
        np.testing.assert_array_equal(cost["whole step"], [0.001, 0.0, 0.006, 0.005])

    def test_a_long_run_takes_little_memory(self, folder: Path) -> None:
        """16 numbers of 8 bytes a step, 1.3 MB, and room to grow; as dictionaries it would be 20."""
        write_stats(folder, 10_000)
        tracemalloc.start()
        (curves,) = read_curves([folder], quantities_of([folder]))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(curves.time) == 10_000
        assert peak < 5e6

    def test_a_picture_of_everything(self, folder: Path, capsys: Capture) -> None:
        write_stats(folder)
        said = told(capsys, "plot", folder)
        assert said.startswith(f"{folder}/plot.png: energy, momentum, step-size, ")
        assert (folder / "plot.png").read_bytes().startswith(b"\x89PNG")

    def test_runs_are_told_apart(self, folder: Path, capsys: Capture) -> None:
        """In the text of an SVG, which is what a reader sees."""
        write_stats(folder)
        out = folder.parent / "a.svg"
        other = folder.parent / "other"
        other.mkdir()
        (other / "run.json").write_text((folder / "run.json").read_text())
        write_stats(other, 3)
        command = ("plot", folder, other, "--what", "density-error,step-size", "--out", out)
        assert f"of {folder}, {other}; open it" in told(capsys, *command)
        first = out.read_bytes()
        assert "is there already" in refused(capsys, *command)
        told(capsys, *command, "--overwrite")
        assert out.read_bytes() == first
        comments = [text.strip() for text in svg_comments(out)]
        assert {str(folder), str(other), "time [s]", "compression, relative (mean)"} <= {*comments}

    def test_bad_wishes(self, folder: Path, capsys: Capture) -> None:
        write_stats(folder)
        assert refused(capsys, "plot", folder, "--what", "enregy") == (
            "'enregy' is no known quantity to plot: did you mean \"energy\"?"
        )
        assert "is no name for a plot" in refused(capsys, "plot", folder, "--out", "a.jpg")
        assert "give one run folder" in refused(capsys, "plot")
        (folder / "stats.jsonl").write_text("")
        assert "has no statistics to plot" in refused(capsys, "plot", folder)

    def test_without_matplotlib(
        self, folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_stats(folder)
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        assert refused(capsys, "plot", folder) == (
            "plots need matplotlib, which is not here: pip install 'viscoil[plot]'"
        )
        assert not (folder / "plot.png").exists()

    def test_statistics_of_another_version(self, folder: Path, capsys: Capture) -> None:
        """Figures that are not there leave their panel empty."""
        (folder / "stats.jsonl").write_text('{"step": 1, "time": 0.1}\n{"step": 2}\n')
        told(capsys, "plot", folder)
        assert (folder / "plot.png").is_file()


def svg_comments(path: Path) -> list[str]:
    """Texts of an SVG, which matplotlib leaves beside the outlines of their letters."""
    parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
    root = ElementTree.parse(path, parser).getroot()
    comment: Any = ElementTree.Comment  # its nodes bear this function as their tag
    return [n.text for n in root.iter(comment) if n.text]


def test_quantities_are_chosen_once() -> None:
    assert list(chosen(" cost, energy,cost", QUANTITIES)) == ["cost", "energy"]
    assert chosen(None, QUANTITIES) == QUANTITIES


def test_long_curves_keep_their_peaks() -> None:
    time = np.linspace(0.0, 1.0, 100_000)
    values = np.sin(40 * time)
    values[54_321], values[70_000], values[:10] = 9.0, -9.0, np.nan
    short_time, short = reduced(time, values)
    assert len(short) <= MOST_POINTS
    assert (short.max(), short.min()) == (9.0, -9.0)
    assert short_time[short.argmax()] == time[54_321]
    assert (np.diff(short_time) > 0).all()
    all_time, _ = reduced(time[:50], values[:50])
    assert len(all_time) == 50


def test_help_names_the_commands() -> None:
    command = [sys.executable, "-m", "viscoil", "plot", "--help"]
    page = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    assert "--what" in page and "momentum" in page
    assert "density-error" not in page  # which is one solver's


def test_pictures_of_other_programs_are_no_previews(tmp_path: Path) -> None:
    foreign_png(tmp_path / "a.png", 4, 4)
    with pytest.raises(ValueError, match="not 8-bit RGB"):
        decode_png((tmp_path / "a.png").read_bytes())
