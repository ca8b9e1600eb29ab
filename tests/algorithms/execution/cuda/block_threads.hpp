#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <ucontext.h>

namespace athanor::emulation {

/// The threads of one block of a kernel, on the thread of the system that calls run(): fibers, which take turns
/// whenever they meet a barrier or have polled in vain.
///
/// A thread of the system each would be the plainest way, but a barrier among them costs some microseconds a thread
/// where there are fewer processors than threads, and a block passes four in every primitive; a fiber switches in a
/// fraction of one. A loop over the threads between two barriers would be faster still, but the kernel would have to be
/// rewritten for it; so it runs as it stands, with threads that may stand at different places. One block is one thread
/// of the system, so that blocks do run side by side, and what orders their memory is needed.
///
/// Whether a barrier is missing is found in two ways: the order of turns is reversed with each barrier, and with the
/// thread sanitizer each fiber counts as a thread of its own, which nothing but barriers orders.
class BlockThreads {
 public:
  /// `idle` is called where all of them poll in vain.
  BlockThreads(unsigned count, std::function<void()> idle);
  ~BlockThreads();
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  /// What a thread throws to end the block. Nothing else may leave `body`.
  struct Ended {};

  /// Carries out `body` once by each thread, with threadIdx set. False where the block has been ended. Throws
  /// std::logic_error where some threads wait in a barrier and others have ended.
  bool run(const std::function<void()>& body);

  /// By one of the threads: waits for all others. True where `holds` was for all of them.
  bool meet(bool holds);
  /// By one of the threads: lets others go on.
  void pause();

 private:
  enum class State : int { ready, meeting, ended };
  struct Fiber;
  bool run_alone(const std::function<void()>& body);
  void resume(Fiber& fiber);
  void leave(Fiber& fiber, bool for_good);
  bool all_at(State state) const;
  void turn();
  void release();
  static void begin();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  const std::function<void()>* body_ = nullptr;
  ucontext_t main_{};
  std::atomic<Fiber*> present_{nullptr};
  std::atomic<bool> verdicts_[2] = {};
  std::atomic<unsigned> arrived_{0};  ///< in the present barrier
  std::atomic<bool> aborted_{false};
  unsigned meetings_ = 0;
  std::function<void()> idle_;
  void* main_in_sanitizer_ = nullptr;
  const void* main_stack_ = nullptr;
  std::size_t main_stack_bytes_ = 0;
  char sync_[2] = {};  ///< their addresses stand for barriers in turn, for the thread sanitizer
};

}  // namespace athanor::emulation
