#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "models/traces/goal/goal_program.hpp"
#include "models/traces/program_draft.hpp"
#include "models/traces/trace_options.hpp"

namespace athanor {

namespace {

using Type = GoalProgram::Type;
using Peer = std::pair<std::uint32_t, std::uint32_t>;  ///< sender and tag

/// LogGOPSim's own limit, in bytes.
constexpr Bytes kEager{65535};

/// Who sends what to each rank that has a receive from anyone or of any tag.
class Wildcards {
 public:
  explicit Wildcards(const GoalProgram& program) {
    std::vector<bool> wanted(program.ranks.size(), false);
    for (std::size_t r = 0; r < program.ranks.size(); ++r) {
      for (const auto& operation : program.ranks[r].operations) { wanted[r] = wanted[r] || wild(operation); }
    }
    for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
      for (const auto& operation : program.ranks[r].operations) {
        if (operation.type == Type::send && wanted[operation.peer]) {
          sent_[operation.peer].insert({r, operation.tag});
          by_tag_[operation.peer].insert({operation.tag, r});
        }
      }
    }
  }

  static bool wild(const GoalProgram::Operation& operation) {
    return operation.type == Type::receive &&
           (operation.peer == GoalProgram::kAny || operation.tag == GoalProgram::kAny);
  }

  /// None: several would fit, or nobody.
  std::optional<Peer> only(std::uint32_t rank, const GoalProgram::Operation& operation) const {
    const bool any_peer = operation.peer == GoalProgram::kAny;
    const bool any_tag = operation.tag == GoalProgram::kAny;
    const auto& sent = any_peer ? by_tag_ : sent_;
    const auto senders = sent.find(rank);
    if (senders == sent.end()) { return std::nullopt; }
    if (any_peer && any_tag) { return alone(senders->second, senders->second.begin(), std::nullopt, true); }
    const std::uint32_t wanted = any_peer ? operation.tag : operation.peer;
    return alone(senders->second, senders->second.lower_bound({wanted, 0}), wanted, any_peer);
  }

 private:
  using Sent = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  /// The entry at `at`, where it begins with `wanted` and the next one does not. `swapped`: tags stand first.
  static std::optional<Peer> alone(const Sent& sent, Sent::const_iterator at, std::optional<std::uint32_t> wanted,
                                   bool swapped) {
    const auto fits = [&](Sent::const_iterator each) {
      return each != sent.end() && (!wanted || each->first == *wanted);
    };
    if (!fits(at) || fits(std::next(at))) { return std::nullopt; }
    return swapped ? Peer{at->second, at->first} : Peer{at->first, at->second};
  }

  std::map<std::uint32_t, Sent> sent_;    ///< sender and tag, by receiver
  std::map<std::uint32_t, Sent> by_tag_;  ///< tag and sender
};

class RankWriter {
 public:
  RankWriter(const GoalProgram& program, std::uint32_t rank, const Wildcards& wildcards, const TraceOptions& options,
             WorkloadDraft& draft)
      : from_(program.ranks[rank]),
        rank_(rank),
        wildcards_(wildcards),
        options_(options),
        draft_(draft),
        program_(program.file, fmt::format("rank {}", rank)),
        sends_(program_, "send"),
        receives_(program_, "receive") {
    before_.resize(from_.operations.size());
    for (const GoalProgram::Wait& wait : from_.waits) { before_[wait.later].push_back(wait); }
  }

  void write() && {
    for (std::uint32_t i = 0; i < from_.operations.size(); ++i) {
      const std::vector<std::uint32_t> dependencies = dependencies_of(i);
      program_.add(i, operation_of(i, dependencies));
      for (const std::uint32_t other : dependencies) { program_.depends(other); }
    }
    std::move(program_).finish(draft_, false);
  }

