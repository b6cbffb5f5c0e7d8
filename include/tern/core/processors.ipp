// The functions of processors.hpp.
#pragma once
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "processors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// A file of the kernel; empty if it cannot be read.
TERN_COLD std::string kernel_file(const std::string& path) {
  std::string text;
  if (std::FILE* const file = std::fopen(path.c_str(), "r")) {
    char part[4096];
    for (std::size_t n; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
    std::fclose(file);
  }
  return text;
}

/// The least quota of a group and of those that it lies in. A container may see its own group's files at the root.
TERN_COLD double least_quota(const std::string& mount, std::string group, bool unified) {
  double least = 0;
  for (;;) {
    const std::string folder = mount + group;
    std::string quota = kernel_file(folder + (unified ? "/cpu.max" : "/cpu.cfs_quota_us")), period;
    if (!unified) period = kernel_file(folder + "/cpu.cfs_period_us");
    else if (const std::size_t space = quota.find(' '); space != quota.npos) period = quota.substr(space);
    const double microseconds = std::atof(quota.c_str()), every = std::atof(period.c_str());  // "max" and -1: none
    if (microseconds > 0 && every > 0) least = least > 0 ? std::min(least, microseconds / every) : microseconds / every;
    if (group.size() <= 1) return least;
    group.resize(group.rfind('/'));
  }
}

TERN_COLD double control_group_quota(const std::string& root) {
  const std::string groups = kernel_file(root + "/proc/self/cgroup"), folder = root + "/sys/fs/cgroup";
  double least = 0;
  for (std::size_t begin = 0, end; (end = groups.find('\n', begin)) != groups.npos; begin = end + 1) {
    const std::string line = groups.substr(begin, end - begin);  // number:controllers:group
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    double quota = 0;
    if (controllers.empty()) quota = least_quota(folder, group, true);
    else if ((',' + controllers + ',').find(",cpu,") != controllers.npos)
      quota = least_quota(folder + '/' + controllers, group, false);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
  }
  return least;
}

TERN_COLD Processors processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set)) return {1, 0, 1};
  int count = 0;
  std::vector<std::string> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    ++count;
    const std::string siblings =
        kernel_file("/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list");
    if (siblings.empty() || std::find(cores.begin(), cores.end(), siblings) == cores.end()) cores.push_back(siblings);
  }
  return {count, int(std::ceil(control_group_quota(""))), int(cores.size())};
}

TERN_COLD int Processors::threads() const {
  const int least = std::min(affinity, cores);
  return quota ? std::min(least, quota) : least;
}

TERN_COLD const char* Processors::reason() const {
  const int n = threads();
  return n == quota && n < std::min(affinity, cores) ? "the control group's quota"
         : n < affinity                              ? "the processor's cores"
                                                     : "the processors of this process";
}

}}}  // namespace tern::detail
