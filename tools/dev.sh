#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Debug build in build/, with the extensions linked beside the Python sources: PYTHONPATH=python works.
set -eu
cd "$(dirname "$0")/.."
[ -f build/build.ninja ] || meson setup build >/dev/null
meson setup --reconfigure build >/dev/null
ninja -C build
for so in build/_core*.so build/_bindings*.so; do
    ln -sf "../../$so" python/tessera/
done
