#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "models/traces/byte_source.hpp"
#include "models/traces/own/parallelism_names.hpp"
#include "models/traces/own/trace_json.hpp"
#include "models/traces/program_draft.hpp"
#include "models/traces/trace_limits.hpp"
#include "sim/config/object_reader.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMostImbalance = 1'000'000;

Names<CollectiveKind> collective_names() {
  Names<CollectiveKind> names({});
  for (const CollectiveKind kind : collective_kinds()) {
    if (kind != CollectiveKind::send_receive && kind != CollectiveKind::all_to_all_v) {
      names.named.push_back({name(kind), kind});
    }
  }
  return names;
}

Names<DataType> type_names() {
  Names<DataType> names({});
  for (const DataType type : data_types()) { names.named.push_back({name(type), type}); }
  return names;
}

/// Communicators and channels are named, or given by number.
struct Reference {
  std::string name;
  std::optional<std::uint32_t> number;
};

/// Finds what a reference means; none: a problem was added.
class NumberedNames {
 public:
  void add(const std::string& name) { numbers_.try_emplace(name, static_cast<std::uint32_t>(count_++)); }
  std::size_t size() const { return count_; }

  void read(ValueReader& value, const char* what, std::uint32_t& target) const {
    Reference reference;
    value.one_of(
        {{ValueReader::Form::Type::string, [&](ValueReader& text) { reference.name = text.text().value_or(""); }},
         {ValueReader::Form::Type::number, [&](ValueReader& number) { number.read(reference.number); }}});
    if (value.describing() || !value.ok()) { return; }
    if (reference.number && *reference.number < count_) {
      target = *reference.number;
      return;
    }
    const auto found = numbers_.find(reference.name);
    if (!reference.number && found != numbers_.end()) {
      target = found->second;
      return;
    }
    const std::string shown =
        reference.number ? std::to_string(*reference.number) : fmt::format("'{}'", reference.name);
    value.problem("no-such-name", fmt::format("there is no {} {}", what, shown),
                  fmt::format("name one of the {} that the file has, or give its number from 0", count_));
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< the first of each name
  std::size_t count_ = 0;
};

class JsonReader {
 public:
  JsonReader(std::string file, const TraceOptions& options, WorkloadDraft& draft)
      : file_(std::move(file)), options_(options), draft_(draft) {}

  void read(ObjectReader& reader) {
    std::uint32_t version = 1;
    std::string schema;
    reader.optional("$schema", schema, "For editors");
    reader.required("athanor_trace", version, "Of this format: 1", {1, 1});
    reader.optional_objects("communicators", "Who takes part in collectives together",
                            [&](ObjectReader& inner) { read_communicator(inner); });
    reader.optional_objects("channels", "From whom to whom messages go",
                            [&](ObjectReader& inner) { read_channel(inner); });
    std::uint32_t worker = 0;
    reader.required_objects("workers", "Who does something; traces have one for each rank",
                            [&](ObjectReader& inner) { read_worker(inner, worker++); });
    if (!reader.describing() && reader.ok()) { check_workers(reader, worker); }
  }

 private:
  void check_workers(ObjectReader& reader, std::uint32_t workers) const {
    const auto check = [&](const char* key, const std::string& name, std::uint32_t worker) {
      if (worker < workers) { return; }
      reader.problem(key, "no-such-worker",
                     fmt::format("'{}' has worker {}, and there are workers 0 to {}", name, worker, workers - 1));
    };
    for (const Workload::Communicator& each : draft_.workload.communicators) {
      for (const std::uint32_t worker : each.workers) { check("communicators", each.name, worker); }
      if (reader.ok()) { check_ranks(reader, each); }
    }
    for (const Workload::Channel& each : draft_.workload.channels) {
      check("channels", each.name, each.from);
      check("channels", each.name, each.to);
      if (reader.ok()) { check_ranks(reader, each); }
    }
  }

