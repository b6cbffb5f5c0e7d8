# shellcheck shell=bash disable=SC2154
# Sourced by tests/run for --gpu: what a real GPU is asked, in five parts. A part ends by itself after nine minutes at most, for
# machines that are lent for ten at a time, and counts what it has until then.

# Empty, it keeps the tests from the emulated libraries, and NVIDIA's own are found as in any program. Whoever sets it, to try this
# script without a GPU, gets what they name.
export TERN_CUDA_LIBRARIES=${TERN_CUDA_LIBRARIES:-}

gpu_parts=(smoke suite models sanitizers ledger)
part_seconds=540
short='~[.]~[long]'

# A part cut off from outside leaves its programs' output here.
gpu_build=$root/build-gpu
logs=$gpu_build/logs

# Programs run side by side. nproc heeds the variable, so it is asked before.
cores=$(nproc)
export OMP_NUM_THREADS=4

# From the simplest to whole networks: each primitive, NVIDIA's products, attention, convolutions and recurrent layers, streams and graphs, a
# training.
smoke_tests=(backend_cuda_contract_cpu ops_blas_cuda ops_attention_cuda ops_convolution_cuda ops_recurrent_cuda device_cuda_stream_cpu
  device_cuda_graph_cpu train_cpu_and_cuda_cpu)

# What the sanitizer sees, by program: the kernels written by hand, and some of those written down from lambdas. Few products, whose
# kernels are NVIDIA's.
declare -A sanitized=(
  [tern_tests_gpu]='contract'
  [tern_tests_cuda]='creation shape random dropout cumulative sort arithmetic fuse reduce sgd'
)

# limited COMMAND...: ends it with the part.
limited() {
  local left=$((part_end - SECONDS)) status=0
  timeout -k 10 "$((left > 0 ? left : 1))" "$@" || status=$?
  ((status != 124)) || echo "cut off at the end of the part's $part_seconds s"
  return $status
}

# In the background: start NAME COMMAND...; finish NAME prints what it prints, to its end, and fails if it failed.
start() {
  local job=$logs/$1
  shift
  rm -f "$job".*
  { "$@" >"$job.log" 2>&1 || echo $? >"$job.status"; } &
  echo $! >"$job.pid"
}
finish() {
  local job=$logs/$1
  tail -n +1 -f --pid="$(<"$job.pid")" "$job.log"
  [[ ! -s $job.status ]] || return "$(<"$job.status")"
}

build_on_gpu() {
  cmake -S "$root" -B "$gpu_build" --preset gpu &&
    limited cmake --build "$gpu_build" --parallel "$cores" --target "$@" -- -k 0 ||
    echo "Not everything was built." # what was not fails below
  mkdir -p "$logs"
}

# The operator cases, an operator a process: most of the time goes into compiling kernels, one after the other.
operators_on_gpu() {
  local cases=${TERN_TEST_DATA:-}/opinfo log=$logs/operators.counts operators status=0
  if [[ ! -d $cases ]]; then
    echo "needs TERN_TEST_DATA/opinfo"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  operators=$(grep -o '"op": *"[^"]*"' "$cases/cases.jsonl" | cut -d'"' -f4 | sort -u)
  limited xargs -P "$cores" -I{} "$gpu_build/tests/tern_opinfo_cuda" --cases "$cases" --only {} \
    <<<"$operators" >"$log" || status=$?
  grep -E '^(FAILED|cut off)' "$log"
  # An operator that has no counts crashed or did not come to its end.
  awk -v all="$(wc -l <<<"$operators")" '/^[0-9]+ passed, / { p += $1; f += $3; s += $5; --all }
    END { if (all > 0) print all " operators did not end"; print p + 0 " passed, " f + all " failed, " s + 0 " skipped" }' "$log"
  return $status
}

# sanitize TOOL PROGRAM CASE: a test case under NVIDIA's compute-sanitizer, and a line that says how it ended. Where the sanitizer refuses
# the device, that is a skip.
sanitize() {
  local name log status=0
  name=$(mktemp -p "$logs" "$1-XXXX.case") && log=${name%.case}.sanitizer && echo "$3" >"$name"
  # An empty variable does not reach the program. A folder without libraries says the same.
  TERN_CUDA_LIBRARIES=${TERN_CUDA_LIBRARIES:-$gpu_build} TERN_NO_CUDA_MEMORY_CACHING=1 \
    "$sanitizer" --tool "$1" --report-api-errors no --error-exitcode 9 "$gpu_build/tests/suites/$2" --input-file "$name" >"$log" 2>&1 || status=$?
  if grep -q 'Device not supported' "$log" || ! grep -q '^========= COMPUTE-SANITIZER' "$log"; then
    echo "skipped $1, $3: compute-sanitizer cannot be used here"
  elif ((status == 0)) && grep -q '^1 passed, 0 failed' "$log" && grep -q 'SUMMARY' "$log"; then
    echo "passed $1, $3"
  elif ((status == 0)) && grep -q '^0 passed, 0 failed, 1 skipped' "$log"; then
    echo "skipped $1, $3"
  else
    grep -v '^=========$' "$log" | tail -n 40
    echo "failed $1, $3"
  fi
}

