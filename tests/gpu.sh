# shellcheck shell=bash disable=SC2154
# Sourced by tests/run for --gpu: what a real GPU is asked, in under ten minutes on a machine of 16 cores.

# Empty, it keeps the tests from the emulated libraries, and NVIDIA's own are found as in any program. Whoever sets it, to try this
# script without a GPU, gets what they name.
export TERN_CUDA_LIBRARIES=${TERN_CUDA_LIBRARIES:-}

gpu_build=$root/build-gpu

# Programs run side by side. nproc heeds the variable, so it is asked before.
cores=$(nproc)
export OMP_NUM_THREADS=4

# What the sanitizer sees, by program: the kernels written by hand, and some of those written down from lambdas. Few products, whose
# kernels are NVIDIA's.
declare -A sanitized=(
  [tern_tests]='[#contract]'
  [tern_tests_cuda]='[#creation],[#shape],[#random],[#dropout],[#cumulative],[#sort],[#arithmetic],[#fuse],[#reduce],[#sgd]'
)

# In the background: start NAME COMMAND...; finish NAME prints what it prints, to its end, and fails if it failed.
jobs_folder=$(mktemp -d)
trap 'rm -rf "$jobs_folder"' EXIT
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
    xargs -P "$cores" -I{} timeout 300 "$gpu_build/tests/tern_opinfo_cuda" --cases "$cases" --only {} >"$jobs_folder/cases"
  local status=$?
  grep -E '^FAILED' "$jobs_folder/cases"
  awk '/^[0-9]+ passed, / { p += $1; f += $3; s += $5 } END { print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped" }' \
    "$jobs_folder/cases"
  return $status
}

# sanitize TOOL PROGRAM: its kernels under NVIDIA's compute-sanitizer. One that is missing, or refuses the device, is a skip.
sanitize() {
  local sanitizer log=$jobs_folder/$1.$2.log status=0
  if ! sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v compute-sanitizer); then
    echo "compute-sanitizer is not installed"
    echo "0 passed, 0 failed, 1 skipped"
    return
  fi
  timeout 200 "$sanitizer" --tool "$1" --report-api-errors no --error-exitcode 9 \
    "$gpu_build/tests/$2" --filenames-as-tags "${sanitized[$2]}" >"$log" 2>&1 || status=$?
  grep -v '^=========$' "$log" | tail -n 40
  if grep -q 'Device not supported' "$log" || { ((status != 124)) && ! grep -q 'SUMMARY' "$log"; }; then
    echo "compute-sanitizer cannot be used here"
    echo "0 passed, 0 failed, 1 skipped"
  elif ((status == 0)) && grep -qE '^[1-9][0-9]* passed' "$log"; then
    echo "1 passed, 0 failed, 0 skipped"
  else
    ((status != 124)) || echo "compute-sanitizer did not end in 200 s"
    echo "0 passed, 1 failed, 0 skipped"
  fi
}

# run_on_gpu SPEC: the test cases that SPEC selects; without one, all, the operator cases, and the sanitizer. Cases that are about Cuda
# itself are in the host's suite.
run_on_gpu() {
  local gpu program tool programs=(tern_tests tern_tests_cuda) targets=(tern_tests tern_tests_cuda)
  gpu=$(need_gpu) || exit 1
  echo "$gpu, $cores cores"
  [[ $1 ]] || targets+=(tern_opinfo_cuda tern_models_cuda)
  # Whatever compiler such a machine has, its new warnings must not stop the tests.
  cmake -S "$root" -B "$gpu_build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_COMPILE_WARNING_AS_ERROR=OFF &&
    cmake --build "$gpu_build" --parallel "$cores" --target "${targets[@]}" -- -k 0 ||
    echo "Not everything was built." # what was not fails below

  for program in "${programs[@]}"; do
    start "$program" timeout 300 "$gpu_build/tests/$program" --filenames-as-tags ${1:+"$1"}
  done
  if [[ -z $1 ]]; then
    start opinfo opinfo_on_gpu
    start models timeout 300 "$gpu_build/tests/tern_models_cuda" '~[double]'
  fi
  for program in "${programs[@]}"; do suite "$program" finish "$program"; done
  [[ $1 ]] && return
  suite "opinfo" finish opinfo
  suite "models" finish models

  for tool in memcheck racecheck; do
    for program in "${programs[@]}"; do start "$tool $program" sanitize "$tool" "$program"; done
  done
  for tool in memcheck racecheck; do
    for program in "${programs[@]}"; do suite "$tool $program" finish "$tool $program"; done
  done
}
