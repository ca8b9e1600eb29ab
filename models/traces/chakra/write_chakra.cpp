#include "models/traces/chakra/write_chakra.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <unordered_map>

#include <fmt/core.h>

#include "models/traces/chakra/node.hpp"
#include "models/traces/channel_peers.hpp"
#include "models/traces/workload_draft.hpp"
#include "models/workload/ranks_of_workers.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"
#include "sim/output_file.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kGroupsNode = 0;  ///< whose process groups stand in it; operation i is node i + 1

/// Process groups by number. What a communicator does on one stream is a group of its own: calls of a group follow each
/// other, those of several streams do not.
class ProcessGroups {
 public:
  explicit ProcessGroups(const Workload& workload) {
    for (const Workload::Worker& worker : workload.workers) {
      for (const Workload::Operation& operation : worker.operations) {
        if (operation.kind != Workload::Kind::call) { continue; }
        const std::uint32_t communicator = workload.calls[operation.subject].communicator;
        const auto [found, fresh] = numbers_.try_emplace({communicator, worker.streams[operation.stream].name},
                                                         static_cast<std::uint32_t>(of_rank_.size()));
        if (fresh) { add(workload.communicators[communicator]); }
      }
    }
  }

  /// None: the rank is in no group of it.
  std::optional<std::uint32_t> of(std::uint32_t communicator, const std::string& stream, std::uint32_t rank) const {
    return of(numbers_.at({communicator, stream}), rank);
  }
  std::size_t ranks_in(std::uint32_t group) const { return groups_[group]->size(); }

  /// As METADATA nodes have those of a rank.
  std::string metadata_of(std::uint32_t rank) const {
    std::string text;
    for (std::uint32_t number = 0; number < of_rank_.size(); ++number) {
      const auto group = of(number, rank);
      if (!group) { continue; }
      text += fmt::format(R"({}{{"pg_name": "{}", "ranks": [{}]}})", text.empty() ? "[" : ", ", *group,
                          joined(*groups_[*group], ", "));
    }
    return text.empty() ? "[]" : text + "]";
  }

  /// As ASTRA-sim takes all of them.
  void write(OutputFile& file) const {
    file.write("{");
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      file.write(fmt::format("{}\n  \"{}\": [{}]", group == 0 ? "" : ",", group, joined(*groups_[group], ", ")));
    }
    file.write("\n}\n");
  }

 private:
  void add(const Workload::Communicator& communicator) {
    auto& of_rank = of_rank_.emplace_back();
    for (const std::vector<std::uint32_t>& group : *communicator.groups) {
      for (const std::uint32_t rank : group) { of_rank[rank] = static_cast<std::uint32_t>(groups_.size()); }
      groups_.push_back(&group);
    }
  }

  std::optional<std::uint32_t> of(std::uint32_t number, std::uint32_t rank) const {
    const auto found = of_rank_[number].find(rank);
    return found == of_rank_[number].end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> numbers_;  ///< by communicator and stream
  std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> of_rank_;   ///< by such a number, by rank
  std::vector<const std::vector<std::uint32_t>*> groups_;
};

/// Readers keep messages between two ranks in one order, that of each rank's file: where they are sent in another order
/// than received, as those of several chunks of a stage may be, both would wait for ever.
void check_orders(const Workload& workload) {
  using Ends = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Ends, std::vector<std::uint32_t>> sent;
  std::map<Ends, std::vector<std::uint32_t>> received;
  for (const Workload::Worker& worker : workload.workers) {
    for (const Workload::Operation& operation : worker.operations) {
      const bool sends = operation.kind == Workload::Kind::send;
      if (!sends && operation.kind != Workload::Kind::receive) { continue; }
      const Workload::Channel& channel = workload.channels[operation.subject];
      (sends ? sent : received)[{channel.from, channel.to}].push_back(operation.subject);
    }
  }
  for (const auto& [ends, order] : sent) {
    if (received[ends] == order) { continue; }
    throw SimulationError("not-in-chakra",
                          fmt::format("{} sends messages to {} in another order than these are received, and Chakra's "
                                      "traces have one order for two ranks; write it with --format athanor",
                                      workload.workers[ends.first].name, workload.workers[ends.second].name));
  }
}

