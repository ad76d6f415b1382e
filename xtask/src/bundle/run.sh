#!/usr/bin/env bash
# Warpwright's test programs, main job and benchmarks on a machine that has no Rust. See `./run.sh help`.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'TEXT'
usage: ./run.sh COMMAND [--filter TEXT] [--program NAME] [ARGUMENT…]

  run        the main job: every kernel on real-sized input, checked against the oracle (bin/warpwright-run ARGUMENT…)
  test       every test program, on the GPU
  sanitize   memcheck, racecheck, synccheck and initcheck over the test programs named in gpu-tests.txt
  bench      the benchmark programs in bench/
  counters   ncu's counters beside the simulator's, as a table; what ncu prints is kept in ncu.csv or the file named
  list       the programs in this bundle

  --filter TEXT    only tests whose name contains TEXT
  --program NAME   only the test or benchmark program NAME

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
                # Tests so named hold kernels that racecheck reports although PTX orders them; they say why.
                skip=()
                [[ $tool == racecheck ]] && skip=(--skip beyond_racecheck)
                # One test at a time: the tool serialises launches, and its report then names the test that runs.
                step "$tool $name" compute-sanitizer --tool "$tool" --error-exitcode 99 \
                    "$here/tests/$name" --test-threads=1 "${skip[@]}" "${filter[@]}" "${arguments[@]}"
            done
        done <"$here/gpu-tests.txt"
        summary
        ;;
    bench)
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
