"""Errors that a user can cause; each message is one sentence that says what to do."""


class ViscoilError(Exception):
    """Base of every error that the command line reports in one line, without a traceback."""


class SceneError(ViscoilError):
    """A scene that cannot be used; `problems` holds one sentence for each thing that is wrong."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class RunError(ViscoilError):
    """A run that cannot start or go on: memory, output folder, compute backend."""


class DivergedError(RunError):
    """The simulation went wrong; `state_kept` tells whether it is back in its last good state."""

    def __init__(self, message: str, state_kept: bool = True) -> None:
        super().__init__(message)
        self.state_kept = state_kept


class ResumeError(RunError):
    """A run folder that cannot be continued with this scene."""


class MeshError(ViscoilError):
    """A mesh file, or a sequence of them, that cannot be read or written."""


class ParticleFileError(ViscoilError):
    """A particle file of another program that cannot be read."""


class VdbError(ViscoilError):
    """An OpenVDB file that cannot be read, or a grid that cannot be written to one."""


class MissingExtraError(ViscoilError):
    """A feature whose optional dependency is not installed."""


class Stopped(ViscoilError):
    """The user stopped a run (not an error); its state is saved, `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
