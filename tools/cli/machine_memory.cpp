#include "tools/cli/machine_memory.hpp"

#include <algorithm>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "sim/error.hpp"
#include "sim/file.hpp"
#include "sim/parse.hpp"

namespace athanor {

namespace {

/// What a file of the control group says; a lot where it says "max", or is not there.
double limit_in(const std::string& path) {
  constexpr double kALot = 1e18;
  try {
    std::string text = read_text_file(path);
    while (!text.empty() && text.back() == '\n') { text.pop_back(); }
    const auto bytes = parse_count(text);
    return bytes ? static_cast<double>(*bytes) : kALot;
  } catch (const FileError&) { return kALot; }
}

}  // namespace

double machine_memory() {
  double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
    if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
      bytes = std::min(bytes, static_cast<double>(limit.rlim_cur));
    }
  }
  return std::min(bytes, limit_in("/sys/fs/cgroup/memory.max"));
}

}  // namespace athanor
