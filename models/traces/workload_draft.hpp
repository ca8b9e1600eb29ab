#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/traces/trace_options.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

/// Problems of one kind (code) come thousandfold in a trace: the first is told, the others are counted.
class Complaints {
 public:
  void add(Problem problem);
  bool empty() const { return order_.empty(); }
  /// What was found, in the order in which kinds came up first.
  void report(Problems& problems) const;

 private:
  struct Kind {
    Problem first;
    std::uint64_t more = 0;
  };
  std::map<std::string, Kind> kinds_;
  std::vector<std::string> order_;
};

/// What a reader assumed or dropped, each sentence with how often.
class TraceNotes {
 public:
  void count(std::string_view sentence, std::uint64_t times = 1);
  /// Without a number in front.
  void say(std::string sentence);
  std::vector<std::string> texts() const;

 private:
  std::vector<std::pair<std::string, std::uint64_t>> notes_;  ///< 0 times: said
};

/// A workload while its trace is being read: names are kept once each, calls that ask for the same are one, and what
/// is wrong or dropped is collected.
class WorkloadDraft {
 public:
  /// From which file, and from which node of it, each operation of a worker came.
  struct Origin {
    std::string file;
    std::vector<std::uint64_t> nodes;
  };

  std::string file;  ///< the first of the trace's: where complaints are placed that are of no other
  Workload workload;
  std::vector<Origin> origins;  ///< by worker
  TraceNotes notes;
  Complaints complaints;

  std::uint32_t label(std::string_view text);
  /// One of workers that are ranks: worker r is rank r, for all `ranks`, which call together in this order.
  std::uint32_t communicator(const std::string& name, const std::vector<std::uint32_t>& ranks);
  /// One of a worker that stands for others, too. Throws ScenarioError where the groups of all communicators together
  /// have more than kMostGroupMembers ranks.
  std::uint32_t communicator(Workload::Communicator communicator);
  std::uint32_t call(const Workload::Call& call);
  std::uint32_t channel(std::uint32_t from, std::uint32_t to, std::uint64_t tag, bool eager = false);

  /// What is simulated or dropped of a call: a collective of nothing, or of one rank alone, takes no time.
  Workload::Operation call_operation(Workload::Call call);

  /// Elements of the largest type that divides `size`, where a trace gives bytes alone.
  static DataType type_for(Bytes size);

 private:
  std::uint64_t members_ = 0;  ///< ranks in all groups of all communicators
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::map<std::string, std::uint32_t, std::less<>> communicators_;
  std::map<std::tuple<std::uint32_t, CollectiveKind, Bytes, DataType, std::uint32_t, double>, std::uint32_t> calls_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, bool>, std::uint32_t> channels_;
};

/// Adds what does not fit together to the draft's complaints: calls of a communicator that differ between its workers,
/// by whom it has not, or whose numbers differ; messages that nobody receives or sends, or of another size.
void check_matching(WorkloadDraft& draft);

}  // namespace athanor
