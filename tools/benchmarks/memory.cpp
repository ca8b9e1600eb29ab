#include "tools/benchmarks/memory.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace athanor {

namespace {

/// A value of /proc/self/status in bytes ("VmHWM: 1234 kB"), or nothing elsewhere.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == key && status >> kibibytes) { return kibibytes * 1024; }
  }
  return 0;
}

std::int64_t peak() {
  if (const std::int64_t bytes = status_bytes("VmHWM:"); bytes > 0) { return bytes; }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

PeakMemory::PeakMemory() : before_(0) {
#ifdef __GLIBC__
  malloc_trim(0);  // memory that an earlier benchmark freed would otherwise be used again unseen
#endif
  std::ofstream("/proc/self/clear_refs") << 5;  // the peak starts anew
  before_ = peak();
}

double PeakMemory::megabytes() const { return static_cast<double>(std::max<std::int64_t>(0, peak() - before_)) * 1e-6; }

}  // namespace athanor
