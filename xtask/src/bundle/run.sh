#!/usr/bin/env bash
# Warpwright's test programs, main job and benchmarks on a machine that has no Rust. See `./run.sh help`.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'TEXT'
usage: ./run.sh COMMAND [--filter TEXT] [--program NAME] [ARGUMENT…]

  run        the main job: the main kernels on real-sized input, checked against the reference (bin/warpwright-run ARGUMENT…)
  tutorial   every kernel from the smallest idea up, and the figures of the teaching texts (bin/warpwright-tutorial ARGUMENT…)
  test       every test program, on the GPU
  sanitize   memcheck, racecheck, synccheck and initcheck over the test programs named in gpu-tests.txt
  bench      ours beside cuBLAS, cuBLASLt, CUB and the driver's copy (bin/warpwright-bench ARGUMENT…); records go to
             benchmarks/DEVICE.jsonl of the bundle, or where --out says. Builds peers/libwarpwright_cub.so with nvcc once
  bench-torch [FILE.jsonl]   the same cases with PyTorch (--only, --shape, --quick, --mode choose as for bench)
  simulator  the benchmark programs in bench/: the simulator's own speed
  counters   ncu's counters beside the simulator's, as a table; what ncu prints is kept in ncu.csv or the file named
  list       the programs in this bundle

  --filter TEXT    only tests whose name contains TEXT
  --program NAME   only the test or benchmark program NAME

bench finds cuBLAS in the toolkit or beside PyTorch; WARPWRIGHT_CUBLAS, WARPWRIGHT_CUBLASLT and WARPWRIGHT_CUB name other
files, CUDA_HOME another toolkit, PYTHON another python3.

WARPWRIGHT_DEVICE says where to run: cuda, simulator, best. Where it is not set, tests run on cuda and run on best.
Every program that fails is named at the end, and the exit code is then 1.
TEXT
}

failures=()
passes=0

# Runs a command, keeps its verdict under a name.
step() {
    local name=$1
    shift
    printf '\n=== %s ===\n' "$name"
    local start=$SECONDS
    # Not our stdin: that holds the list of programs still to run.
    if "$@" </dev/null; then
        passes=$((passes + 1))
        printf -- '--- %s: passed (%s s)\n' "$name" "$((SECONDS - start))"
    else
        local code=$?
        failures+=("$name (exit code $code)")
        printf -- '--- %s: FAILED, exit code %s (%s s)\n' "$name" "$code" "$((SECONDS - start))"
    fi
}

