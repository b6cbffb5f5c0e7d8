# shellcheck shell=bash disable=SC2317
# Sourced by examples/run: a program on several ranks.

# launch_ranks N MPIRUN COMMAND...: runs the command N times on this machine, by Open MPI's mpirun, in this shell's place. Ctrl-C and SIGTERM
# go to the ranks and not to mpirun, which would stop reading what they print and end them; so they write their checkpoint and name it.
# The status is then that of a program that the signal has ended.
launch_ranks() {
  local ranks=$1 launcher signal='' status
  shift
  # Open MPI allows neither more ranks than cores nor root, as in a container, and takes a rank's own status for an accident.
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_orte_abort_on_non_zero_status=0
  ((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  set -m # a process group of its own, which a terminal's Ctrl-C does not reach
  "$1" -n "$ranks" "${@:2}" </dev/null &
  launcher=$!
  set +m
  pass_on() {
    local children
    signal=$1
    children=$(<"/proc/$launcher/task/$launcher/children")
    # shellcheck disable=SC2086
    kill -"$2" ${children:-"$launcher"} 2>/dev/null || true
  }
  trap 'pass_on INT INT' INT
  trap 'pass_on TERM TERM' TERM
  trap 'pass_on HUP TERM' HUP
  while status=0; wait "$launcher" || status=$?; kill -0 "$launcher" 2>/dev/null; do :; done
  [[ ! $signal ]] || status=$((128 + $(kill -l "$signal")))
  exit "$status"
}
