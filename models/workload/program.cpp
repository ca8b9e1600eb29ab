#include "models/workload/program.hpp"

#include <algorithm>

namespace athanor {

constexpr std::uint32_t kNone = UINT32_MAX;

/// Calls see(operation, what it depends on), the predecessor in an ordered stream included.
template <class See>
void Program::for_each_dependency(See see) const {
  std::vector<std::uint32_t> last(worker_.streams.size(), kNone);
  for (std::uint32_t number = 0; number < worker_.operations.size(); ++number) {
    const Workload::Operation& operation = worker_.operations[number];
    for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
      see(number, worker_.dependencies[operation.first_dependency + d]);
    }
    if (!worker_.streams[operation.stream].ordered) { continue; }
    if (last[operation.stream] != kNone) { see(number, last[operation.stream]); }
    last[operation.stream] = number;
  }
}

Program::Program(const Workload::Worker& worker)
    : worker_(worker),
      waiting_(worker.operations.size()),
      first_successor_(worker.operations.size() + 1),
      ready_(worker.streams.size()),
      busy_(worker.streams.size()),
      left_(static_cast<std::uint32_t>(worker.operations.size())) {
  for_each_dependency([&](std::uint32_t number, std::uint32_t on) {
    ++waiting_[number];
    ++first_successor_[on + 1];
  });
  for (std::size_t i = 1; i < first_successor_.size(); ++i) { first_successor_[i] += first_successor_[i - 1]; }
  successors_.resize(first_successor_.back());
  std::vector<std::uint32_t> next(first_successor_.begin(), first_successor_.end() - 1);
  for_each_dependency([&](std::uint32_t number, std::uint32_t on) { successors_[next[on]++] = number; });
}

/// Whether its stream is free; else it waits there.
bool Program::may_start(std::uint32_t number) {
  const std::uint16_t stream = worker_.operations[number].stream;
  if (worker_.streams[stream].ordered) { return true; }
  if (busy_[stream]) {
    ready_[stream].push(number);
    return false;
  }
  busy_[stream] = true;
  return true;
}

std::vector<std::uint32_t> Program::first() {
  std::vector<std::uint32_t> released;
  for (std::uint32_t number = 0; number < waiting_.size(); ++number) {
    if (waiting_[number] == 0 && may_start(number)) { released.push_back(number); }
  }
  return released;
}

void Program::end(std::uint32_t number, std::vector<std::uint32_t>& released) {
  waiting_[number] = kEnded;
  --left_;
  const auto before = static_cast<std::ptrdiff_t>(released.size());
  const std::uint16_t stream = worker_.operations[number].stream;
  if (!worker_.streams[stream].ordered) {
    busy_[stream] = false;
    if (!ready_[stream].empty()) {
      released.push_back(ready_[stream].top());
      ready_[stream].pop();
      busy_[stream] = true;
    }
  }
  for (std::uint32_t i = first_successor_[number]; i < first_successor_[number + 1]; ++i) {
    const std::uint32_t next = successors_[i];
    if (--waiting_[next] == 0 && may_start(next)) { released.push_back(next); }
  }
  std::sort(released.begin() + before, released.end());
}

}  // namespace athanor
