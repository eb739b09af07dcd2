#!/usr/bin/env bash
# Build the native modules with sanitizers in a folder of its own, and run tests and the campaign on
# them. What follows the script's name goes to the campaign (default: --count 2000); SANITIZE=thread
# takes the thread sanitizer in place of those of addresses and undefined behaviour, and runs only
# the tests. Needs gcc, and a Python with tfprof's extra "test" and Cython: PYTHON names it.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
python=$(command -v -- "${PYTHON:-python3}")
[[ $python == /* ]] || python=$PWD/$python
sanitize=${SANITIZE:-address,undefined}
work=$(mktemp -d "${TMPDIR:-/tmp}/tfprof-sanitizers.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

cd -- "$root"
for part in tfprof tests fuzz protos setup.py pyproject.toml README.md LICENSE; do
    cp -R -- "$part" "$work/"
done
rm -f -- "$work"/tfprof/core/wire/native/*.{so,c}
cd -- "$work"
CFLAGS="-O1 -g -fno-omit-frame-pointer -fsanitize=$sanitize -fno-sanitize-recover=all" \
    TFPROF_NATIVE=1 "$python" setup.py -q build_ext --inplace

# All that is native, by way of the tests of the modules that call it.
tests=(core/wire core/columns core/text/test_outline_text.py captures/read profiles/read
    profiles/write graphs/read files/test_open.py test_crash_list.py)
mapfile -t tests < <(printf 'tests/%s\n' "${tests[@]}")
pytest=("$python" -m pytest -n 0 -q -p no:cacheprovider -W ignore)
others="tensorflow or jax or browser or documentation or readers or gym"

# Python was not built with the sanitizers, so their runtime comes first. Python and the other
# extensions leak at exit, by design.
export PYTHONPATH=$work PYTHONMALLOC=malloc HYPOTHESIS_PROFILE=emulated
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1
if [[ $sanitize == thread ]]; then
    # Python has no annotations: where the lock of the interpreter passes from thread to thread
    # is visible in calls of pthreads, which the runtime replaces. What happens in Python, NumPy and
    # protobuf alone says nothing about the native modules.
    printf '%s\n' called_from_lib:libpython {race,mutex,deadlock}:libpython race:{numpy,_upb} \
        > "$work/suppressions"
    export TSAN_OPTIONS="halt_on_error=0 exitcode=66 suppressions=$work/suppressions"
    LD_PRELOAD=$(gcc -print-file-name=libtsan.so) setarch --addr-no-randomize \
        "${pytest[@]}" -m "not ($others)" tests/captures/read/test_threads.py \
        tests/core/wire/test_text_index.py tests/core/wire/test_scan_parts.py
    exit
fi
runtime="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
LD_PRELOAD=$runtime "${pytest[@]}" -m "not ($others)" "${tests[@]}"
export FUZZ_SLOWNESS="${FUZZ_SLOWNESS:-20}"
(($#)) || set -- --count 2000
LD_PRELOAD=$runtime "$python" -m fuzz.campaign --findings "${FINDINGS:-$root/fuzz/corpus}" "$@"
