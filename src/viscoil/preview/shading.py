# mypy: disable-error-code="valid-type,name-defined,attr-defined,index,operator"
# mypy: disable-error-code="no-untyped-def,no-any-return,untyped-decorator"
"""Light and matter: studio light from a key lamp and the sky, matt colliders, translucent fluid.

All colours are linear RGB. One light map, drawn from the lamp, tells how much of its light reaches
a point: none behind colliders, tinted light behind fluid.

Colours and brightnesses of lamp, sky, floor and colliders, and the widths of soft edges, are chosen by
eye. Kernels are pure, so they stand as numbers where they are used. The fluid's index of refraction is
1.4, between water and honey; it mirrors 0.04 of the light head on, as does an index of 1.5.
"""

import enum

import quadrants as qd

from viscoil.preview.distance_grid import DistanceGrid, normal_at, occupancy_at, paint_at
from viscoil.preview.solids import Kind, Solids, solid_distance, turn_back
from viscoil.preview.trace import thickness, trace_fluid, trace_solids

vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)
vec6 = qd.types.vector(6, qd.f32)
Rows = qd.types.NDArray[vec3, 1]
Map = qd.types.NDArray[vec4, 2]


class Row(enum.IntEnum):
    """Rows of the view: what the kernels know about camera and light (m)."""

    EYE = 0  # place of the camera
    RIGHT = 1  # half the picture's width at unit distance
    UP = 2  # half the picture's height at unit distance
    FORWARD = 3  # unit
    TARGET = 4  # middle of the scene
    LIGHT = 5  # unit, towards the lamp
    LIGHT_RIGHT = 6  # unit, across the light map
    LIGHT_UP = 7  # unit, along the light map
    SCALE = 8  # radius of the scene, clear depth of the fluid, half width of the light map
    TILE = 9  # side of the ground's tiles, unused, unused
    COUNT = 10


