// The number of threads that a machine, an affinity and a container's limit leave. The files of control groups are as
// the kernel's documentation describes them (cgroup-v1/cpu, cgroup-v2).
#include <tern/core/processors.hpp>

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.hpp"

namespace core_processors {
using namespace tern;

namespace {

/// A root folder with files, removed at the end.
struct Root {
  std::filesystem::path path;
  Root() {
    std::string name = (std::filesystem::temp_directory_path() / "tern_processors_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Root() { std::filesystem::remove_all(path); }
  const Root& write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path / file).parent_path());
    std::ofstream(path / file) << text;
    return *this;
  }
  double quota() const { return detail::control_group_quota(path.string()); }
};

}  // namespace

TEST_CASE("a quota of control groups, version 2, is the least of those above") {
  const Root root;
  CHECK(root.quota() == 0);
  root.write("proc/self/cgroup", "0::/system.slice/job\n");
  CHECK(root.quota() == 0);
  root.write("sys/fs/cgroup/system.slice/job/cpu.max", "max 100000\n");
  CHECK(root.quota() == 0);
  root.write("sys/fs/cgroup/system.slice/job/cpu.max", "250000 100000\n");
  CHECK(root.quota() == 2.5);
  root.write("sys/fs/cgroup/system.slice/cpu.max", "150000 100000\n");
  CHECK(root.quota() == 1.5);
}

TEST_CASE("a container sees its quota at the root") {
  const Root root;
  root.write("proc/self/cgroup", "0::/docker/1234\n").write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(root.quota() == 4);
}

TEST_CASE("a quota of control groups, version 1") {
  const Root root;
  root.write("proc/self/cgroup", "9:cpuset:/\n4:cpu,cpuacct:/docker/12\n0::/\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_period_us", "100000\n");
  CHECK(root.quota() == 0);
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_quota_us", "50000\n");
  CHECK(root.quota() == 0.5);
}

TEST_CASE("the number of threads is the least of three, and says which") {
  CHECK(detail::Processors{8, 0, 8}.threads() == 8);
  CHECK(detail::Processors{8, 0, 8}.reason() == std::string("the processors of this process"));
  CHECK(detail::Processors{8, 3, 8}.threads() == 3);
  CHECK(detail::Processors{8, 3, 8}.reason() == std::string("the control group's quota"));
  CHECK(detail::Processors{8, 5, 4}.threads() == 4);
  CHECK(detail::Processors{8, 5, 4}.reason() == std::string("the processor's cores"));
  CHECK(detail::Processors{8, 16, 8}.reason() == std::string("the processors of this process"));
}

TEST_CASE("processors are those of the affinity") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CHECK(detail::processors().affinity == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  CHECK(detail::processors().affinity == 1);
  CHECK(detail::processors().threads() == 1);
  CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("the quota of a control group that this process is moved to") {
  for (const std::string mount : {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"}) {
    const std::filesystem::path group = mount + "/tern_test_" + std::to_string(getpid());
    const bool unified = mount == "/sys/fs/cgroup";
    std::error_code refused;
    if (!std::filesystem::create_directory(group, refused) || refused) continue;
    if (std::ofstream limit(group / (unified ? "cpu.max" : "cpu.cfs_quota_us"));
        limit << (unified ? "130000 100000" : "130000") << std::flush) {
      std::ofstream(group / "cgroup.procs") << getpid() << std::flush;
      CHECK(detail::processors().quota == 2);
      std::ofstream(mount + "/cgroup.procs") << getpid() << std::flush;
      std::filesystem::remove(group);
      return;
    }
    std::filesystem::remove(group);
  }
  WARN("skipped: no control group can be made here");
}

}  // namespace core_processors
