#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace athanor {

/// Threads that do the same work together, over and over. Made once, since a piece of work takes microseconds; who
/// waits looks for some microseconds, and then sleeps.
class Team {
 public:
  /// `size` >= 1, the thread that calls run() included.
  explicit Team(std::uint32_t size);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  /// Calls work(k) for each k from 0 to below `size`, one on each thread, 0 on this one, and returns when all are done.
  /// Nothing may be thrown out of it.
  void run(const std::function<void(std::uint32_t)>& work);
  /// Within work, as often on each thread: waits until all have come so far.
  void meet();

 private:
  void wait(std::uint32_t round);

  std::uint32_t size_;
  std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
  const std::function<void(std::uint32_t)>* work_ = nullptr;  ///< nullptr: nothing will come any more
  std::vector<std::thread> threads_;
};

}  // namespace athanor