@qd.func
def smooth(a: qd.f32, b: qd.f32, x: qd.f32) -> qd.f32:
    s = qd.min(qd.max((x - a) / (b - a), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


@qd.func
def mix(a: vec3, b: vec3, s: qd.f32) -> vec3:
    return a + (b - a) * s


@qd.func
def backdrop(view: Rows, d: vec3) -> vec3:
    """What the camera sees where there is nothing: a paper backdrop, darker towards the top."""
    low = qd.Vector([0.58, 0.585, 0.59])
    high = qd.Vector([0.20, 0.26, 0.35])
    return mix(low, high, smooth(-0.15, 0.55, d.dot(view[Row.UP].normalized())))


@qd.func
def surroundings(view: Rows, d: vec3) -> vec3:
    """What is mirrored in a surface: sky, floor, the lamp as a soft box, and a strip light."""
    sky = mix(qd.Vector([0.62, 0.64, 0.67]), qd.Vector([0.30, 0.38, 0.50]), smooth(0.0, 0.9, d.y))
    floor = qd.Vector([0.30, 0.29, 0.28])
    color = mix(floor, sky, smooth(-0.12, 0.08, d.y))
    along = d.dot(view[Row.LIGHT])
    across = d.dot(view[Row.LIGHT_RIGHT])
    over = d.dot(view[Row.LIGHT_UP])
    if along > 0.0:
        box = smooth(0.30, 0.22, qd.abs(across / along)) * smooth(0.30, 0.22, qd.abs(over / along))
        color += box * qd.Vector([9.0, 8.7, 8.2])
    side = d.cross(qd.Vector([0.0, 1.0, 0.0])).dot(view[Row.LIGHT])
    strip = smooth(0.75, 0.9, -side) * smooth(0.0, 0.15, d.y) * smooth(0.75, 0.6, d.y)
    return color + strip * qd.Vector([1.1, 1.3, 1.6])


@qd.func
def light_at(view: Rows, lamp: Map, x: vec3, normal: vec3, spacing: qd.f32) -> vec3:
    """Share of the lamp's light that reaches a point, with a penumbra that grows with distance."""
    n = lamp.shape[0]
    half = view[Row.SCALE].z
    texel = 2.0 * half / n
    # Looked up a little above the surface, which else would shade itself where light grazes it.
    p = x + (spacing + 2.0 * texel) * normal - view[Row.TARGET]
    u = (p.dot(view[Row.LIGHT_RIGHT]) / half + 1.0) * 0.5 * n
    v = (p.dot(view[Row.LIGHT_UP]) / half + 1.0) * 0.5 * n
    # The map holds heights above the plane through the target, towards the lamp.
    height = p.dot(view[Row.LIGHT]) + texel
    light = qd.Vector([1.0, 1.0, 1.0])
    if u > 8.0 and v > 8.0 and u < n - 8.0 and v < n - 8.0:
        above = 0.0
        found = 0
        shade = qd.Vector([0.0, 0.0, 0.0])
        for i, j in qd.ndrange((-2, 3), (-2, 3)):
            blocker = lamp[qd.cast(u + 2.5 * i, qd.i32), qd.cast(v + 2.5 * j, qd.i32)]
            if blocker.w > height:
                above += blocker.w - height
                found += 1
                shade += qd.Vector([blocker.x, blocker.y, blocker.z])
        if found == 25:
            light = shade / 25.0
        elif found > 0:
            blur = qd.min(qd.max(0.12 * above / found / texel, 1.0), 5.0) / 3.0
            light *= 0.0
            for i, j in qd.ndrange((-3, 4), (-3, 4)):
                light += lit_texel(lamp, u + blur * i, v + blur * j, height)
            light /= 49.0
    return light


@qd.func
def lit_texel(lamp: Map, u: qd.f32, v: qd.f32, height: qd.f32) -> vec3:
    """Light that passes one texel of the light map down to a height."""
    n = lamp.shape[0]
    i = qd.min(qd.max(qd.cast(u, qd.i32), 0), n - 1)
    j = qd.min(qd.max(qd.cast(v, qd.i32), 0), n - 1)
    blocker = lamp[i, j]
    light = qd.Vector([1.0, 1.0, 1.0])
    if blocker.w > height:
        light = qd.Vector([blocker.x, blocker.y, blocker.z])
    return light


@qd.func
def openness(f: DistanceGrid, s: Solids, x: vec3, n: vec3, skip: qd.i32) -> qd.f32:
    """Share of the sky that a point sees past nearby fluid and colliders (all but `skip`)."""
    block = f.frame[1].x
    shade = 0.0
    for i in range(3):
        reach = block * (0.3 + 0.35 * i)
        shade += occupancy_at(f, x + reach * n) * (0.9 - 0.25 * i)
    for k in range(s.count[0]):
        if k != skip:
            for i in range(2):
                reach = block * (0.5 + 1.5 * i)
                near = solid_distance(s, k, x + reach * n) / reach
                shade += 0.45 * qd.min(qd.max(1.0 - near, 0.0), 1.0)
    return qd.exp(-shade)


@qd.func
def sky_light(n: vec3) -> vec3:
    """Light from all around on a surface: bright sky above, light from the floor below."""
    up = 0.5 + 0.5 * n.y
    return mix(qd.Vector([0.17, 0.16, 0.15]), qd.Vector([0.33, 0.37, 0.43]), up)


@qd.func
def tiles(view: Rows, s: Solids, k: qd.i32, x: vec3) -> qd.f32:
    """A checker on a plane, as a factor on its brightness."""
    p = turn_back(s.orientation[k], x - s.position[k]) / view[Row.TILE].x
    odd = (qd.cast(qd.floor(p.x), qd.i32) + qd.cast(qd.floor(p.z), qd.i32)) & 1
    return 0.90 + 0.10 * odd


@qd.func
def solid_color(view: Rows, s: Solids, k: qd.i32, x: vec3) -> vec3:
    """Colour of collider `k` in white light."""
    albedo = qd.Vector([0.30, 0.34, 0.40])
    if s.kind[k] == Kind.PLANE:
        albedo = qd.Vector([0.46, 0.455, 0.445]) * tiles(view, s, k, x)
    elif s.kind[k] == Kind.CONTAINER:
        albedo = qd.Vector([0.06, 0.07, 0.09])
    return albedo


@qd.func
def absorb(paint: vec4, depth: qd.f32) -> vec3:
    """Tint of light after a depth of fluid, in clear depths; clear fluids tint it less."""
    color = qd.Vector([paint.x, paint.y, paint.z])
    strength = depth * (1.6 - paint.w)
    return qd.exp(strength * qd.log(qd.max(color, 0.02)))


@qd.func
def clearness(paint: vec4, depth: qd.f32) -> qd.f32:
    """Share of light that passes a depth of fluid, in clear depths, without being scattered."""
    return paint.w * qd.exp(-depth * (1.0 - paint.w) * 2.0)


@qd.func
def refract(d: vec3, n: vec3, index: qd.f32) -> vec3:
    """Direction of a ray that enters matter of a refractive index."""
    facing = qd.max(-d.dot(n), 0.0)
    across = 1.0 - (1.0 - facing * facing) / (index * index)
    return (d / index + (facing / index - qd.sqrt(across)) * n).normalized()


@qd.func
def fluid_surface(
    f: DistanceGrid, view: Rows, x: vec3, n: vec3, d: vec3, light: vec3, sky: qd.f32
) -> vec6:
    """Colour that the fluid scatters back, and the share of light that it lets through.

    `light` is what reaches the point from the lamp, `sky` the share of the sky that it sees.
    """
    paint = paint_at(f, x)
    clear = view[Row.SCALE].y
    depth = thickness(f, x, refract(d, n, 1.4), 1e30, 3.0 * clear) / clear
    through = clearness(paint, depth)
    rest = through * absorb(paint, depth)
    deep = absorb(paint, 0.8 + 1.6 * (1.0 - qd.exp(-0.7 * depth)))
    # Light seeps around edges: matter is lit a little past the terminator.
    wrap = 0.15 + 0.4 * paint.w
    soft = qd.max((n.dot(view[Row.LIGHT]) + wrap) / (1.0 + wrap), 0.0)
    lit = 1.30 * soft * light + sky_light(n) * (0.25 + 0.75 * sky)
    surface = (1.0 - through) * deep * lit
    return qd.Vector([surface.x, surface.y, surface.z, rest.x, rest.y, rest.z])


@qd.func
def solid_surface(
    view: Rows, s: Solids, k: qd.i32, x: vec3, n: vec3, light: vec3, sky: qd.f32
) -> vec3:
    """Colour that collider `k` scatters back."""
    lit = qd.max(n.dot(view[Row.LIGHT]), 0.0) * light * qd.Vector([1.37, 1.30, 1.20])
    return solid_color(view, s, k, x) * (lit + sky_light(n) * sky)


@qd.func
def gloss(s: Solids, k: qd.i32, facing: qd.f32) -> qd.f32:
    """Share of light that a surface mirrors (Schlick 1994); -1 is the fluid."""
    grazing = qd.pow(1.0 - facing, 5.0)
    result = 0.0
    if k < 0:
        result = 0.04 + 0.96 * grazing
    elif s.kind[k] != Kind.PLANE and s.kind[k] != Kind.CONTAINER:
        result = 0.02 + 0.3 * grazing
    return result


@qd.func
def haze(view: Rows, s: Solids, k: qd.i32, x: vec3) -> qd.f32:
    """Share of the backdrop in what is seen of collider `k`: planes fade out with distance."""
    result = 0.0
    if s.kind[k] == Kind.PLANE:
        result = smooth(2.5, 9.0, (x - view[Row.TARGET]).norm() / view[Row.SCALE].x)
    return result


@qd.func
def radiance(f: DistanceGrid, s: Solids, view: Rows, lamp: Map, eye: vec3, toward: vec3) -> vec3:
    """Light that comes to the camera along a ray.

    The ray goes on once, bent, through the fluid to what is behind it; the loop is there so that
    the compiler, which inlines everything, sees each part of the code once.
    """
    o = eye
    d = toward
    color = qd.Vector([0.0, 0.0, 0.0])
    share = qd.Vector([1.0, 1.0, 1.0])
    for leg in range(2):
        if share.max() > 0.004:
            hit = trace_solids(s, o, d, 0)
            t = 1e30
            if leg == 0:
                t = trace_fluid(f, o, d, hit[3])
            k = qd.cast(hit[4], qd.i32)
            x = o + qd.min(t, hit[3]) * d
            n = qd.Vector([hit[0], hit[1], hit[2]])
            wet = t < 1e29
            veil = 0.0
            if wet:
                n = normal_at(f, x)
                k = -1
            elif k < 0:
                veil = 1.0
            else:
                veil = haze(view, s, k, x)
            rest = qd.Vector([0.0, 0.0, 0.0])
            if veil < 1.0:
                light = light_at(view, lamp, x, n, f.frame[1].z)
                sky = openness(f, s, x, n, k)
                surface = qd.Vector([0.0, 0.0, 0.0])
                if wet:
                    both = fluid_surface(f, view, x, n, d, light, sky)
                    surface = qd.Vector([both[0], both[1], both[2]])
                    rest = qd.Vector([both[3], both[4], both[5]])
                else:
                    surface = solid_surface(view, s, k, x, n, light, sky)
                facing = qd.max(-d.dot(n), 0.0)
                mirrored = surroundings(view, d + 2.0 * facing * n)
                surface += gloss(s, k, facing) * (0.35 + 0.65 * sky) * mirrored
                color += share * (1.0 - veil) * surface
            color += share * veil * backdrop(view, d)
            share *= rest
            o = x
            d = refract(d, n, 1.4)
    return color
