"""The film of a run is made of the pictures on the disk."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from film_rigs import COLORS, decode, draw

from viscoil.core.errors import MissingExtraError, RunError
from viscoil.outputs import video
from viscoil.outputs.png import write_png
from viscoil.outputs.video import VideoOutput, write_video


def test_the_film_shows_every_picture_in_order(tmp_path):
    """H.264 at quality 17 keeps flat colours to within a few of 255."""
    write_video(draw(tmp_path), tmp_path / "video.mp4", 24)
    frames = decode(tmp_path / "video.mp4", 64, 48)
    assert len(frames) == len(COLORS)
    for frame, color in zip(frames, COLORS, strict=True):
        assert np.abs(frame.astype(int) - color).max() <= 6
    said = subprocess.run(
        [video._ffmpeg(), "-i", str(tmp_path / "video.mp4")], capture_output=True, text=True
    ).stderr
    assert re.search(r"h264.*yuv420p", said)
    assert re.search(r"\b24 fps", said)


def test_odd_sizes_are_padded(tmp_path):
    write_video(draw(tmp_path, (63, 47)), tmp_path / "video.mp4", 30)
    assert decode(tmp_path / "video.mp4", 64, 48).shape == (3, 48, 64, 3)


def test_the_output_films_what_is_there_at_the_end(tmp_path):
    output = VideoOutput(tmp_path, tmp_path / "video.mp4", 30)
    output.close()
    assert not (tmp_path / "video.mp4").exists()
    draw(tmp_path)
    output.close()
    assert len(decode(tmp_path / "video.mp4", 64, 48)) == 3


def test_pictures_of_two_sizes_are_told(tmp_path):
    paths = draw(tmp_path)
    write_png(paths[1], np.zeros((10, 10, 3), dtype=np.uint8))
    with pytest.raises(RunError, match=r"frame_000001\.png has another size"):
        write_video(paths, tmp_path / "video.mp4", 30)
    assert not [name for name in os.listdir(tmp_path) if name.endswith("mp4")]


def test_a_half_written_picture_is_told(tmp_path):
    paths = draw(tmp_path)
    paths[2].write_bytes(paths[2].read_bytes()[:-1])
    with pytest.raises(RunError, match=r"frame_000002\.png cannot be used"):
        write_video(paths, tmp_path / "video.mp4", 30)
    assert not [name for name in os.listdir(tmp_path) if name.endswith("mp4")]


def test_no_pictures_no_film(tmp_path):
    with pytest.raises(RunError, match="no pictures"):
        write_video([], tmp_path / "video.mp4", 30)


def test_a_failing_encoder_is_told(tmp_path):
    with pytest.raises(RunError, match=r"video\.mp4 was not written: .*No such file"):
        write_video(draw(tmp_path), tmp_path / "nowhere" / "video.mp4", 30)


def test_a_missing_encoder_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match="pip install imageio-ffmpeg"):
        write_video(draw(tmp_path), tmp_path / "video.mp4", 30)
