#include "models/workload/contested_step.hpp"

#include <algorithm>
#include <numeric>

#include "sim/check.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kStart = UINT32_MAX - 1;

/// Of those that something waits for, so many at most are remembered: those that ended last.
constexpr std::size_t kMostAncestors = 12;

/// Operations as vertices: all that take part in one transfer are one.
class OperationGraph {
 public:
  OperationGraph(const Workload& workload, const WorkloadEstimates& estimates, const Records& records)
      : workload_(workload), records_(records) {
    number_vertices(estimates);
    for (std::uint32_t worker = 0; worker < workload.workers.size(); ++worker) { add_waits(worker); }
  }

  struct Vertex {
    Time duration;
    std::uint32_t estimate = kNone;  ///< of a transfer
  };
  const std::vector<Vertex>& vertices() const { return vertices_; }
  /// Vertices that wait for another one, each as often as it does.
  const std::vector<std::vector<std::uint32_t>>& successors() const { return successors_; }
  const std::vector<std::uint32_t>& waits() const { return waits_; }

 private:
  std::uint32_t vertex(std::uint32_t worker, std::uint32_t operation) const {
    return of_operation_[first_[worker] + operation];
  }

  void number_vertices(const WorkloadEstimates& estimates) {
    std::vector<std::uint32_t> of_transfer;
    for (std::uint32_t worker = 0; worker < records_.size(); ++worker) {
      first_.push_back(static_cast<std::uint32_t>(of_operation_.size()));
      const std::vector<Workload::Operation>& operations = workload_.workers[worker].operations;
      for (std::uint32_t number = 0; number < operations.size(); ++number) {
        const OperationRecord& record = records_[worker][number];
        if (record.transfer != kNone) {
          if (record.transfer >= of_transfer.size()) { of_transfer.resize(record.transfer + std::size_t{1}, kNone); }
          std::uint32_t& known = of_transfer[record.transfer];
          if (known == kNone) { known = add(record, estimates.of(operations[number])); }
          of_operation_.push_back(known);
          continue;
        }
        // Who receives a message that came early does nothing itself.
        const bool waits = operations[number].kind == Workload::Kind::receive;
        of_operation_.push_back(add(waits ? OperationRecord{} : record, kNone));
      }
    }
    successors_.resize(vertices_.size());
    waits_.resize(vertices_.size());
  }

  std::uint32_t add(const OperationRecord& record, std::uint32_t estimate) {
    vertices_.push_back({record.end - record.start, estimate});
    return static_cast<std::uint32_t>(vertices_.size() - 1);
  }

  void wait(std::uint32_t who, std::uint32_t for_whom) {
    if (who == for_whom) { return; }
    successors_[for_whom].push_back(who);
    ++waits_[who];
  }

  void add_waits(std::uint32_t worker) {
    const Workload::Worker& own = workload_.workers[worker];
    for (std::uint32_t number = 0; number < own.operations.size(); ++number) {
      const Workload::Operation& operation = own.operations[number];
      const std::uint32_t who = vertex(worker, number);
      for (std::uint32_t d = 0; d < operation.dependencies; ++d) {
        wait(who, vertex(worker, own.dependencies[operation.first_dependency + d]));
      }
      const OperationRecord& record = records_[worker][number];
      if (record.transfer == kNone && operation.kind == Workload::Kind::receive) {
        wait(who, vertex(record.last.worker, record.last.operation));
      }
    }
    add_waits_for_streams(worker);
  }

  /// What a stream did before, in the order in which it did it.
  void add_waits_for_streams(std::uint32_t worker) {
    const Workload::Worker& own = workload_.workers[worker];
    std::vector<std::vector<std::uint32_t>> by_stream(own.streams.size());
    for (std::uint32_t number = 0; number < own.operations.size(); ++number) {
      by_stream[own.operations[number].stream].push_back(number);
    }
    for (std::size_t stream = 0; stream < by_stream.size(); ++stream) {
      std::vector<std::uint32_t>& all = by_stream[stream];
      if (!own.streams[stream].ordered) {
        std::stable_sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
          const OperationRecord& x = records_[worker][a];
          const OperationRecord& y = records_[worker][b];
          return x.begin != y.begin ? x.begin < y.begin : x.end < y.end;
        });
      }
      for (std::size_t i = 1; i < all.size(); ++i) { wait(vertex(worker, all[i]), vertex(worker, all[i - 1])); }
    }
  }

  const Workload& workload_;
  const Records& records_;
  std::vector<Vertex> vertices_;
  std::vector<std::uint32_t> first_;         ///< by worker, into of_operation_
  std::vector<std::uint32_t> of_operation_;  ///< its vertex
  std::vector<std::vector<std::uint32_t>> successors_;
  std::vector<std::uint32_t> waits_;
};

/// A contested transfer, and how long after its end at the earliest something begins.
struct Ancestor {
  std::uint32_t transfer = kStart;
  Time lag;
};
using Ancestors = std::vector<Ancestor>;

/// Goes through the graph in an order in which everything stands behind what it waits for.
class Contraction {
 public:
  Contraction(const OperationGraph& graph, const std::vector<bool>& contested)
      : graph_(graph), contested_(contested), ancestors_(graph.vertices().size()) {}

