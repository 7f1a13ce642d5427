#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# setup.sh VENV tour|test: makes the virtual environment and puts Tessera with what it needs into it.
# System packages that are missing are installed by name through apt where that is allowed (root, or
# sudo without a password); otherwise the one line to run is printed and the script stops.
set -eu
venv=$1
extra=$2
cd "$(dirname "$0")/.."

# The newest libLLVM that apt offers, from those that were tried.
llvm_package() {
    for version in 19 18 20 21 22 17 16 15; do
        if apt-cache policy "libllvm$version" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
            echo "libllvm$version"
            return
        fi
    done
    echo libllvm19
}

have_llvm() {
    for dir in /usr/lib /usr/lib64 /usr/lib/*-linux-gnu /usr/lib/llvm-*/lib /usr/local/lib; do
        for file in "$dir"/libLLVM-1[5-9].so* "$dir"/libLLVM.so.[12]* "$dir"/libLLVM-2*.so*; do
            if [ -e "$file" ]; then return 0; fi
        done
    done
    return 1
}

missing() {
    command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || echo gcc libc6-dev
    command -v python3 >/dev/null 2>&1 || echo python3
    python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
    python3 -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null || echo python3-dev
    [ -e /usr/include/stdio.h ] || echo libc6-dev
    [ "$extra" != test ] || command -v c++ >/dev/null 2>&1 || echo g++
    [ "$extra" != test ] || command -v pkg-config >/dev/null 2>&1 || echo pkg-config
    have_llvm || llvm_package
}

needed=$(missing | tr '\n' ' ')
if [ -n "$(echo "$needed" | tr -d ' ')" ]; then
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "Tessera needs these and found no apt to install them with: $needed" >&2
        exit 1
    fi
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        echo "Tessera needs some system packages. Run this, then the same command again:" >&2
        echo "    sudo apt-get update && sudo apt-get install -y $needed" >&2
        exit 1
    fi
    $as_root apt-get update -qq || echo "apt-get update failed; going on with the lists that are here" >&2
    needed=$(missing | tr '\n' ' ')
    echo "installing: $needed"
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $needed
fi

python3 -c 'import sys
if sys.version_info < (3, 10): sys.exit("Tessera needs Python 3.10 or newer; python3 is " + sys.version.split()[0])'

if [ ! -x "$venv/bin/python" ]; then
    echo "making $venv"
    python3 -m venv "$venv"
fi
echo "building and installing tessera[$extra] into $venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check ".[$extra]"
if [ "$extra" = test ]; then
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check meson ninja
fi