# sanitized_cases TOOL: what sanitize takes, a word a line.
sanitized_cases() {
  local program file
  for program in "${!sanitized[@]}"; do
    for file in ${sanitized[$program]}; do
      # Version 2 of Catch2 exits with their number.
      { "$gpu_build/tests/suites/$program" --filenames-as-tags --list-test-names-only "[#$file]$short" || true; } |
        sed "s/^/$1\n$program\n/"
    done
  done
}

# The cases under a tool, one a process: some take seconds there and some minutes.
sanitize_all() {
  local words log=$logs/$1.counts status=0
  if ! sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v compute-sanitizer); then
    echo "compute-sanitizer is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  export -f sanitize
  export sanitizer gpu_build logs
  words=$(sanitized_cases "$1")
  if [[ ! $words ]]; then
    echo "The programs have no cases."
    echo "0 passed, 1 failed, 0 skipped"
    return
  fi
  limited xargs -d '\n' -n 3 -P "$cores" bash -c 'sanitize "$@"' sanitize <<<"$words" >"$log" || status=$?
  grep -v '^passed ' "$log"
  # A case without a line did not come to its end.
  awk -v all="$(wc -l <<<"$words")" '/^(passed|failed|skipped) / { ++n[$1] }
    END { left = all / 3 - n["passed"] - n["failed"] - n["skipped"]; if (left > 0) print left " cases did not end"
          print n["passed"] + 0 " passed, " n["failed"] + left " failed, " n["skipped"] + 0 " skipped" }' "$log"
  return $status
}

# cases_on_gpu SPEC: the test cases that SPEC selects. Those about Cuda itself are in a program of the host's cases.
cases_on_gpu() {
  local program
  build_on_gpu tern_tests_gpu tern_tests_cuda
  for program in tern_tests_gpu tern_tests_cuda; do start $program limited "$gpu_build/tests/suites/$program" --filenames-as-tags "$1"; done
  for program in tern_tests_gpu tern_tests_cuda; do suite $program finish $program; done
}

part_smoke() {
  local test
  build_on_gpu "${smoke_tests[@]/#/test_}"
  for test in "${smoke_tests[@]}"; do suite "$test" limited "$gpu_build/tests/test_$test" "$short"; done
}

# The cases that run on a device, every eighth file in one process: most of the time goes into compiling kernels here too.
groups=8
# files_of_group GROUP: Catch2's way of saying these files.
files_of_group() {
  grep -rl TERN_TEST_DEVICES --include='*.cpp' "$root/tests" | sed -E 's,.*/(.*)\.cpp,[#\1]'"$short"',' | sort -u |
    awk -v group="$1" -v groups=$groups 'NR % groups == group' | paste -sd,
}

part_suite() {
  local group program programs=(tern_tests_gpu)
  build_on_gpu tern_tests_gpu tern_tests_cuda tern_opinfo_cuda
  start tern_tests_gpu limited "$gpu_build/tests/suites/tern_tests_gpu" --filenames-as-tags "$short"
  for ((group = 0; group < groups; ++group)); do
    programs+=("tern_tests_cuda-$group")
    start "tern_tests_cuda-$group" limited "$gpu_build/tests/suites/tern_tests_cuda" --filenames-as-tags "$(files_of_group $group)"
  done
  start operators operators_on_gpu
  for program in "${programs[@]}" operators; do suite "$program" finish "$program"; done
}

part_models() {
  build_on_gpu tern_models_cuda
  suite models limited "$gpu_build/tests/tern_models_cuda" '~[double]'
}

part_sanitizers() {
  local tool
  build_on_gpu "${!sanitized[@]}"
  for tool in memcheck racecheck; do suite $tool sanitize_all $tool; done
}

# The ledger's times against those of another profiler of CUPTI's, and what a trace costs.
part_ledger() { suite ledger limited "$root/tests/cupti/run" --gpu; }

kernels_on_gpu() {
  local kernels=$gpu_build/tests/cache/tern/kernels
  mkdir -p "$kernels" && find "$kernels" -type f ! -name 'compiler-*' | wc -l
}

# run_on_gpu: the part that $filter names, or the test cases; without one, all parts.
run_on_gpu() {
  local gpu part before
  gpu=$(need_gpu) || exit 1
  before=$(kernels_on_gpu)
  echo "$gpu, $cores cores, $before kernels compiled beforehand"
  part_end=$((SECONDS + part_seconds))
  if [[ -z $filter ]]; then
    for part in "${gpu_parts[@]}"; do
      part_end=$((SECONDS + part_seconds))
      "part_$part"
    done
  elif [[ " ${gpu_parts[*]} " == *" $filter "* ]]; then
    "part_$filter"
  else
    cases_on_gpu "$(catch_spec)"
  fi
  echo "$(($(kernels_on_gpu) - before)) kernels compiled here"
}
