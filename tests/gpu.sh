# shellcheck shell=bash disable=SC2154
# Sourced by tests/run for --gpu: what a real GPU is asked, in under ten minutes on a machine of 16 cores.

# Empty, it keeps the tests from the emulated libraries, and NVIDIA's own are found as in any program. Whoever sets it, to try this
# script without a GPU, gets what they name.
export TERN_CUDA_LIBRARIES=${TERN_CUDA_LIBRARIES:-}

# The kernels written by hand, and some of those written down from lambdas; few products, whose kernels are NVIDIA's.
sanitized='[#contract],[#arithmetic],[#fuse],[#reduce],[#shape],[#random],[#dropout],[#sgd]'

# In the background: start NAME COMMAND...; finish NAME prints what it prints, to its end, and fails if it failed.
jobs_folder=$(mktemp -d)
start() {
  local job=$jobs_folder/$1
  shift
  : >"$job"
  { "$@" >"$job" 2>&1 || echo $? >"$job.status"; } &
  echo $! >"$job.pid"
}
finish() {
  local job=$jobs_folder/$1
  tail -n +1 -f --pid="$(<"$job.pid")" "$job"
  [[ ! -s $job.status ]] || return "$(<"$job.status")"
}

# The operator cases, an operator a process: most of the time goes into compiling kernels, one after the other.
opinfo_on_gpu() {
  local cases=${TERN_TEST_DATA:-}/opinfo
  if [[ ! -d $cases ]]; then
    echo "needs TERN_TEST_DATA/opinfo"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  grep -o '"op": *"[^"]*"' "$cases/cases.jsonl" | cut -d'"' -f4 | sort -u |
    xargs -P "$(nproc)" -I{} timeout 300 "$root/build/tests/tern_opinfo_cuda" --cases "$cases" --only {} >"$jobs_folder/cases"
  local status=$?
  grep -E '^FAILED' "$jobs_folder/cases"
  awk '/^[0-9]+ passed, / { p += $1; f += $3; s += $5 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped" }' \
    "$jobs_folder/cases"
  return $status
}

# sanitize TOOL: the kernels under NVIDIA's compute-sanitizer. One that is missing, or refuses the device, is a skip.
sanitize() {
  local sanitizer log=$jobs_folder/$1.log status=0
  if ! sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v compute-sanitizer); then
    echo "compute-sanitizer is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  timeout 200 "$sanitizer" --tool "$1" --report-api-errors no --error-exitcode 9 \
    "$root/build/tests/tern_tests_cuda" --filenames-as-tags "$sanitized" >"$log" 2>&1 || status=$?
  grep -v '^=========$' "$log" | tail -n 40
  if grep -q 'Device not supported' "$log" || { ((status != 124)) && ! grep -q 'SUMMARY' "$log"; }; then
    echo "compute-sanitizer cannot be used here"
    echo "0 passed, 0 failed, 1 skipped"
  elif ((status == 0)); then
    echo "1 passed, 0 failed, 0 skipped"
  else
    ((status != 124)) || echo "compute-sanitizer did not end in 200 s"
    echo "0 passed, 1 failed, 0 skipped"
  fi
}

# run_on_gpu SPEC: the test cases that SPEC selects; without one, all, the operator cases, and the sanitizer.
run_on_gpu() {
  local gpu tests=("$root/build/tests/tern_tests_cuda" --filenames-as-tags) targets=(tern_tests_cuda)
  gpu=$(need_gpu) || exit 1
  echo "$gpu, $(nproc) cores"
  [[ $1 ]] || targets+=(tern_opinfo_cuda)
  cmake -S "$root" --preset release && cmake --build "$root/build" --parallel "$(nproc)" --target "${targets[@]}" -- -k 0
  if [[ $1 ]]; then
    suite "tern_tests_cuda" "${tests[@]}" "$1"
    return
  fi
  start opinfo opinfo_on_gpu
  suite "tern_tests_cuda" timeout 300 "${tests[@]}"
  suite "opinfo" finish opinfo
  start memcheck sanitize memcheck
  start racecheck sanitize racecheck
  suite "compute-sanitizer memcheck" finish memcheck
  suite "compute-sanitizer racecheck" finish racecheck
}