summary() {
    printf '\n%s passed, %s failed\n' "$passes" "${#failures[@]}"
    if ((${#failures[@]} > 0)); then
        printf '  failed: %s\n' "${failures[@]}"
        exit 1
    fi
    if ((passes == 0)); then
        echo "nothing ran: no program matches"
        exit 1
    fi
    exit 0
}

need() {
    if ! command -v "$1" >/dev/null; then
        echo "$1 is not on PATH; $2" >&2
        exit 1
    fi
}

# The files of a folder, or the one that --program names.
programs() {
    local file
    for file in "$here/$1"/*; do
        if [[ -x $file && ( -z $program || $(basename "$file") == "$program" ) ]]; then
            printf '%s\n' "$file"
        fi
    done
}

# Builds CUB's library beside its source, unless it is there already and newer.
build_cub() {
    local source=$here/peers/cub.cu library=$here/peers/libwarpwright_cub.so
    local nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
    [[ -f $library && ! $source -nt $library ]] && return
    command -v "$nvcc" >/dev/null || nvcc=nvcc
    if ! command -v "$nvcc" >/dev/null; then
        echo "no nvcc on PATH or in CUDA_HOME: CUB will be left out" >&2
        return
    fi
    echo "building $library with $nvcc" >&2
    if ! "$nvcc" -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC,-fvisibility=hidden -o "$library.new" "$source"; then
        echo "nvcc failed: CUB will be left out" >&2
        return
    fi
    mv "$library.new" "$library"
}

# Lets the dynamic linker find the cuBLAS that came with PyTorch, after whatever it finds by itself.
find_cublas() {
    local folders
    folders=$("${PYTHON:-python3}" - 2>/dev/null <<'PYTHON'
import glob, os, site, sys
roots = site.getsitepackages() + [site.getusersitepackages()] + sys.path
found = [p for r in roots if r for p in glob.glob(os.path.join(r, "nvidia", "*", "lib", "libcublas.so.1*"))]
print(":".join(dict.fromkeys(os.path.dirname(p) for p in found)))
PYTHON
    ) || return 0
    if [[ -n $folders ]]; then
        export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folders
    fi
}

# Runs the benchmark with its records in the bundle.
bench() {
    export WARPWRIGHT_BENCHMARKS=${WARPWRIGHT_BENCHMARKS:-$here/benchmarks}
    export WARPWRIGHT_COMMIT=${WARPWRIGHT_COMMIT:-$(<"$here/commit.txt")}
    exec "$@"
}

command=${1:-help}
shift || true
filter=()
program=
arguments=()
while (($# > 0)); do
    case $1 in
        --filter) filter=("${2:?--filter needs a text}"); shift 2 ;;
        --program) program=${2:?--program needs a name}; shift 2 ;;
        *) arguments+=("$1"); shift ;;
    esac
done
if [[ $command == test || $command == sanitize ]]; then
    export WARPWRIGHT_DEVICE=${WARPWRIGHT_DEVICE:-cuda}
fi

case $command in
    run)
        exec "$here/bin/warpwright-run" "${arguments[@]}"
        ;;
    tutorial)
        exec "$here/bin/warpwright-tutorial" "${arguments[@]}"
        ;;
    test)
        while read -r file; do
            step "$(basename "$file")" "$file" "${filter[@]}" "${arguments[@]}"
        done < <(programs tests)
        summary
        ;;
    sanitize)
        need compute-sanitizer "it comes with the CUDA toolkit"
        while read -r name; do
            [[ -z $program || $name == "$program" ]] || continue
            for tool in memcheck racecheck synccheck initcheck; do
                # Tests so named hold kernels that racecheck reports although PTX orders them; they say why. It does
                # not follow arrivals of threads at mbarriers, which order the work units of grouped products.
                skip=()
                [[ $tool == racecheck ]] && skip=(--skip beyond_racecheck --skip gemm_grouped::)
                # One test at a time: the tool serialises launches, and its report then names the test that runs.
                step "$tool $name" compute-sanitizer --tool "$tool" --error-exitcode 99 \
                    "$here/tests/$name" --test-threads=1 "${skip[@]}" "${filter[@]}" "${arguments[@]}"
            done
        done <"$here/gpu-tests.txt"
        summary
        ;;
    bench)
        build_cub
        find_cublas
        bench "$here/bin/warpwright-bench" "${arguments[@]}"
        ;;
    bench-torch)
        need "${PYTHON:-python3}" "it runs PyTorch; PYTHON names another"
        file=
        if [[ ${arguments[0]:-} == *.jsonl ]]; then
            file=${arguments[0]}
            arguments=("${arguments[@]:1}")
        fi
        cases=$("$here/bin/warpwright-bench" --list --json "${arguments[@]}") || exit 1
        export WARPWRIGHT_COMMIT=${WARPWRIGHT_COMMIT:-$(<"$here/commit.txt")}
        exec "${PYTHON:-python3}" "$here/peers/torch_bench.py" --folder "$here/benchmarks" --out "$file" <<<"$cases"
        ;;
    simulator)
        while read -r file; do
            step "$(basename "$file")" "$file" --bench "${filter[@]}" "${arguments[@]}"
        done < <(programs bench)
        summary
        ;;
    counters)
        need ncu "it comes with the CUDA toolkit (Nsight Compute)"
        file=${arguments[0]:-ncu.csv}
        counters=$here/bin/warpwright-counters
        if ! ncu --clock-control none --csv --metrics "$("$counters" --metrics)" "$counters" --launch >"$file"; then
            echo "ncu failed; what it printed is in $file" >&2
            exit 1
        fi
        exec "$counters" --compare "$file"
        ;;
    list)
        (cd "$here" && ls -l bin tests bench 2>/dev/null)
        ;;
    help | --help | -h)
        usage
        ;;
    *)
        usage >&2
        exit 2
        ;;
esac
