#!/bin/sh
# Makes a virtual environment with a Python that this project runs on: make_venv.sh FOLDER
#
# PYTHON chooses the interpreter. Where Debian's python3 comes without venv, it is installed if that
# is allowed (root), and else the command for it is shown.
set -eu
folder=$1
in_range='import sys; sys.exit(not (3, 10) <= sys.version_info[:2] < (3, 14))'

if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "$in_range; import pip" 2>/dev/null; then
    exit 0
fi

for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
    if "$candidate" -c "$in_range" 2>/dev/null; then
        found=$candidate
        break
    fi
done
if [ -z "${found:-}" ]; then
    echo "make: Python 3.10 to 3.13 is needed and ${PYTHON:-python3} is not that:" \
        "install one, or name it with make PYTHON=/path/to/python" >&2
    exit 1
fi

if ! "$found" -c 'import ensurepip' 2>/dev/null; then
    version=$("$found" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "python$version-venv"
    else
        echo "make: $found has no venv module: run sudo apt-get install python$version-venv" >&2
        exit 1
    fi
fi

echo "making $folder with $("$found" --version)"
"$found" -m venv --clear "$folder"
