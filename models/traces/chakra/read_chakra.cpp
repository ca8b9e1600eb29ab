#include "models/traces/chakra/read_chakra.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "models/traces/chakra/node.hpp"
#include "models/traces/program_draft.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

class RankReader {
 public:
  RankReader(const std::string& file, std::uint32_t rank, const ChakraGroups& groups, const TraceOptions& options,
             WorkloadDraft& draft)
      : program_(file, fmt::format("rank {}", rank)), rank_(rank), groups_(groups), options_(options), draft_(draft) {}

  void take(ChakraNode& node) {
    if (node.type == ChakraNode::metadata) {
      groups_.define(node.inputs, program_.file());
      known_.clear();
    }
    Workload::Operation operation = operation_of(node);
    operation.label = draft_.label(node.name);
    program_.add(node.id, operation);
    for (const std::uint64_t other : node.waits_for) { program_.depends(other); }
  }

  void finish() && { std::move(program_).finish(draft_, options_.drop_absent); }

 private:
  struct Group {
    std::uint32_t communicator = 0;
    std::int64_t size = 0;
    std::uint16_t stream = 0;
  };

  void complain(const char* code, const ChakraNode& node, const std::string& what, std::string hint) {
    draft_.complaints.add({code,
                           fmt::format("rank {}: node {} '{}' {}", rank_, node.id, node.name, what),
                           {program_.file(), 0, 0, ""},
                           std::move(hint)});
  }

  /// What takes no time still holds dependencies together. Each on a stream of its own kind.
  Workload::Operation mark() {
    Workload::Operation operation;
    operation.stream = program_.stream("marks", false);
    return operation;
  }

  Workload::Operation operation_of(const ChakraNode& node) {
    switch (node.type) {
      case ChakraNode::compute: return computation(node);
      case ChakraNode::load:
      case ChakraNode::store: return of_memory(node);
      case ChakraNode::collective:
      case ChakraNode::send:
      case ChakraNode::receive: return communication(node);
      case ChakraNode::metadata: draft_.notes.count("METADATA nodes take no time"); return mark();
      case ChakraNode::invalid:
        draft_.notes.count("nodes of type INVALID take no time, as in ASTRA-sim");
        return mark();
      default:
        complain("unknown-node-type", node, fmt::format("has the type {}, which Chakra does not know", node.type),
                 "types are 0 to 7");
        return mark();
    }
  }

  Workload::Operation lasting(Time time, std::uint16_t stream) const {
    Workload::Operation operation;
    operation.kind = time > Time::zero() ? Workload::Kind::compute : Workload::Kind::mark;
    operation.time = time;
    operation.stream = stream;
    return operation;
  }

  std::optional<Time> duration(const ChakraNode& node) {
    constexpr std::int64_t kPerMicrosecond = 1'000'000;
    if (node.duration_us <= static_cast<std::uint64_t>(INT64_MAX / kPerMicrosecond)) {
      return Time{static_cast<std::int64_t>(node.duration_us) * kPerMicrosecond};
    }
    complain("out-of-range", node, fmt::format("lasts {} us", node.duration_us), "simulated time ends at 106 days");
    return std::nullopt;
  }

  Workload::Operation computation(const ChakraNode& node) {
    if (node.cpu) {
      const Time time = options_.cpu == TraceOptions::Cpu::free ? Time::zero() : duration(node).value_or(Time::zero());
      if (time == Time::zero()) { draft_.notes.count("CPU operations take no time"); }
      return lasting(time, program_.stream("cpu", false, true));
    }
    Time time = duration(node).value_or(Time::zero());
    if (time == Time::zero() && node.operations.value_or(0) > 0) { time = modelled(node); }
    if (time == Time::zero()) { draft_.notes.count("computations have neither a duration nor operations: no time"); }
    return lasting(scaled_up(time, options_.compute_scale), program_.stream("compute", false));
  }

  Time modelled(const ChakraNode& node) {
    if (!options_.roofline) {
      complain("no-duration", node, "has operations and bytes, but no duration",
               R"(say how fast they are: "roofline": {"gigaflops": 312000, "bandwidth": "2TB/s"})");
      return {};
    }
    draft_.notes.count("computations without a duration last as the roofline says");
    const double arithmetic = static_cast<double>(*node.operations) / options_.roofline->flops;
    const double memory =
        static_cast<double>(node.tensor_size) / static_cast<double>(options_.roofline->bandwidth.count());
    return time_of(std::max(arithmetic, memory));
  }

  Workload::Operation of_memory(const ChakraNode& node) {
    Time time = duration(node).value_or(Time::zero());
    if (time == Time::zero() && options_.roofline && node.tensor_size > 0) {
      time = transfer_time(Bytes{node.tensor_size}, options_.roofline->bandwidth);
    }
    if (time == Time::zero()) { draft_.notes.count("loads and stores have no duration: no time"); }
    return lasting(scaled_up(time, options_.compute_scale), program_.stream("memory", false));
  }

  Workload::Operation communication(const ChakraNode& node) {
    if (options_.communication == TraceOptions::Communication::measured) { return measured(node); }
    if (!node.size && node.collective_type.value_or(0) != 9) {
      complain("missing-size", node, "says no comm_size", "sizes are needed to simulate communication");
      return mark();
    }
    if (node.size.value_or(0) < 0 || node.size.value_or(0) > kMostMessage) {
      complain("out-of-range", node, fmt::format("has a comm_size of {}", *node.size),
               fmt::format("sizes go from 0 to {}", kMostMessage));
      return mark();
    }
    return node.type == ChakraNode::collective ? collective(node) : message(node);
  }

  Workload::Operation measured(const ChakraNode& node) {
    const Time time = duration(node).value_or(Time::zero());
    if (time == Time::zero()) {
      complain("no-duration", node, "has no duration to be kept", R"(leave "communication": "measured" out)");
    }
    return lasting(time, program_.stream("communication", false));
  }

