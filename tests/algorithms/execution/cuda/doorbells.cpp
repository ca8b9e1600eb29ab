#include "tests/algorithms/execution/cuda/doorbells.hpp"

#include <thread>

namespace athanor::emulation {

#if defined(__SANITIZE_THREAD__)
void Doorbells::wait(const void*, const std::function<bool()>&) { std::this_thread::yield(); }
void Doorbells::ring(const void*) {}
#else
void Doorbells::wait(const void* word, const std::function<bool()>& changed) {
  Bell& of_word = bell(word);
  std::unique_lock lock(of_word.mutex);
  ++of_word.waiting;
  // The bell of other words may be the same, and a signal of the host rings none: so not for long.
  if (!changed()) { of_word.rung.wait_for(lock, std::chrono::milliseconds(5)); }
  --of_word.waiting;
}

void Doorbells::ring(const void* word) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Bell& of_word = bell(word);
  if (of_word.waiting == 0) { return; }
  const std::scoped_lock lock(of_word.mutex);
  of_word.rung.notify_all();
}
#endif

}  // namespace athanor::emulation