/// Files of an earlier trace of more ranks would be read as a part of this one.
void check_no_more(const std::string& prefix, std::size_t ranks) {
  const std::string next = fmt::format("{}.{}.et", prefix, ranks);
  if (!std::filesystem::exists(next)) { return; }
  throw FileError(
      fmt::format("cannot write {} files {}.*.et: there is {} already, of a trace of more ranks; take these "
                  "away, or write another -o",
                  ranks, prefix, next));
}

/// Nodes of computations are of a resource of the rank, which does one of them at a time: the first stream that
/// computes has the GPU, the first of the CPU that, and one more the memory.
class ComputeResources {
 public:
  explicit ComputeResources(const Workload::Worker& worker) : worker_(worker), type_(worker.streams.size()) {
    for (const Workload::Operation& operation : worker.operations) {
      if (operation.kind == Workload::Kind::compute && !type_[operation.stream]) { give(operation.stream); }
    }
  }

  void set(std::uint16_t stream, ChakraNode& node) const {
    node.type = *type_[stream];
    node.cpu = worker_.streams[stream].host && node.type == ChakraNode::compute;
  }

 private:
  void give(std::uint16_t stream) {
    bool& taken = worker_.streams[stream].host ? cpu_taken_ : gpu_taken_;
    if (taken && memory_taken_) {
      throw SimulationError("not-in-chakra",
                            fmt::format("{} computes on '{}' beside three other streams, and ranks of Chakra have a "
                                        "CPU, a GPU and its memory; write it with --format athanor",
                                        worker_.name, worker_.streams[stream].name));
    }
    type_[stream] = taken ? ChakraNode::store : ChakraNode::compute;
    (taken ? memory_taken_ : taken) = true;
  }

  const Workload::Worker& worker_;
  std::vector<std::optional<ChakraNode::Type>> type_;  ///< by stream; none: it computes nothing
  bool gpu_taken_ = false;
  bool cpu_taken_ = false;
  bool memory_taken_ = false;
};

/// The file of one rank.
class RankFile {
 public:
  RankFile(const Workload& workload, const Workload::Worker& worker, std::uint32_t rank, const ProcessGroups& groups,
           const ChannelPeers& peers, TraceNotes& notes)
      : workload_(workload),
        worker_(worker),
        rank_(rank),
        groups_(groups),
        peers_(peers),
        notes_(notes),
        resources_(worker),
        left_(worker.streams.size()),
        last_(worker.streams.size()) {}

  void write(OutputFile& file) {
    constexpr std::size_t kPiece = 1 << 16;
    std::string text = chakra_protobuf_head();
    ChakraNode groups;
    groups.id = kGroupsNode;
    groups.name = "process groups";
    groups.type = ChakraNode::metadata;
    groups.inputs = groups_.metadata_of(rank_);
    append_chakra_protobuf(groups, text);
    for (std::size_t i = 0; i < worker_.operations.size(); ++i) {
      append_chakra_protobuf(node_of(i), text);
      if (text.size() < kPiece) { continue; }
      file.write(text);
      text.clear();
    }
    file.write(text);
  }

 private:
  ChakraNode node_of(std::size_t index) {
    const Workload::Operation& operation = worker_.operations[index];
    ChakraNode node;
    node.id = index + 1;
    node.name = workload_.labels[operation.label];
    for (std::uint32_t i = 0; i < operation.dependencies; ++i) {
      node.waits_for.push_back(std::uint64_t{worker_.dependencies[operation.first_dependency + i]} + 1);
    }
    if (worker_.streams[operation.stream].ordered) { follow(operation.stream, node); }
    switch (operation.kind) {
      case Workload::Kind::compute: compute(operation, node); break;
      case Workload::Kind::call: call(operation, node); break;
      case Workload::Kind::send:
      case Workload::Kind::receive: message(operation, node); break;
      case Workload::Kind::mark: node.type = ChakraNode::metadata; break;
    }
    return node;
  }

