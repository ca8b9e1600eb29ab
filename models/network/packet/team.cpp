#include "models/network/packet/team.hpp"

namespace athanor {

Team::Team(std::uint32_t size) : size_(size) {
  for (std::uint32_t k = 1; k < size; ++k) {
    threads_.emplace_back([this, k] {
      for (;;) {
        meet();
        if (work_ == nullptr) { return; }
        (*work_)(k);
        meet();
      }
    });
  }
}

Team::~Team() {
  work_ = nullptr;
  meet();
  for (std::thread& thread : threads_) { thread.join(); }
}

void Team::run(const std::function<void(std::uint32_t)>& work) {
  work_ = &work;
  meet();
  work(0);
  meet();
}

void Team::meet() {
  const std::uint32_t round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) { return wait(round); }
  arrived_.store(0, std::memory_order_relaxed);
  round_.store(round + 1, std::memory_order_release);
  round_.notify_all();
}

void Team::wait(std::uint32_t round) {
  constexpr int kLooks = 500;  // some ten microseconds
  constexpr int kYields = 20;
  for (int k = 0; k < kLooks; ++k) {
    if (round_.load(std::memory_order_acquire) != round) { return; }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  for (int k = 0; k < kYields; ++k) {
    if (round_.load(std::memory_order_acquire) != round) { return; }
    std::this_thread::yield();
  }
  while (round_.load(std::memory_order_acquire) == round) { round_.wait(round, std::memory_order_acquire); }
}

}  // namespace athanor
