#!/usr/bin/env bash
# Build the extension with the address and undefined-behaviour sanitizers in a folder of its own,
# and run the campaign on it. What follows the script's name goes to the campaign; paths are absolute.
# Needs gcc, and a Python with tfprof's dependencies and Cython: PYTHON names it.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
python=$(command -v -- "${PYTHON:-python3}")
[[ $python == /* ]] || python=$PWD/$python
work=$(mktemp -d "${TMPDIR:-/tmp}/tfprof-sanitizers.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

for part in tfprof tests fuzz setup.py pyproject.toml README.md LICENSE; do
    cp -R -- "$root/$part" "$work/"
done
rm -f -- "$work"/tfprof/core/wire/native/*.so "$work"/tfprof/core/wire/native/*.c
cd -- "$work"
CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all" \
    TFPROF_NATIVE=1 "$python" setup.py -q build_ext --inplace

# Python was not built with the sanitizers, so their runtime comes first. Python and the other
# extensions leak at exit, by design.
export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc
export FUZZ_SLOWNESS="${FUZZ_SLOWNESS:-20}"
"$python" -m fuzz.campaign --findings "${FINDINGS:-$root/fuzz/corpus}" "$@"