  Workload::Operation collective(const ChakraNode& node) {
    const std::int64_t type = node.collective_type.value_or(-1);
    if (type < 0 || type >= static_cast<std::int64_t>(kChakraCollectives.size())) {
      complain("unknown-collective", node,
               node.collective_type ? fmt::format("has comm_type {}, which Chakra does not know", type)
                                    : std::string("says no comm_type"),
               "types are 0 to 9");
      return mark();
    }
    if (node.some_dimensions && node.group.empty()) {
      complain("no-group", node, "takes part in some dimensions of ASTRA-sim's network only",
               "name the ranks instead: pg_name and a file of groups");
      return mark();
    }
    const Group* group = group_of(node);
    return group == nullptr ? mark() : call(node, kChakraCollectives[static_cast<std::size_t>(type)], *group);
  }

  /// nullptr: complained of.
  const Group* group_of(const ChakraNode& node) {
    const auto found = known_.find(node.group);
    if (found != known_.end()) { return &found->second; }
    const std::optional<std::vector<std::uint32_t>> ranks = groups_.ranks_of(node.group);
    if (!ranks) {
      complain("no-such-group", node, fmt::format("belongs to group '{}', which nothing defines", node.group),
               R"(name the file of groups: "groups": "comm_group.json")");
      return nullptr;
    }
    const std::uint32_t last = *std::max_element(ranks->begin(), ranks->end());
    if (last >= groups_.ranks()) {
      complain("rank-not-in-trace", node,
               fmt::format("belongs to group '{}' with rank {}, and the trace has ranks 0 to {}", node.group, last,
                           groups_.ranks() - 1),
               "give the traces of all ranks");
      return nullptr;
    }
    const std::string name = node.group.empty() ? "all" : node.group;
    const Group group{draft_.communicator(name, *ranks), static_cast<std::int64_t>(ranks->size()),
                      program_.stream("collectives of " + name, true)};
    return &known_.emplace(node.group, group).first->second;
  }

  Workload::Operation call(const ChakraNode& node, CollectiveKind kind, const Group& group) {
    if (has_root(kind) && (node.root < 0 || node.root >= group.size)) {
      complain("no-such-root", node, fmt::format("has root {}", node.root),
               fmt::format("the ranks of its group go from 0 to {}", group.size - 1));
      return mark();
    }
    const bool gathers = kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
    const Bytes size{node.size.value_or(0)};
    Workload::Call call;
    call.communicator = group.communicator;
    call.kind = kind;
    call.size = kind == CollectiveKind::barrier ? Bytes::zero() : size * (gathers ? group.size : 1);
    call.type = WorkloadDraft::type_for(call.size);
    call.root = has_root(kind) ? static_cast<std::uint32_t>(node.root) : 0;
    Workload::Operation operation = draft_.call_operation(call);
    operation.stream = group.stream;
    return operation;
  }

  Workload::Operation message(const ChakraNode& node) {
    const bool sends = node.type == ChakraNode::send;
    const std::optional<std::int64_t> peer = sends ? node.to : node.from;
    const std::optional<std::int64_t> own = sends ? node.from : node.to;
    if (!peer || *peer < 0 || *peer >= groups_.ranks()) {
      complain("rank-not-in-trace", node,
               peer
                   ? fmt::format("has rank {} as its peer, and the trace has ranks 0 to {}", *peer, groups_.ranks() - 1)
                   : fmt::format("says no {}", sends ? "comm_dst" : "comm_src"),
               "give the traces of all ranks");
      return mark();
    }
    if (own.value_or(rank_) != rank_ || *peer == rank_) {
      complain("wrong-rank", node, fmt::format("is of ranks {} and {}", own.value_or(rank_), *peer),
               "a rank sends from itself and receives for itself");
      return mark();
    }
    const auto other = static_cast<std::uint32_t>(*peer);
    Workload::Operation operation;
    operation.kind = sends ? Workload::Kind::send : Workload::Kind::receive;
    operation.subject =
        draft_.channel(sends ? rank_ : other, sends ? other : rank_, static_cast<std::uint64_t>(node.tag));
    operation.size = Bytes{*node.size};
    operation.stream = program_.stream(fmt::format("{} {}", sends ? "to" : "from", other), true);
    return operation;
  }

  ProgramDraft program_;
  std::uint32_t rank_;
  ChakraGroups groups_;                              ///< of all ranks, and those that this rank's file defines
  std::map<std::string, Group, std::less<>> known_;  ///< by name
  const TraceOptions& options_;
  WorkloadDraft& draft_;
};

}  // namespace

void read_chakra(const std::vector<std::string>& files, bool json, const TraceOptions& options, WorkloadDraft& draft) {
  if (files.size() > kMostTraceRanks) {
    throw ScenarioError(Problem{"too-many-ranks",
                                fmt::format("{} files, of a rank each", files.size()),
                                {files.front(), 0, 0, ""},
                                fmt::format("up to {} are read", kMostTraceRanks)});
  }
  ChakraGroups groups(static_cast<std::uint32_t>(files.size()));
  if (!options.groups.empty()) { groups.read(options.groups); }
  for (std::uint32_t rank = 0; rank < files.size(); ++rank) {
    RankReader reader(files[rank], rank, groups, options, draft);
    ByteSource source(files[rank], options.limit.value_or(json ? kMostHeld : kMostStreamed));
    const TakeChakraNode take = [&](ChakraNode& node) { reader.take(node); };
    if (json) {
      read_chakra_json(source, take);
    } else {
      read_chakra_protobuf(source, take);
    }
    std::move(reader).finish();
  }
}

}  // namespace athanor
