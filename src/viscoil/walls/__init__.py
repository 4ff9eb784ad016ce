"""Walls and nozzles inside the projections.

A particle is a ball of diameter d, its spacing: it touches a wall at the distance d/2. Those near a
wall, and those driven inside a nozzle, are collected into a short list once per step, so that contact
costs nothing elsewhere. Contact takes part in both projections: if it acted on positions only, a fast
body would pile several layers of particles onto a wall in one step.

To velocities, walls are planes that are chosen once in a step (`planes`); places are pushed out of what
lies on their way (`paths`, `response`). In the velocity projection a contact takes away freedom
(`free_part`): all of them where it sticks, the normal one where it slides, both normal ones in an edge
between two walls. A wall never pulls.

Where colliders are tracked (`coupled`), what they do to particles is noted as impulses, and dynamic
bodies get the opposite ones (`body_velocities`, `body_positions`). Pushes then point along the normal at
the start of the step: with arms of that time too they keep the angular momentum, and put no torque on a
smooth ball (as in SHAKE).
"""
