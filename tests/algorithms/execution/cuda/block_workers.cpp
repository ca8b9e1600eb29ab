#include "tests/algorithms/execution/cuda/block_workers.hpp"

#include <latch>
#include <utility>

namespace athanor::emulation {

BlockWorkers::~BlockWorkers() {
  for (const auto& worker : idle_) {
    {
      const std::scoped_lock lock(worker->mutex);
      worker->closing = true;
      worker->given.notify_one();
    }
    worker->thread.join();
  }
}

std::unique_ptr<BlockWorkers::Worker> BlockWorkers::taken() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  auto worker = std::make_unique<Worker>();
  worker->thread = std::thread([made = worker.get()] { carry_out(*made); });
  return worker;
}

void BlockWorkers::carry_out(Worker& worker) {
  while (true) {
    std::unique_lock lock(worker.mutex);
    worker.given.wait(lock, [&] { return worker.closing || worker.work != nullptr; });
    if (worker.closing) { return; }
    const std::function<void()> work = std::exchange(worker.work, nullptr);
    lock.unlock();
    work();
  }
}

void BlockWorkers::run(unsigned count, const std::function<void(unsigned)>& block) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (unsigned number = 0; number < count; ++number) { workers.push_back(taken()); }
  std::latch ends(count);
  for (unsigned number = 0; number < count; ++number) {
    Worker& worker = *workers[number];
    const std::scoped_lock lock(worker.mutex);
    worker.work = [&, number] {
      block(number);
      ends.count_down();
    };
    worker.given.notify_one();
  }
  ends.wait();
  const std::scoped_lock lock(mutex_);
  for (auto& worker : workers) { idle_.push_back(std::move(worker)); }
}

}  // namespace athanor::emulation
