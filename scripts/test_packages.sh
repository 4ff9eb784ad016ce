#!/bin/sh
# Installs the Debian packages that tests need: a software Vulkan driver, which stands in for a GPU.
#
# Without the right to install, or without a network, the test that needs it is skipped.
set -u
package=mesa-vulkan-drivers

if ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1; then
    exit 0
fi
if [ "$(uname -s)" != Linux ] || ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "no software Vulkan driver: its test will be skipped ($package provides it)"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { apt-get update && apt-get install -y --no-install-recommends $package libvulkan1; } >"$log" 2>&1; then
    tail -n 3 "$log"
    echo "$package cannot be installed here: its test will be skipped"
fi
rm -f "$log"
