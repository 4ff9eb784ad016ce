"""Mistakes in a scene, one each, and the sentence that answers it."""

# (what stands in the good scene, what replaces it, the sentence)
CASES = {
    "unknown key": (
        "spacing = 0.1",
        "spacing = 0.1\nspcing = 0.1",
        'my.toml:3: simulation.spcing is no known key: did you mean "spacing"?',
    ),
    "unknown table": (
        "[[fluids]]",
        "[solvr]\n[[fluids]]",
        'my.toml:9: solvr is no known key: did you mean "solver"?',
    ),
    "synonym of a key": (
        "spacing = 0.1",
        "spacing = 0.1\ndt = 0.1",
        'my.toml:3: simulation.dt is no known key: did you mean "time_step"?',
    ),
    "a mesh as a container": (
        'shape = "plane"',
        'shape = "mesh"\nfile = "bowl.obj"\ncontainer = true',
        'my.toml:26: colliders.0.container is no known key: did you mean "mode"?',
    ),
    "an empty file name": (
        'shape = "plane"',
        'shape = "mesh"\nfile = ""',
        "my.toml:25: colliders.0.file is empty: write something (mesh file (.obj .ply .stl .glb .gltf "
        ".off), level set (.vdb), a folder of meshes with the same faces (an animation), or "
        '"builtin:NAME"), or remove it',
    ),
    "unknown key unlike any": (
        "density = 1000.0",
        "density = 1000.0\nzzz = 1",
        "my.toml:7: materials.goo.zzz is no known key: remove it, since materials.goo can have "
        "only preset, density, viscosity, modulus, relaxation_time, solvent_viscosity, "
        "compliance, surface_tension, adhesion, xsph, wall_friction, body_friction, conductivity, "
        "heat_capacity, thermal, color, transmission",
    ),
    "key of another shape": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1]\ntube_radius = 1",
        "my.toml:14: fluids.0.tube_radius does not go with this shape but with torus: remove it",
    ),
    "missing key": (
        "spacing = 0.1\n",
        "",
        "my.toml:1: simulation.spacing is missing: add it (particle spacing, m)",
    ),
    "text for a number": (
        "spacing = 0.1",
        'spacing = "0.1"',
        'my.toml:2: simulation.spacing is the text "0.1" but must be a number '
        "(particle spacing, m)",
    ),
    "switch for a number": (
        "spacing = 0.1",
        "spacing = true",
        "my.toml:2: simulation.spacing is true but must be a number (particle spacing, m)",
    ),
    "negative spacing": (
        "spacing = 0.1",
        "spacing = -0.1",
        "my.toml:2: simulation.spacing is -0.1 but must be greater than 0 (particle spacing, m)",
    ),
    "zero spacing": (
        "spacing = 0.1",
        "spacing = 0",
        "my.toml:2: simulation.spacing is 0 but must be greater than 0 (particle spacing, m)",
    ),
    "nan": (
        "spacing = 0.1",
        "spacing = nan",
        "my.toml:2: simulation.spacing is nan but must be a finite number (particle spacing, m)",
    ),
    "infinite": (
        "duration = 1.0",
        "duration = inf",
        "my.toml:3: simulation.duration is inf but must be a finite number (simulated time, s)",
    ),
    "zero duration": (
        "duration = 1.0",
        "duration = 0.0",
        "my.toml:3: simulation.duration is 0.0 but must be greater than 0 (simulated time, s)",
    ),
    "zero step": (
        "duration = 1.0",
        "duration = 1.0\ntime_step = 0",
        "my.toml:4: simulation.time_step is 0 but must be greater than 0 (fixed time step, s)",
    ),
    "infinity inside a vector": (
        "center = [0, 0, 0]",
        "center = [0, inf, 0]",
        "my.toml:12: fluids.0.center.1 is inf but must be a finite number",
    ),
    "vector too short": (
        "center = [0, 0, 0]",
        "center = [0, 0]",
        "my.toml:12: fluids.0.center is [0, 0] but must be a list of 3 numbers "
        "(centre of the shape, m)",
    ),
    "vector too long": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1, 1]",
        "my.toml:13: fluids.0.size is [1, 1, 1, 1] but must be a list of 3 numbers "
        "(edge lengths along x, y and z, m)",
    ),
    "number for a vector": (
        "center = [0, 0, 0]",
        "center = 1",
        "my.toml:12: fluids.0.center is 1 but must be a list of 3 numbers (centre of the shape, m)",
    ),
    "zero density": (
        "density = 1000.0",
        "density = 0.0",
        "my.toml:6: materials.goo.density is 0.0 but must be greater than 0 (rest density, kg/m³)",
    ),
    "negative viscosity": (
        "viscosity = 1.0",
        "viscosity = -1.0",
        "my.toml:7: materials.goo.viscosity is -1.0 but must be at least 0 (viscosity, Pa s)",
    ),
    "nan viscosity": (
        "viscosity = 1.0",
        "viscosity = nan",
        "my.toml:7: materials.goo.viscosity is nan but must be at least 0 (viscosity, Pa s)",
    ),
    "unknown material": (
        'material = "goo"',
        'material = "gooo"',
        'my.toml:10: fluids.0.material ("gooo") is no known material: did you mean "goo"?',
    ),
    "unknown material like a preset": (
        'material = "water"',
        'material = "watr"',
        'my.toml:16: emitters.0.material ("watr") is no known material: did you mean "water"?',
    ),
    "unknown preset": (
        "viscosity = 1.0",
        'preset = "hony"',
        'my.toml:7: materials.goo.preset ("hony") is no known preset: did you mean "honey"?',
    ),
    "unknown shape": (
        'shape = "box"',
        'shape = "bx"',
        'my.toml:11: fluids.0.shape ("bx") is no known shape: did you mean "box"?',
    ),
    "missing shape": (
        'shape = "box"\n',
        "",
        'my.toml:9: fluids.0.shape is missing: add one of "box", "cylinder", "mesh", "particles", '
        '"sphere", "torus"',
    ),
    "unknown choice": (
        "[[fluids]]",
        '[solver]\nmethod = "dcpdb"\n[[fluids]]',
        'my.toml:10: solver.method ("dcpdb") is no known solver: did you mean "dcpbd"?',
    ),
    "fractional count": (
        "[[fluids]]",
        "[solver]\nvelocity_iterations = 2.5\n[[fluids]]",
        "my.toml:10: solver.velocity_iterations is 2.5 but must be a whole number "
        "(iterations of the velocity projection per step that are spent on velocity_tolerance)",
    ),
    "both duration and frames": (
        "duration = 1.0",
        "duration = 1.0\nframes = 3",
        "my.toml:1: simulation has both duration and frames: remove one of them",
    ),
    "neither duration nor frames": (
        "duration = 1.0\n",
        "",
        "my.toml:1: simulation needs either duration or frames: add one of them",
    ),
    "both speed and flow rate": (
        "speed = 0.5",
        "speed = 0.5\nflow_rate = 1.0",
        "my.toml:15: emitters.0 has both speed and flow_rate: remove one of them",
    ),
    "neither speed nor flow rate": (
        "speed = 0.5\n",
        "",
        "my.toml:15: emitters.0 needs either speed or flow_rate: add one of them",
    ),
    "zero direction": (
        "direction = [0, -1, 0]",
        "direction = [0, 0, 0]",
        "my.toml:19: emitters.0.direction ([0.0, 0.0, 0.0]) must not be the zero vector, "
        "because it gives a direction",
    ),
    "stop before start": (
        "speed = 0.5",
        "speed = 0.5\nstart = 2.0\nstop = 1.0",
        "my.toml:23: emitters.0.stop (1.0) must be later than start (2)",
    ),
    "friction without coefficient": (
        'shape = "plane"',
        'shape = "plane"\ncontact = "friction"',
        'my.toml:25: colliders.0.contact ("friction") needs a coefficient: add for example '
        '"friction = 0.4"',
    ),
    "friction without contact": (
        'shape = "plane"',
        'shape = "plane"\nfriction = 0.3',
        'my.toml:25: colliders.0.friction (0.3) works only with contact = "friction", '
        'and contact is "sticky"',
    ),
    "keyframes out of order": (
        'shape = "plane"',
        'shape = "plane"\nmotion = [\n  {time = 1},\n  {time = 0},\n]',
        "my.toml:27: colliders.0.motion.1.time (0.0) must be later than the keyframe before it (1)",
    ),
    "unknown key in an inline table": (
        "size = [1, 1, 1]",
        "size = [1, 1, 1]\nrotation = {axis = [0, 0, 1], angel = 1}",
        'my.toml:14: fluids.0.rotation.angel is no known key: did you mean "angle"?',
    ),
    "capsule of no length": (
        'shape = "plane"',
        'shape = "capsule"\nstart = [0, 1, 0]\nend = [0, 1, 0]\nradius = 1',
        "my.toml:26: colliders.0.end ([0.0, 1.0, 0.0]) is the same point as start: move it, "
        'or use shape = "sphere"',
    ),
    "ring without a hole": (
        'shape = "box"\ncenter = [0, 0, 0]\nsize = [1, 1, 1]',
        'shape = "torus"\ncenter = [0, 0, 0]\nradius = 1\ntube_radius = 1',
        "my.toml:14: fluids.0.tube_radius (1.0) must be smaller than radius (1), "
        "or the ring has no hole",
    ),
    "open box that is solid": (
        'shape = "plane"',
        'shape = "box"\ncenter = [0, 0, 0]\nsize = [1, 1, 1]\nopen = ["+y"]',
        'my.toml:27: colliders.0.open (["+y"]) works only for a container: add "container = true"',
    ),
    "steps the wrong way round": (
        "duration = 1.0",
        "duration = 1.0\nmin_time_step = 1.0",
        "my.toml:4: simulation.min_time_step (1.0) must not exceed max_time_step (0.00833333)",
    ),
    "iterations the wrong way round": (
        "[[fluids]]",
        "[solver]\nposition_iterations = 5\nmax_position_iterations = 4\n[[fluids]]",
        "my.toml:11: solver.max_position_iterations (4) must be at least position_iterations (5)",
    ),
    "bounds the wrong way round": (
        "duration = 1.0",
        "duration = 1.0\nkill_bounds = {min = [0, 0, 0], max = [1, 0, 1]}",
        "my.toml:4: simulation.kill_bounds.max ([1.0, 0.0, 1.0]) must exceed min along every axis",
    ),
    "name that is a path": (
        "duration = 1.0",
        'duration = 1.0\nname = "../x"',
        'my.toml:4: simulation.name ("../x") names the run folder: use letters, digits, spaces, '
        "dashes or underscores",
    ),
    "channels of a video": (
        "[[fluids]]",
        '[[outputs]]\ntype = "video"\nchannels = ["id"]\n[[fluids]]',
        'my.toml:11: outputs.0.channels (["id"]) works only with type = "frames" or "export", and '
        'type is "video": remove it',
    ),
    "export without a format": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\n[[fluids]]',
        'my.toml:10: outputs.0.type ("export") needs format beside it, such as format = "vtp": add it',
    ),
    "format of frames": (
        "[[fluids]]",
        '[[outputs]]\ntype = "frames"\nformat = "vtp"\n[[fluids]]',
        'my.toml:11: outputs.0.format ("vtp") works only with type = "export", and type is '
        '"frames": remove it',
    ),
    "unknown format": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\nformat = "vtpp"\n[[fluids]]',
        'my.toml:11: outputs.0.format ("vtpp") is no known choice: did you mean "vtp"?',
    ),
    "the same export twice": (
        "[[fluids]]",
        '[[outputs]]\ntype = "export"\nformat = "vtp"\n'
        '[[outputs]]\ntype = "export"\nformat = "vtp"\n[[fluids]]',
        'my.toml:14: outputs.1.format ("vtp") is exported twice: remove one of the two',
    ),
    "no channels": (
        "[[fluids]]",
        '[[outputs]]\ntype = "frames"\nchannels = []\n[[fluids]]',
        "my.toml:11: outputs.0.channels ([]) is empty: name at least one channel, "
        'such as "position", or remove it',
    ),
    "blind camera": (
        "[[fluids]]",
        "[camera]\nposition = [1, 1, 1]\ntarget = [1, 1, 1]\n[[fluids]]",
        "my.toml:11: camera.target ([1.0, 1.0, 1.0]) must differ from position, "
        "or the camera has nowhere to look",
    ),
    "table for an array": (
        '[[colliders]]\nshape = "plane"',
        '[colliders]\nshape = "plane"',
        "my.toml:23: colliders is a table but must be an array of tables: write [[colliders]]",
    ),
    "value for a table": (
        "[simulation]\nspacing = 0.1\nduration = 1.0",
        "simulation = 3",
        "my.toml:1: simulation is 3 but must be a table "
        "(resolution, duration, time step and domain)",
    ),
    "unclosed text": (
        'material = "goo"',
        'material = "goo',
        'my.toml:10: this is not valid TOML at column 16 (illegal character "\\n"): '
        "correct this line",
    ),
    "key given twice": (
        "spacing = 0.1",
        "spacing = 0.1\nspacing = 0.2",
        "my.toml:3: this is not valid TOML at column 14 (this key or table was given before): "
        "correct this line",
    ),
}