  /// Where workers say for how many ranks they stand, groups hold as many.
  void check_ranks(ObjectReader& reader, const Workload::Communicator& communicator) const {
    const auto said = [&](std::uint32_t worker) { return said_ranks_.contains(worker); };
    if (!std::all_of(communicator.workers.begin(), communicator.workers.end(), said)) { return; }
    std::uint64_t ranks = 0;
    for (const std::uint32_t worker : communicator.workers) { ranks += said_ranks_.at(worker); }
    const std::uint64_t endpoints = communicator.groups->size() * communicator.groups->front().size();
    if (ranks == endpoints) { return; }
    reader.problem("communicators", "wrong-number",
                   fmt::format("the groups of '{}' have {} endpoints, and its workers stand for {} ranks",
                               communicator.name, endpoints, ranks),
                   "change \"groups\", or \"ranks\" of the workers");
  }

  void check_ranks(ObjectReader& reader, const Workload::Channel& channel) const {
    if (channel.from == channel.to) { return; }  // a part of its ranks may send to another
    for (const std::uint32_t worker : {channel.from, channel.to}) {
      const auto said = said_ranks_.find(worker);
      if (said == said_ranks_.end() || said->second == channel.pairs->size()) { continue; }
      reader.problem("channels", "wrong-number",
                     fmt::format("'{}' has {} pairs, and worker {} stands for {} ranks", channel.name,
                                 channel.pairs->size(), worker, said->second),
                     "change \"pairs\", or \"ranks\" of the worker");
      return;
    }
  }

  /// An endpoint is in one group of a communicator, and at one end of a pair.
  static void check_once(ValueReader& group, const std::vector<std::uint32_t>& ranks, std::set<std::uint32_t>& seen,
                         const char* what = "endpoint") {
    for (const std::uint32_t rank : ranks) {
      if (seen.insert(rank).second) { continue; }
      group.problem("duplicate", fmt::format("{} {} is named twice", what, rank), "name each of them once");
    }
  }

  static void read_groups(ObjectReader& reader, const char* key, const char* meaning, std::uint32_t size,
                          std::shared_ptr<const EndpointGroups>& target) {
    EndpointGroups groups;
    reader.optional_value(key, meaning, [&](ValueReader& value) {
      std::set<std::uint32_t> seen;
      value.list([&](ValueReader& group) {
        std::set<std::uint32_t> own;
        std::vector<std::uint32_t> ranks;
        group.read(ranks, {0, kMostTraceRanks - 1});
        if (group.ok() && size > 0 && ranks.size() != size) {
          group.problem("wrong-number", fmt::format("it has {} endpoints", size));
        }
        if (group.ok() && !groups.empty() && ranks.size() != groups.front().size()) {
          group.problem("wrong-number", "all groups are of one size");
        }
        check_once(group, ranks, size == 0 ? seen : own);
        groups.push_back(std::move(ranks));
      });
    });
    if (!groups.empty()) { target = std::make_shared<const EndpointGroups>(std::move(groups)); }
  }

  void read_communicator(ObjectReader& reader) {
    Workload::Communicator communicator;
    reader.required("name", communicator.name, "By which operations call it");
    reader.optional("use", communicator.use, "What it is for: results are split by it", parallelism_names());
    reader.required_value("workers", "Each of them calls it", [&](ValueReader& value) {
      value.read(communicator.workers, {0, kMostTraceRanks - 1});
      std::set<std::uint32_t> seen;
      check_once(value, communicator.workers, seen, "worker");
    });
    read_groups(reader, "groups",
                "Groups of endpoints that do so at the same time; absent: one, of the workers' numbers", 0,
                communicator.groups);
    if (reader.describing()) { return; }
    if (!communicator.groups) {
      communicator.groups = std::make_shared<const EndpointGroups>(EndpointGroups{communicator.workers});
    }
    std::sort(communicator.workers.begin(), communicator.workers.end());  // their order is that of the ranks of a group
    communicators_.add(communicator.name);
    draft_.workload.communicators.push_back(std::move(communicator));
  }

  void read_channel(ObjectReader& reader) {
    Workload::Channel channel;
    reader.required("name", channel.name, "By which operations name it");
    reader.optional("use", channel.use, "What it is for: results are split by it", parallelism_names());
    reader.required("from", channel.from, "The worker that sends", {0, kMostTraceRanks - 1});
    reader.required("to", channel.to, "The worker that receives; the same: it passes messages round a ring",
                    {0, kMostTraceRanks - 1});
    read_groups(reader, "pairs", "Endpoints that send and receive; absent: those of the workers' numbers", 2,
                channel.pairs);
    reader.optional("eager", channel.eager, "Messages move when they are sent, and wait for their receivers");
    if (reader.describing()) { return; }
    if (!channel.pairs) {
      channel.pairs = std::make_shared<const EndpointGroups>(EndpointGroups{{channel.from, channel.to}});
    }
    channels_.add(channel.name);
    draft_.workload.channels.push_back(std::move(channel));
  }

