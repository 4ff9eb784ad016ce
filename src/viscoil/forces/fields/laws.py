# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What each kind of field does at a point, numbers in and numbers out.

A field gives an acceleration a, or a velocity w that the fluid takes on at the rate k, or drag. All
fields of a step act together, implicitly in the new velocity u: u = u⁰ + Δt (a + Σ k (w − u) − q |u| u).
So any rate is stable, the order of fields does not matter, and the speed at which drag balances an
acceleration is exact for any step.
"""

import quadrants as qd

from viscoil.core.compute import vec3


@qd.func
def fade(distance: qd.f32, edge: qd.f32) -> qd.f32:
    """1 inside, 0 farther outside than the soft edge, smooth between (3 t² − 2 t³)."""
    share = 0.0
    if distance <= 0.0:
        share = 1.0
    elif distance < edge:
        t = 1.0 - distance / edge
        share = t * t * (3.0 - 2.0 * t)
    return share


@qd.func
def box_share(r: vec3, half: vec3, edge: qd.f32) -> qd.f32:
    """Effect at r from the centre of a box of these half sizes."""
    outside = qd.Vector(
        [
            qd.max(qd.abs(r[0]) - half[0], 0.0),
            qd.max(qd.abs(r[1]) - half[1], 0.0),
            qd.max(qd.abs(r[2]) - half[2], 0.0),
        ]
    )
    return fade(outside.norm(), edge)


@qd.func
def sphere_share(r: vec3, radius: qd.f32, edge: qd.f32) -> qd.f32:
    """Effect at r from the centre of a ball."""
    return fade(r.norm() - radius, edge)


@qd.func
def whirl(r: vec3, axis: vec3, radius: qd.f32) -> vec3:
    """axis × r / (1 + (s/R)²) at the distance s from the unit axis (Kaufmann's vortex).

    Rigid rotation at the axis, strongest at s = R where its length is R/2, a free vortex far out.
    """
    around = axis.cross(r)
    return around / (1.0 + around.dot(around) / (radius * radius))


@qd.func
def pull(r: vec3, radius: qd.f32, falloff: qd.f32) -> vec3:
    """Unit pull from r towards the origin: (R/s)^falloff beyond the distance R, s/R within."""
    s = r.norm()
    size = s / radius
    if s > radius:
        size = qd.pow(radius / s, falloff)
    return -size / qd.max(s, 1e-30) * r


@qd.func
def resisted(free: vec3, damping: qd.f32, quadratic: qd.f32) -> vec3:
    """u of u (1 + damping + quadratic |u|) = free, with damping = Δt k and quadratic = Δt q."""
    b = 1.0 + damping
    return 2.0 / (b + qd.sqrt(b * b + 4.0 * quadratic * free.norm())) * free
