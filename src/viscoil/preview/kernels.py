# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""The passes of a picture: the light map, a draft, and more rays where the draft has edges.

Every pixel is computed from a pass's inputs alone and never by atomics, so that a picture is the
same to the last bit for any number of threads.
"""

import quadrants as qd

from viscoil.preview.distance_grid import DistanceGrid, paint_at
from viscoil.preview.shading import Map, Row, Rows, absorb, radiance
from viscoil.preview.solids import Solids
from viscoil.preview.trace import thickness, trace_fluid, trace_solids

vec3 = qd.types.vector(3, qd.f32)
Picture = qd.types.NDArray[vec3, 2]


@qd.kernel(fastcache=True)
def draw_light_map(f: DistanceGrid, s: Solids, view: Rows, lamp: Map):
    """Height of what the lamp's light meets first, and the tint of the light behind it."""
    for i, j in qd.ndrange(lamp.shape[0], lamp.shape[1]):
        half = view[Row.SCALE].z
        u = ((i + 0.5) / lamp.shape[0] * 2.0 - 1.0) * half
        v = ((j + 0.5) / lamp.shape[1] * 2.0 - 1.0) * half
        far = 4.0 * half
        d = -view[Row.LIGHT]
        o = view[Row.TARGET] + u * view[Row.LIGHT_RIGHT] + v * view[Row.LIGHT_UP] - far * d
        hit = trace_solids(s, o, d, 1)
        t = trace_fluid(f, o, d, hit[3])
        out = qd.Vector([0.0, 0.0, 0.0, far - qd.min(t, hit[3])])
        if t < 1e29:
            paint = paint_at(f, o + t * d)
            clear = view[Row.SCALE].y
            depth = thickness(f, o + t * d, d, 1e30, 3.0 * clear) / clear
            tint = (0.1 + 0.9 * paint.w) * qd.exp(-0.5 * depth) * absorb(paint, depth)
            out = qd.Vector([tint.x, tint.y, tint.z, far - t])
        lamp[i, j] = out


@qd.func
def develop(c: vec3) -> vec3:
    """Film response: linear light to sRGB values in 0..1 with soft highlights.

    The curve of Reinhard et al. (2002, eq. 4) with white at 4 and a weaker shoulder, 0.55 for 1, by
    eye: it reaches 1 at a light of 1.3, and 18 % grey stays mid grey.
    """
    exposed = 1.35 * qd.max(c, 0.0)
    mapped = exposed * (1.0 + exposed / 16.0) / (1.0 + 0.55 * exposed)
    clipped = qd.min(mapped, 1.0)
    return qd.select(
        clipped < 0.0031308, 12.92 * clipped, 1.055 * qd.pow(clipped, 1.0 / 2.4) - 0.055
    )


@qd.func
def roughness(draft: Picture, i: qd.i32, j: qd.i32) -> qd.f32:
    """How far a pixel is from the mean of its neighbours on either side; gradients do not count."""
    result = 0.0
    h, w = draft.shape[0], draft.shape[1]
    for k in range(4):
        di = qd.min(k, 1)
        dj = qd.min(k - 1, 1) if k != 1 else 0
        a = draft[qd.min(i + di, h - 1), qd.min(qd.max(j + dj, 0), w - 1)]
        b = draft[qd.max(i - di, 0), qd.min(qd.max(j - dj, 0), w - 1)]
        result = qd.max(result, qd.abs(0.5 * (a + b) - draft[i, j]).max())
    return result


@qd.kernel(fastcache=True)
def draw_picture(
    f: DistanceGrid,
    s: Solids,
    view: Rows,
    lamp: Map,
    edge: qd.f32,
    draft: Picture,
    picture: Picture,
):
    """The picture in sRGB 0..1, top row first.

    With a negative `edge`, one ray through the middle of each pixel. Otherwise four more for those
    pixels that are rougher than `edge` in the draft.
    """
    for i, j in qd.ndrange(picture.shape[0], picture.shape[1]):
        color = draft[i, j]
        if edge < 0.0 or roughness(draft, i, j) > edge:
            if edge < 0.0:
                color *= 0.0
            for k in range(5):
                # Five rays, each alone in its row and its column; the third is in the middle.
                if (k == 2) == (edge < 0.0):
                    y = i + 0.2 * k + 0.1
                    x = j + 0.2 * ((2 * k + 3) % 5) + 0.1
                    u = 2.0 * x / picture.shape[1] - 1.0
                    v = 1.0 - 2.0 * y / picture.shape[0]
                    d = view[Row.FORWARD] + u * view[Row.RIGHT] + v * view[Row.UP]
                    color += develop(radiance(f, s, view, lamp, view[Row.EYE], d.normalized()))
            if edge >= 0.0:
                color *= 0.2
        picture[i, j] = color
