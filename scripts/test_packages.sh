#!/bin/sh
# Installs the Debian packages that tests need: a software Vulkan driver, which stands in for a GPU,
# and OpenVDB's own Python module, with which files are compared.
#
# Without the right to install, or without a network, the tests that need them are skipped.
set -u

has_vulkan() {
    ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1
}

has_openvdb() {
    /usr/bin/python3 -c 'import pyopenvdb' >/dev/null 2>&1 || /usr/bin/python3 -c 'import openvdb' >/dev/null 2>&1
}

may_install() {
    [ "$(uname -s)" = Linux ] && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]
}

install() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y --no-install-recommends "$@"
}

# provide PACKAGE WHETHER_IT_IS_THERE MORE_PACKAGES...
provide() {
    package=$1
    is_there=$2
    shift 2
    if $is_there; then
        return
    fi
    if may_install && { [ -n "$updated" ] || apt-get update; } >"$log" 2>&1; then
        updated=yes
        if install "$package" "$@" >"$log" 2>&1; then
            return
        fi
    fi
    tail -n 3 "$log"
    echo "$package is not installed and cannot be installed here: its tests will be skipped"
}

log=$(mktemp)
updated=
provide mesa-vulkan-drivers has_vulkan libvulkan1
provide python3-openvdb has_openvdb
rm -f "$log"
