"""Force fields: accelerations, winds, whirls, turbulence, pulls and drag on the free velocities."""
