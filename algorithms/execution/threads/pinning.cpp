#include "algorithms/execution/threads/pinning.hpp"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace athanor {

#if defined(__linux__)
void pin_worker(std::uint32_t worker, std::uint32_t workers) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) { return; }
  if (static_cast<std::uint32_t>(CPU_COUNT(&allowed)) < workers) { return; }
  std::uint32_t before = 0;
  for (std::size_t processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || before++ < worker) { continue; }
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    pthread_setaffinity_np(pthread_self(), sizeof own, &own);  // a refusal leaves the thread where it may go
    return;
  }
}
#else
void pin_worker(std::uint32_t, std::uint32_t) {}
#endif

}  // namespace athanor