  ContestedStep contract() {
    std::vector<std::uint32_t> waits = graph_.waits();
    std::vector<std::uint32_t> ready;
    for (std::uint32_t vertex = 0; vertex < waits.size(); ++vertex) {
      if (waits[vertex] == 0) { ready.push_back(vertex); }
    }
    Ancestors of_end;
    std::size_t seen = 0;
    while (!ready.empty()) {
      const std::uint32_t vertex = ready.back();
      ready.pop_back();
      ++seen;
      const Ancestors behind = leave(vertex);
      const auto& successors = graph_.successors()[vertex];
      for (const std::uint32_t next : successors) {
        merge(ancestors_[next], behind);
        if (--waits[next] == 0) { ready.push_back(next); }
      }
      if (successors.empty()) { merge(of_end, behind); }
    }
    require(seen == waits.size(), "operations that have run wait for each other in a circle");
    drop_implied(of_end);
    const auto end = static_cast<std::uint32_t>(step_.transfers.size());
    step_.end_waits_for = begin_after(end, of_end);
    return std::move(step_);
  }

 private:
  /// What stands behind a vertex waits for.
  Ancestors leave(std::uint32_t vertex) {
    const OperationGraph::Vertex& own = graph_.vertices()[vertex];
    Ancestors before = std::move(ancestors_[vertex]);
    ancestors_[vertex].shrink_to_fit();
    if (before.empty()) { before.push_back({}); }
    if (own.estimate == kNone || !contested_[own.estimate]) {
      for (Ancestor& each : before) { each.lag += own.duration; }
      return before;
    }
    drop_implied(before);
    const auto number = static_cast<std::uint32_t>(step_.transfers.size());
    step_.transfers.push_back({own.estimate, 0, {}});
    waited_for_.push_back(before);
    alone_.push_back({begin(before), own.duration});
    step_.transfers[number].waits_for = begin_after(number, before);
    return {{number, Time::zero()}};
  }

  struct Alone {
    Time begin;
    Time duration;
  };

  Time end_of(std::uint32_t transfer) const {
    return transfer == kStart ? Time::zero() : alone_[transfer].begin + alone_[transfer].duration;
  }
  Time begin(const Ancestors& before) const {
    Time latest;
    for (const Ancestor& each : before) { latest = std::max(latest, end_of(each.transfer) + each.lag); }
    return latest;
  }

  std::uint32_t begin_after(std::uint32_t transfer, const Ancestors& before) {
    for (const Ancestor& each : before) {
      auto& successors = each.transfer == kStart ? step_.first : step_.transfers[each.transfer].successors;
      successors.push_back({transfer, each.lag});
    }
    return static_cast<std::uint32_t>(before.size());
  }

  void merge(Ancestors& all, const Ancestors& more) const {
    if (all.empty()) {
      all = more;
      return;
    }
    for (const Ancestor& each : more) {
      const auto same =
          std::find_if(all.begin(), all.end(), [&](const Ancestor& known) { return known.transfer == each.transfer; });
      if (same == all.end()) {
        all.push_back(each);
      } else {
        same->lag = std::max(same->lag, each.lag);
      }
    }
    if (all.size() <= kMostAncestors) { return; }
    drop_implied(all);
    if (all.size() <= kMostAncestors) { return; }
    std::sort(all.begin(), all.end(), [&](const Ancestor& a, const Ancestor& b) {
      const Time x = end_of(a.transfer) + a.lag;
      const Time y = end_of(b.transfer) + b.lag;
      return x != y ? x > y : a.transfer < b.transfer;
    });
    all.resize(kMostAncestors);
  }

  /// Those that another one waits for, so that whoever waits for that one has waited for them, too.
  void drop_implied(Ancestors& all) const {
    const auto implied = [&](const Ancestor& each) {
      return std::any_of(all.begin(), all.end(), [&](const Ancestor& other) {
        if (other.transfer == kStart || other.transfer == each.transfer) { return false; }
        const Time behind = alone_[other.transfer].duration + other.lag;
        if (each.transfer == kStart) { return alone_[other.transfer].begin + behind >= each.lag; }
        const Ancestors& before = waited_for_[other.transfer];
        return std::any_of(before.begin(), before.end(), [&](const Ancestor& link) {
          return link.transfer == each.transfer && link.lag + behind >= each.lag;
        });
      });
    };
    Ancestors kept;
    for (const Ancestor& each : all) {
      if (!implied(each)) { kept.push_back(each); }
    }
    all = std::move(kept);
  }

  const OperationGraph& graph_;
  const std::vector<bool>& contested_;
  std::vector<Ancestors> ancestors_;   ///< by vertex
  std::vector<Ancestors> waited_for_;  ///< by contested transfer
  std::vector<Alone> alone_;           ///< the same
  ContestedStep step_;
};

}  // namespace

ContestedStep contested_step(const Workload& workload, const WorkloadEstimates& estimates, const Records& records,
                             const std::vector<bool>& contested) {
  return Contraction(OperationGraph(workload, estimates, records), contested).contract();
}

}  // namespace athanor
