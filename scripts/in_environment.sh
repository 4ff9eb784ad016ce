#!/bin/sh
# in_environment.sh PROGRAM [ARGUMENT...]: runs a program of the active environment, else of .venv, else
# of the PATH. Modules are those of this checkout, wherever the environment has Viscoil from.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
PATH="${VIRTUAL_ENV:+$VIRTUAL_ENV/bin:}$root/.venv/bin:$PATH"
PYTHONPATH="$root/src${PYTHONPATH:+:$PYTHONPATH}"
export PATH PYTHONPATH
if ! command -v "$1" >/dev/null; then
    echo "there is no $1 in the active environment, .venv or the PATH: \`make test\` installs it in .venv" >&2
    exit 1
fi
exec "$@"