 private:
  /// What begins with another operation waits for what that waits for.
  std::vector<std::uint32_t> dependencies_of(std::uint32_t index) {
    std::set<std::uint32_t> found;
    std::set<std::uint32_t> seen{index};
    std::vector<std::uint32_t> waiting{index};
    while (!waiting.empty()) {
      const std::uint32_t at = waiting.back();
      waiting.pop_back();
      for (const GoalProgram::Wait& wait : before_[at]) {
        if (++followed_ > kMostWrittenOut + from_.waits.size()) { refuse_followed(index); }
        if (!wait.begin) {
          found.insert(wait.earlier);
        } else if (seen.insert(wait.earlier).second) {
          waiting.push_back(wait.earlier);
          if (from_.operations[wait.earlier].type == Type::compute) {
            draft_.notes.count("irequires of a calc: taken to begin when what the calc requires has ended");
          }
        }
      }
    }
    return {found.begin(), found.end()};
  }

  [[noreturn]] void refuse_followed(std::uint32_t index) const {
    throw ScenarioError(Problem{"too-many-operations",
                                fmt::format("rank {}: operation {}: chains of irequires have more than {} steps "
                                            "together",
                                            rank_, index, kMostWrittenOut),
                                {program_.file(), 0, 0, ""},
                                "let operations require the end of others"});
  }

  Workload::Operation operation_of(std::uint32_t index, const std::vector<std::uint32_t>& dependencies) {
    const GoalProgram::Operation& from = from_.operations[index];
    if (from.type != Type::compute) { return message(index, from, dependencies); }
    Workload::Operation operation;
    const Time time = Time{static_cast<std::int64_t>(from.amount)} * 1000;
    operation.time = scaled_up(time, options_.compute_scale);
    operation.kind = operation.time > Time::zero() ? Workload::Kind::compute : Workload::Kind::mark;
    operation.stream = program_.stream(fmt::format("cpu {}", from.cpu), false);
    operation.label = draft_.label("calc");
    return operation;
  }

  Workload::Operation message(std::uint32_t index, const GoalProgram::Operation& from,
                              const std::vector<std::uint32_t>& dependencies) {
    const bool sends = from.type == Type::send;
    Peer peer{from.peer, from.tag};
    if (Wildcards::wild(from)) {
      const auto only = wildcards_.only(rank_, from);
      if (!only) {
        complain("wildcard", index, "receives from anyone, or any tag, and not just one sender and tag fits",
                 "who is first would decide, which a trace replayed on another network cannot keep; name the sender");
        return {};
      }
      peer = *only;
    }
    if (peer.first == rank_) {
      complain("to-itself", index, "is a message of a rank to itself", "leave it out");
      return {};
    }
    if (from.amount == 0) { draft_.notes.count("messages of 0 bytes are taken as 1 byte, as in ATLAHS"); }
    Workload::Operation operation;
    operation.kind = sends ? Workload::Kind::send : Workload::Kind::receive;
    operation.size = Bytes{std::max<std::int64_t>(1, static_cast<std::int64_t>(from.amount))};
    const bool eager = operation.size <= options_.eager.value_or(kEager);
    operation.subject = draft_.channel(sends ? rank_ : peer.first, sends ? peer.first : rank_, peer.second, eager);
    operation.stream = (sends ? sends_ : receives_).stream_for(index, dependencies);
    operation.label = draft_.label(sends ? "send" : "recv");
    return operation;
  }

  void complain(const char* code, std::uint32_t index, const char* what, const char* hint) {
    draft_.complaints.add(
        {code, fmt::format("rank {}: operation {} {}", rank_, index, what), {program_.file(), 0, 0, ""}, hint});
  }

  const GoalProgram::Rank& from_;
  std::uint32_t rank_;
  const Wildcards& wildcards_;
  const TraceOptions& options_;
  WorkloadDraft& draft_;
  ProgramDraft program_;
  SideBySide sends_;
  SideBySide receives_;
  std::uint64_t followed_ = 0;                          ///< waits that were looked at for dependencies
  std::vector<std::vector<GoalProgram::Wait>> before_;  ///< by the operation that waits
};

}  // namespace

void add_goal(const GoalProgram& program, const TraceOptions& options, WorkloadDraft& draft) {
  const Wildcards wildcards(program);
  for (std::uint32_t rank = 0; rank < program.ranks.size(); ++rank) {
    RankWriter(program, rank, wildcards, options, draft).write();
  }
}

}  // namespace athanor
