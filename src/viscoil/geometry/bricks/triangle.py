# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The nearest point of a triangle, as kernels compute it."""

import quadrants as qd

from viscoil.core.compute import vec3


@qd.func
def closest_weights(p: vec3, a: vec3, b: vec3, c: vec3) -> vec3:
    """Barycentric coordinates of the point of the triangle abc that is nearest to p.

    By the regions of the plane that belong to corners, edges and the face (Ericson 2005, section
    5.1.5); a triangle without area falls to one of its edges or corners. In double precision: in
    single, a sliver a hundred cells long is off by some hundredths of a cell.
    """
    ab, ac = qd.cast(b - a, qd.f64), qd.cast(c - a, qd.f64)
    ap, bp, cp = qd.cast(p - a, qd.f64), qd.cast(p - b, qd.f64), qd.cast(p - c, qd.f64)
    d1, d2 = ab.dot(ap), ac.dot(ap)
    d3, d4 = ab.dot(bp), ac.dot(bp)
    d5, d6 = ab.dot(cp), ac.dot(cp)
    va = d3 * d6 - d5 * d4
    vb = d5 * d2 - d1 * d6
    vc = d1 * d4 - d3 * d2
    weights = vec3(1.0, 0.0, 0.0)
    if d1 <= 0.0 and d2 <= 0.0:
        weights = vec3(1.0, 0.0, 0.0)
    elif d3 >= 0.0 and d4 <= d3:
        weights = vec3(0.0, 1.0, 0.0)
    elif d6 >= 0.0 and d5 <= d6:
        weights = vec3(0.0, 0.0, 1.0)
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        v = qd.cast(d1 / qd.max(d1 - d3, 1e-30), qd.f32)
        weights = vec3(1.0 - v, v, 0.0)
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        v = qd.cast(d2 / qd.max(d2 - d6, 1e-30), qd.f32)
        weights = vec3(1.0 - v, 0.0, v)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        v = qd.cast((d4 - d3) / qd.max((d4 - d3) + (d5 - d6), 1e-30), qd.f32)
        weights = vec3(0.0, 1.0 - v, v)
    else:
        total = qd.max(va + vb + vc, 1e-30)
        weights = qd.cast(qd.Vector([va, vb, vc]) / total, qd.f32)
    return weights
