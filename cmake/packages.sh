# shellcheck shell=bash disable=SC2034
# Sourced by tests/run, examples/run and benchmarks/run: what they need from the system.

# What compiling tern takes.
build_packages=(g++ cmake ninja-build libdnnl-dev zlib1g-dev)
# What reading and packing pictures takes besides: tests, examples and benchmarks do.
image_packages=(libjpeg-dev libpng-dev liblmdb-dev)
# What training by several processes takes besides: Open MPI for the examples and benchmarks, both for the tests.
mpi_packages=(libopenmpi-dev openmpi-bin)
all_mpi_packages=("${mpi_packages[@]}" libmpich-dev mpich)

# need PACKAGE...: installs those Debian packages that are missing; asks first where it is not root. On another system, where
# packages come from CMAKE_PREFIX_PATH, or where no registry answers, CMake says what it does not find.
need() {
  command -v dpkg-query apt-get >/dev/null && [[ -z ${CMAKE_PREFIX_PATH:-} ]] || return 0
  local package missing=()
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) == *" installed" ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local sudo=() answer=
  if ((EUID != 0)); then
    echo "Missing packages: ${missing[*]}"
    [[ -t 0 ]] && read -rp "Install them with sudo apt-get? [y/N] " answer
    if [[ $answer != [yY]* ]]; then
      echo "To go on, run: sudo apt-get install ${missing[*]}" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" ||
    echo "Could not be installed: ${missing[*]}" >&2
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
  if [[ -z ${CXX:-} ]] && (($(g++ -dumpversion | cut -d. -f1) < 12)); then
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