  /// Waits for what its stream does before it.
  void follow(std::uint16_t stream, ChakraNode& node) {
    std::optional<std::uint64_t>& last = last_[stream];
    if (last && std::find(node.waits_for.begin(), node.waits_for.end(), *last) == node.waits_for.end()) {
      node.waits_for.push_back(*last);
    }
    last = node.id;
  }

  void compute(const Workload::Operation& operation, ChakraNode& node) {
    constexpr std::int64_t kMicrosecond = 1'000'000;
    resources_.set(operation.stream, node);
    Time& left = left_[operation.stream];
    left += operation.time;
    const std::int64_t whole = std::max<std::int64_t>(0, (left.count() + kMicrosecond / 2) / kMicrosecond);
    left -= Time{whole * kMicrosecond};
    node.duration_us = static_cast<std::uint64_t>(whole);
  }

  void call(const Workload::Operation& operation, ChakraNode& node) {
    const Workload::Call& call = workload_.calls[operation.subject];
    const auto* const found = std::find(kChakraCollectives.begin(), kChakraCollectives.end(), call.kind);
    const std::optional<std::uint32_t> group =
        groups_.of(call.communicator, worker_.streams[operation.stream].name, rank_);
    require(found != kChakraCollectives.end() && group, "rank {} calls what it takes no part in", rank_);
    const auto ranks = static_cast<std::int64_t>(groups_.ranks_in(*group));
    const bool gathers = call.kind == CollectiveKind::all_gather || call.kind == CollectiveKind::gather;
    if (gathers && call.size.count() % ranks != 0) {
      notes_.count("calls gather parts of unequal size, which are written as equal ones");
    }
    if (call.imbalance > 1) { notes_.count("all-to-alls are uneven, and written as even ones"); }
    node.type = ChakraNode::collective;
    node.collective_type = found - kChakraCollectives.begin();
    node.size = gathers ? (call.size.count() + ranks - 1) / ranks : call.size.count();
    node.root = call.root;
    node.group = std::to_string(*group);
  }

  void message(const Workload::Operation& operation, ChakraNode& node) {
    const bool sends = operation.kind == Workload::Kind::send;
    node.type = sends ? ChakraNode::send : ChakraNode::receive;
    node.from = sends ? rank_ : peers_.sender(operation.subject, rank_);
    node.to = sends ? peers_.receiver(operation.subject, rank_) : rank_;
    node.tag = operation.subject;
    node.size = operation.size.count();
    if (workload_.channels[operation.subject].eager) {
      notes_.count("messages leave before their receivers have come, which is not written");
    }
  }

  const Workload& workload_;
  const Workload::Worker& worker_;
  std::uint32_t rank_;
  const ProcessGroups& groups_;
  const ChannelPeers& peers_;
  TraceNotes& notes_;
  ComputeResources resources_;
  std::vector<Time> left_;                          ///< by stream, of times that are no whole microseconds
  std::vector<std::optional<std::uint64_t>> last_;  ///< node of each stream
};

}  // namespace

ChakraExport write_chakra(const Workload& workload, const std::string& prefix) {
  const std::vector<std::vector<std::uint32_t>> ranks = ranks_of_workers(workload);
  std::size_t all = 0;
  for (const std::vector<std::uint32_t>& each : ranks) { all += each.size(); }
  check_no_more(prefix, all);
  check_orders(workload);
  const ProcessGroups groups(workload);
  const ChannelPeers peers(workload);
  TraceNotes notes;
  ChakraExport result;
  for (std::size_t w = 0; w < ranks.size(); ++w) {
    const Workload::Worker& worker = workload.workers[w];
    for (const std::uint32_t rank : ranks[w]) {
      OutputFile file(fmt::format("{}.{}.et", prefix, rank));
      RankFile(workload, worker, rank, groups, peers, notes).write(file);
      file.finish();
      ++result.ranks;
      result.nodes += worker.operations.size() + 1;
    }
  }
  OutputFile file(prefix + ".comm_group.json");
  groups.write(file);
  file.finish();
  result.notes = notes.texts();
  return result;
}

}  // namespace athanor
