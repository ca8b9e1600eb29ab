#include "models/traces/layers/layer_chain.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

using Operation = Workload::Operation;

/// The stream whose computations take longest.
std::uint16_t main_stream(const Workload::Worker& worker) {
  std::vector<Time> times(worker.streams.size());
  for (const Operation& operation : worker.operations) {
    if (operation.kind == Workload::Kind::compute && !worker.streams[operation.stream].host) {
      times[operation.stream] += operation.time;
    }
  }
  return static_cast<std::uint16_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

class ChainBuilder {
 public:
  ChainBuilder(const Workload& workload, TraceNotes& notes)
      : workload_(workload), worker_(workload.workers.front()), notes_(notes), main_(main_stream(worker_)) {}

  LayerChain build() && {
    find_waiters();
    for (std::uint32_t i = 0; i < worker_.operations.size(); ++i) { add(i); }
    close();
    return std::move(chain_);
  }

 private:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  bool computes(std::uint32_t index) const {
    const Operation& operation = worker_.operations[index];
    return operation.kind == Workload::Kind::compute && operation.stream == main_;
  }
  bool calls(std::uint32_t index) const {
    const Operation& operation = worker_.operations[index];
    return operation.kind == Workload::Kind::call && ranks_of(call_of(index)) > 1;
  }
  const Workload::Call& call_of(std::uint32_t index) const {
    return workload_.calls[worker_.operations[index].subject];
  }
  std::size_t ranks_of(const Workload::Call& call) const {
    return workload_.communicators[call.communicator].groups->front().size();
  }
  bool of_data(std::uint32_t index) const {
    return workload_.communicators[call_of(index).communicator].use == Parallelism::data;
  }

  /// By call, the first computation or call that waits for it; and what is computed first behind it.
  void find_waiters() {
    waiter_.assign(worker_.operations.size(), kNobody);
    for (std::uint32_t i = 0; i < worker_.operations.size(); ++i) {
      if (!computes(i) && !calls(i)) { continue; }
      const Operation& operation = worker_.operations[i];
      for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
        std::uint32_t& waiter = waiter_[worker_.dependencies[operation.first_dependency + d]];
        waiter = std::min(waiter, i);
      }
    }
    next_.assign(worker_.operations.size(), kNobody);
    std::uint32_t next = kNobody;
    for (std::uint32_t i = static_cast<std::uint32_t>(worker_.operations.size()); i-- > 0;) {
      next_[i] = next;
      if (computes(i)) { next = i; }
    }
  }

  void add(std::uint32_t index) {
    const Operation& operation = worker_.operations[index];
    if (operation.kind == Workload::Kind::mark) { return; }
    if (computes(index)) { return add_computing(index); }
    if (operation.kind == Workload::Kind::compute) {
      return notes_.count("computations beside the stream that computes most are left out");
    }
    if (calls(index)) { add_call(index); }
  }

  void add_computing(std::uint32_t index) {
    const std::string& label = workload_.labels[worker_.operations[index].label];
    const Time time = worker_.operations[index].time;
    if (waits_for_gradients(index)) { ended_ = true; }
    if (ended_) { return add_update(label, time); }
    if (open_ && open_->waited_for) {
      if (index < waiter_of_open_) {
        open_->beside += time;
        return;
      }
      close();
    }
    if (!backward_ && label.find("backward") != std::string::npos) {
      close();
      backward_ = true;
    }
    if (!open_) { open_ = LayerChain::Link{label, Time::zero()}; }
    open_->time += time;
    if (time > longest_) {
      open_->label = label;
      longest_ = time;
    }
  }

  void add_update(const std::string& label, Time time) {
    const bool passes = label.find("backward") != std::string::npos || label.find("forward") != std::string::npos;
    if (!passes) {
      chain_.update += time;
      return;
    }
    throw SimulationError("not-in-layers",
                          fmt::format("'{}' waits for a call of data-parallel ranks, and in such a text "
                                      "nothing but the optimizer does; write it with --format athanor, "
                                      "chakra or goal",
                                      label));
  }

  bool waits_for_gradients(std::uint32_t index) const {
    const Operation& operation = worker_.operations[index];
    for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
      const std::uint32_t other = worker_.dependencies[operation.first_dependency + d];
      if (std::find(gradients_.begin(), gradients_.end(), other) != gradients_.end()) { return true; }
    }
    return false;
  }

  /// Data-parallel calls of backward, for which the next computation does not wait unless it is the optimizer.
  void add_call(std::uint32_t index) {
    const Workload::Call& call = call_of(index);
    if (call.imbalance > 1) { notes_.count("all-to-alls are uneven, and written as even ones"); }
    if (ended_) { return chain_.behind.push_back(call); }
    if (open_ && open_->waited_for) { close(); }
    if (!open_) { open_ = LayerChain::Link{"", Time::zero()}; }
    if (backward_ && of_data(index)) {
      open_->gradients = call;
      gradients_.push_back(index);
      return close();
    }
    open_->waited_for = call;
    waiter_of_open_ = waiter_[index];
    if (!backward_ || waiter_of_open_ <= next_[index]) {
      if (waiter_of_open_ > next_[index]) { notes_.count("calls beside forward are waited for at once"); }
      close();
    }
  }

  void close() {
    if (!open_) { return; }
    (backward_ ? chain_.backward : chain_.forward).push_back(std::move(*open_));
    open_.reset();
    longest_ = Time::zero();
  }

  const Workload& workload_;
  const Workload::Worker& worker_;
  TraceNotes& notes_;
  std::uint16_t main_;
  LayerChain chain_;
  std::optional<LayerChain::Link> open_;
  Time longest_;  ///< computation of the open link
  bool backward_ = false;
  bool ended_ = false;                    ///< the optimizer has begun
  std::uint32_t waiter_of_open_ = 0;      ///< who waits for the call of the open link
  std::vector<std::uint32_t> gradients_;  ///< calls that nothing waits for before it
  std::vector<std::uint32_t> waiter_;     ///< by operation
  std::vector<std::uint32_t> next_;       ///< by operation: what is computed next
};

}  // namespace

LayerChain chain_of(const Workload& workload, TraceNotes& notes) {
  if (workload.workers.size() != 1 || !workload.channels.empty()) {
    throw SimulationError(
        "not-in-layers",
        fmt::format("a text of layers is what all ranks do alike, and here are {} that differ and {} "
                    "channels between them (a pipeline); write it with --format athanor, chakra or goal",
                    workload.workers.size(), workload.channels.size()));
  }
  return ChainBuilder(workload, notes).build();
}

}  // namespace athanor