  void read_worker(ObjectReader& reader, std::uint32_t number) {
    std::string name = fmt::format("rank {}", number);
    std::optional<std::uint32_t> ranks;
    reader.optional("name", name, "As results name it");
    reader.optional("ranks", ranks, "For how many it stands; absent: averages count it as one", {1, kMostTraceRanks});
    if (ranks) { said_ranks_.emplace(number, *ranks); }
    ProgramDraft program(file_, name);
    program.worker().ranks = ranks.value_or(1);
    NumberedNames streams;
    reader.required_objects("streams", "Each does one operation after the other", [&](ObjectReader& inner) {
      if (streams.size() == kMostStreams) {
        inner.problem("", "too-many-streams", fmt::format("a worker has {} streams at most", kMostStreams));
      }
      Workload::Stream stream;
      inner.required("name", stream.name, "By which operations name it");
      inner.optional("ordered", stream.ordered, "In the order of the program; else whatever is ready first");
      inner.optional("host", stream.host, "Of a CPU: what is computed on it does not count as computing");
      if (inner.describing()) { return; }
      program.worker().streams.push_back(stream);
      streams.add(stream.name);
    });
    ids_.clear();
    count_ = 0;
    reader.required_objects("operations", "The program",
                            [&](ObjectReader& inner) { read_operation(inner, streams, program); });
    if (!reader.describing() && reader.ok()) { std::move(program).finish(draft_, options_.drop_absent); }
  }

  void read_operation(ObjectReader& reader, const NumberedNames& streams, ProgramDraft& program) {
    Workload::Operation operation;
    std::string id;
    std::string label;
    reader.optional("id", id, "By which others wait for it; they may also use its number in the list, from 0");
    reader.optional("label", label, "What it is called");
    std::uint32_t stream = 0;
    reader.optional_value("stream", "Absent: the first",
                          [&](ValueReader& value) { streams.read(value, "stream", stream); });
    operation.stream = static_cast<std::uint16_t>(std::min(stream, kMostStreams - 1));  // beyond: reported above
    reader.choice("kind", "What it does",
                  {{"compute", "Takes its time", [&](ObjectReader& inner) { read_compute(inner, operation); }},
                   {"call", "A collective", [&](ObjectReader& inner) { read_call(inner, operation); }},
                   {"send", "A message", [&](ObjectReader& inner) { read_message(inner, true, operation); }},
                   {"receive", "Of a message", [&](ObjectReader& inner) { read_message(inner, false, operation); }},
                   {"mark", "Takes no time", [](ObjectReader&) {}}});
    operation.label = reader.describing() ? 0 : draft_.label(label);
    if (!id.empty() && !ids_.try_emplace(id, count_).second) {
      reader.problem("id", "duplicate-node", fmt::format("another operation of this worker has the id '{}'", id));
    }
    program.add(count_, operation);
    read_dependencies(reader, program);
    ++count_;
  }

  /// Numbers may be of what comes later; ids are of what stands above.
  void read_dependencies(ObjectReader& reader, ProgramDraft& program) {
    reader.optional_value("after", "Operations of this worker that have to end first", [&](ValueReader& value) {
      value.list(
          [&](ValueReader& each) {
            each.one_of({{ValueReader::Form::Type::number,
                          [&](ValueReader& number) {
                            std::uint32_t index = 0;
                            number.read(index);
                            if (!number.describing()) { program.depends(index); }
                          }},
                         {ValueReader::Form::Type::string, [&](ValueReader& text) {
                            const auto found = ids_.find(text.text().value_or(""));
                            if (text.describing()) { return; }
                            if (found == ids_.end()) {
                              text.problem("absent-node", "no operation above has this id",
                                           "use its number for one below");
                            } else {
                              program.depends(found->second);
                            }
                          }}});
          },
          {0});
    });
  }

