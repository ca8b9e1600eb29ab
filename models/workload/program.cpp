#include "models/workload/program.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/format.hpp"
#include "sim/words.hpp"

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

namespace {

constexpr std::size_t kMostLines = 8;

class Stuck {
 public:
  Stuck(const Workload& workload, const std::vector<std::unique_ptr<Program>>& programs,
        const CollectiveMatcher& meetings)
      : workload_(workload), programs_(programs), meetings_(meetings) {}

  std::string describe() {
    for (std::uint32_t worker = 0; worker < programs_.size(); ++worker) {
      if (programs_[worker]->left() > 0) { add(worker); }
    }
    const std::size_t more = lines_.size() > kMostLines ? lines_.size() - kMostLines : 0;
    lines_.resize(std::min(lines_.size(), kMostLines));
    return fmt::format("{} of {} workers cannot end:\n  {}{}", stuck_, programs_.size(), joined(lines_, "\n  "),
                       more > 0 ? fmt::format("\n  and {} more", more) : "");
  }

 private:
  std::string label(std::uint32_t worker, std::uint32_t operation) const {
    const Workload::Operation& own = programs_[worker]->operation(operation);
    return fmt::format("operation {} ({})", operation, workload_.labels[own.label]);
  }

  /// What it has come to and cannot do; where there is nothing, operations that wait for each other.
  void add(std::uint32_t worker) {
    ++stuck_;
    const Program& program = *programs_[worker];
    const auto count = static_cast<std::uint32_t>(workload_.workers[worker].operations.size());
    bool found = false;
    for (std::uint32_t number = 0; number < count; ++number) {
      if (!program.released(number)) { continue; }
      if (std::string why = waits_for({worker, number}); !why.empty()) {
        lines_.push_back(fmt::format("{}: {} {}", workload_.workers[worker].name, label(worker, number), why));
        found = true;
        break;
      }
    }
    if (!found) { add_cycle(worker, count); }
  }

  std::string waits_for(OperationId who) const {
    const Workload::Operation& own = programs_[who.worker]->operation(who.operation);
    const std::vector<std::uint32_t> absent = meetings_.missing(who);
    if (absent.empty()) { return ""; }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(absent.size(), 4); ++i) {
      names.push_back(workload_.workers[absent[i]].name);
    }
    if (absent.size() > 4) { names.push_back(fmt::format("{} more", absent.size() - 4)); }
    const std::string what = own.kind == Workload::Kind::call
                                 ? fmt::format("{} over {}", name(workload_.calls[own.subject].kind),
                                               workload_.communicators[workload_.calls[own.subject].communicator].name)
                             : own.kind == Workload::Kind::send ? "send of " + to_string(own.size)
                                                                : "receive of " + to_string(own.size);
    return fmt::format("waits in {} for {}", what, joined(names, ", "));
  }

  /// From the first operation that has not ended along what each waits for, until one comes up again.
  void add_cycle(std::uint32_t worker, std::uint32_t count) {
    const Program& program = *programs_[worker];
    std::uint32_t at = 0;
    while (at < count && program.ended(at)) { ++at; }
    std::vector<std::uint32_t> way;
    while (std::find(way.begin(), way.end(), at) == way.end()) {
      way.push_back(at);
      at = waited_for(worker, at);
      if (at == UINT32_MAX) { break; }
    }
    std::vector<std::string> names;
    for (auto each = std::find(way.begin(), way.end(), at); each != way.end() && names.size() < 6; ++each) {
      names.push_back(label(worker, *each));
    }
    lines_.push_back(
        fmt::format("{}: operations wait for each other: {}", workload_.workers[worker].name, joined(names, " -> ")));
  }

  /// A dependency that has not ended; where all have, what is before it in its stream.
  std::uint32_t waited_for(std::uint32_t worker, std::uint32_t number) const {
    const Workload::Worker& all = workload_.workers[worker];
    const Workload::Operation& own = all.operations[number];
    for (std::uint32_t d = 0; d < own.dependencies; ++d) {
      const std::uint32_t on = all.dependencies[own.first_dependency + d];
      if (!programs_[worker]->ended(on)) { return on; }
    }
    for (std::uint32_t before = number; before-- > 0;) {
      const bool same = all.operations[before].stream == own.stream;
      if (same && !programs_[worker]->ended(before)) { return before; }
    }
    return UINT32_MAX;
  }

  const Workload& workload_;
  const std::vector<std::unique_ptr<Program>>& programs_;
  const CollectiveMatcher& meetings_;
  std::size_t stuck_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace

std::string describe_stuck(const Workload& workload, const std::vector<std::unique_ptr<Program>>& programs,
                           const CollectiveMatcher& meetings) {
  return Stuck(workload, programs, meetings).describe();
}

}  // namespace athanor
