# shellcheck shell=bash disable=SC2034
# Sourced by tests/run, examples/run and benchmarks/run: what they need from the system.

# What compiling tern takes.
build_packages=(g++ cmake ninja-build libdnnl-dev zlib1g-dev libeigen3-dev)
# What reading and packing pictures takes besides: tests, examples and benchmarks do.
image_packages=(libjpeg-dev libpng-dev liblmdb-dev)
# What training by several processes takes besides: Open MPI for the examples and benchmarks, both for the tests.
mpi_packages=(libopenmpi-dev openmpi-bin)
all_mpi_packages=("${mpi_packages[@]}" libmpich-dev mpich)

# need PACKAGE...: installs those Debian packages that are missing, with an old oneDNN also pip, which has a newer one (onednn.cmake); asks
# first where it is not root. Fails with what to do where they cannot be installed. On another system, or where packages come from
# CMAKE_PREFIX_PATH, CMake says what it does not find.
need() {
  if ! command -v dpkg-query apt-get >/dev/null || [[ ${CMAKE_PREFIX_PATH:-} ]]; then
    need_commands cmake ninja "${CXX:-c++}"
    return
  fi
  local package version missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *" installed" ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  # Nothing that apt prints is the caller's output. Where the lists cannot be updated, those there may do.
  ((EUID != 0)) || apt-get update -qq >&2 || true
  if [[ " ${missing[*]} " == *" libdnnl-dev "* && $(dpkg --print-architecture) == amd64 ]] && ! command -v pip3 >/dev/null; then
    version=$(apt-cache show libdnnl-dev 2>/dev/null | awk '/^Version: / && !found++ {print $2}' || true)
    ! dpkg --compare-versions "$version" lt 3 || missing+=(python3-pip)
  fi

  local sudo=() answer='' become=''
  if ((EUID != 0)); then
    become='sudo '
    echo "Missing packages: ${missing[*]}" >&2
    if [[ -t 0 ]] && command -v sudo >/dev/null; then read -rp "Install them with sudo apt-get? [y/N] " answer; fi
    if [[ $answer != [yY]* ]]; then
      echo "To go on, run as root: apt-get update && apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
    sudo apt-get update -qq >&2 || true
  fi
  if ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2; then
    echo "Packages are missing and could not be installed: ${missing[*]}" >&2
    echo "To go on, see that this works: ${become}apt-get update && ${become}apt-get install ${missing[*]}" >&2
    return 1
  fi
}

# need_commands COMMAND...: fails where one of them is missing.
need_commands() {
  local command missing=()
  for command in "$@"; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  ((${#missing[@]})) || return 0
  echo "Not found: ${missing[*]}. tern takes a C++20 compiler with OpenMP, CMake, Ninja, oneDNN, zlib and Eigen, from this system's packages." >&2
  return 1
}

# Prints the GPU's name and the driver's version; where no GPU can be used, says why and fails.
need_gpu() {
  local probe status=0
  probe=$(mktemp)
  "${CXX:-g++}" -std=c++20 -I "$root/include" -x c++ - -o "$probe" -ldl <<'CPP'
#include <cstdio>
#include <tern/device/cuda/context.hpp>
int main() {
  using namespace tern;
  if (!cuda::is_available()) return std::fprintf(stderr, "No GPU: %s\n", cuda::why_not().c_str()), 1;
  const cuda::DeviceInfo gpu = cuda::device_info();
  std::printf("%s, CUDA %s\n", gpu.name.c_str(), gpu.driver_version.c_str());
}
CPP
  "$probe" || status=$?
  rm "$probe"
  return $status
}

# Where the system's g++ is older than 12 (Ubuntu 22.04), takes the newer one beside it.
choose_compiler() {
  [[ -z ${CXX:-} ]] && command -v g++ >/dev/null || return 0
  if (($(g++ -dumpversion | cut -d. -f1) < 12)); then
    need g++-12
    export CXX=g++-12
  fi
}

# Prints the newest clang++ there is; fails if none is 16 or newer.
newest_clang() {
  local version
  for version in {30..16}; do
    command -v "clang++-$version" && return
  done
  version=$(clang++ -dumpversion 2>/dev/null | cut -d. -f1)
  ((${version:-0} >= 16)) && command -v clang++
}

# Installs a clang++ with its OpenMP and sanitizers, as far as they are missing.
need_clang() {
  local version compiler
  if compiler=$(newest_clang); then
    version=$("$compiler" -dumpversion | cut -d. -f1)
    need "clang-$version" "libomp-$version-dev" "libclang-rt-$version-dev"
    return
  fi
  for version in 16 17 18 19; do
    if apt-cache show "libomp-$version-dev" >/dev/null 2>&1; then
      need "clang-$version" "libomp-$version-dev" "libclang-rt-$version-dev"
      return
    fi
  done
  echo "This system has no package of clang 16 or newer." >&2
  return 1
}

# A build folder that can be written: build/ in the tree, or one for this tree in the user's cache.
build_folder() {
  if [[ -w $root/build || (! -e $root/build && -w $root) ]]; then
    echo "$root/build"
  else
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/tern/build-$(printf %s "$root" | cksum | cut -d' ' -f1)"
  fi
}

# nearest WORD: of the lines on stdin, the one that needs the fewest insertions, deletions and exchanges of letters to become WORD; nothing
# where that is more than half of its letters.
nearest() {
  awk -v word="$1" '
    function distance(a, b,    i, j, row, above, left) {
      for (j = 0; j <= length(b); ++j) row[j] = j
      for (i = 1; i <= length(a); ++i) {
        left = row[0]
        row[0] = i
        for (j = 1; j <= length(b); ++j) {
          above = row[j]
          row[j] = left + (substr(a, i, 1) != substr(b, j, 1))
          if (above + 1 < row[j]) row[j] = above + 1
          if (row[j - 1] + 1 < row[j]) row[j] = row[j - 1] + 1
          left = above
        }
      }
      return row[length(b)]
    }
    BEGIN { least = length(word) / 2 + 1 }
    { d = distance(word, $0); if (d < least) { least = d; best = $0 } }
    END { if (best != "") print best }'
}
