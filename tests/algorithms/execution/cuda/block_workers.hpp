#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace athanor::emulation {

/// Threads of the system that carry out blocks, kept from kernel to kernel.
class BlockWorkers {
 public:
  BlockWorkers() = default;
  ~BlockWorkers();
  BlockWorkers(const BlockWorkers&) = delete;
  BlockWorkers& operator=(const BlockWorkers&) = delete;

  /// Carries out `block` with 0 to count - 1, all at once, and waits for their ends. Nothing may leave it. Thread-safe.
  void run(unsigned count, const std::function<void(unsigned)>& block);

 private:
  struct Worker {
    std::mutex mutex;
    std::condition_variable given;
    std::function<void()> work;
    bool closing = false;
    std::thread thread;
  };
  std::unique_ptr<Worker> taken();
  static void carry_out(Worker& worker);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace athanor::emulation