  void read_compute(ObjectReader& reader, Workload::Operation& operation) const {
    operation.kind = Workload::Kind::compute;
    reader.required("time", operation.time, "How long it takes");
    operation.time = scaled_up(operation.time, options_.compute_scale);
  }

  void read_call(ObjectReader& reader, Workload::Operation& operation) {
    operation.kind = Workload::Kind::call;
    Workload::Call call;
    std::optional<DataType> type;
    Ratio imbalance{1, 1};
    reader.required_value("communicator", "Its name or number",
                          [&](ValueReader& value) { communicators_.read(value, "communicator", call.communicator); });
    reader.required("collective", call.kind, "Which", collective_names());
    reader.optional(
        "size", call.size,
        "The vector of all-reduce, broadcast and reduce; else that of all ranks' parts together; required but "
        "for a barrier");
    reader.optional("type", type, "Of the elements; absent: float32 where it divides the size, else int8",
                    type_names());
    reader.optional("root", call.root, "Of broadcast, reduce, gather and scatter: rank within a group");
    reader.optional("imbalance", imbalance, "Of all-to-all: the busiest rank's bytes over the average",
                    {{1, 1}, {kMostImbalance, 1}});
    if (reader.describing() || !reader.ok()) { return; }
    call.type = type.value_or(WorkloadDraft::type_for(call.size));
    call.imbalance = to_double(imbalance);
    const std::size_t ranks = draft_.workload.communicators[call.communicator].groups->front().size();
    const bool is_barrier = call.kind == CollectiveKind::barrier;
    if (!is_barrier && !reader.has("size")) {
      reader.problem("", "missing-key", "the key 'size' is missing", "say how large the vector is: \"size\": \"1MiB\"");
    } else if (is_barrier && (reader.has("size") || type)) {
      reader.problem(type ? "type" : "size", "no-effect", "a barrier carries no payload", "leave it out");
    } else if (call.size % size_of(call.type) != Bytes::zero()) {
      reader.problem("size", "wrong-number", fmt::format("it is no whole number of {} elements", name(call.type)));
    } else if (call.root > 0 && !has_root(call.kind)) {
      reader.problem("root", "no-effect", fmt::format("{} has no root", name(call.kind)), "leave it out");
    } else if (call.imbalance > 1 && call.kind != CollectiveKind::all_to_all) {
      reader.problem("imbalance", "no-effect", "only of all-to-all the busiest rank may receive more", "leave it out");
    } else if (call.imbalance > static_cast<double>(ranks)) {
      reader.problem("imbalance", "out-of-range",
                     fmt::format("the busiest of {} ranks gets at most {} times the average", ranks, ranks),
                     "make it smaller");
    } else if (call.root >= ranks) {
      reader.problem("root", "no-such-root", fmt::format("ranks of this communicator go from 0 to {}", ranks - 1));
    }
    operation.subject = draft_.call(call);
  }

  void read_message(ObjectReader& reader, bool sends, Workload::Operation& operation) const {
    operation.kind = sends ? Workload::Kind::send : Workload::Kind::receive;
    reader.required_value("channel", "Its name or number",
                          [&](ValueReader& value) { channels_.read(value, "channel", operation.subject); });
    reader.required("size", operation.size, "Of the message");
  }

  std::string file_;
  const TraceOptions& options_;
  WorkloadDraft& draft_;
  NumberedNames communicators_;
  NumberedNames channels_;
  std::unordered_map<std::string, std::uint64_t> ids_;  ///< of the worker that is read
  std::uint64_t count_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> said_ranks_;  ///< by worker
};

}  // namespace

void read_trace_json(const std::string& file, const TraceOptions& options, WorkloadDraft& draft) {
  ByteSource source(file, options.limit.value_or(kMostHeld));
  const Document document = Document::parse(source.rest(), file);
  Problems problems;
  JsonReader reader(file, options, draft);
  read_document(document, problems, [&](ObjectReader& root) { reader.read(root); });
  problems.throw_if_any();
}

nlohmann::json trace_schema() {
  WorkloadDraft draft;
  const TraceOptions options;
  JsonReader reader("", options, draft);
  return describe_schema("A trace of Athanor", [&](ObjectReader& root) { reader.read(root); });
}

}  // namespace athanor
