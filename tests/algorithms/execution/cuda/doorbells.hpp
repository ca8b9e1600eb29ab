#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace athanor::emulation {

/// Lets a block sleep until somebody writes to the word that it polls; to poll on would take the processor from the
/// block that is to write. With the thread sanitizer nobody sleeps: the mutexes would order what the kernel has to.
class Doorbells {
 public:
  /// Until ring(word), or some milliseconds later, or at once where `changed` holds.
  void wait(const void* word, const std::function<bool()>& changed);
  /// After the word has been written.
  void ring(const void* word);

 private:
  struct Bell {
    std::atomic<int> waiting{0};
    std::mutex mutex;
    std::condition_variable rung;
  };
  Bell& bell(const void* word) { return bells_[reinterpret_cast<std::uintptr_t>(word) / 128 % bells_.size()]; }

  std::array<Bell, 251> bells_;
};

}  // namespace athanor::emulation
