#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/core.h>

#include "algorithms/schedule/field_names.hpp"
#include "models/traces/own/parallelism_names.hpp"
#include "models/traces/own/trace_json.hpp"
#include "models/traces/program_draft.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/byte_source.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kMostImbalance = 1'000'000;

Names<CollectiveKind> traced_collectives() {
  Names<CollectiveKind> names = collective_names();
  std::erase_if(names.named, [](const Named<CollectiveKind>& each) {
    return each.value == CollectiveKind::send_receive || each.value == CollectiveKind::all_to_all_v;
  });
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

  void read(FieldValue& value, const char* what, std::uint32_t& target) const {
    Reference reference;
    value.one_of(
        {{FieldValue::Form::Type::string, [&](FieldValue& text) { reference.name = text.text().value_or(""); }},
         {FieldValue::Form::Type::number, [&](FieldValue& number) { number.visit(reference.number); }}});
    if (!value.ok()) { return; }
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

  void visit(Fields& fields) {
    std::uint32_t version = 1;
    std::string schema;
    fields.optional("$schema", schema, "For editors");
    fields.required("athanor_trace", version, "Of this format: 1", {1, 1});
    fields.optional_objects("communicators", "Who takes part in collectives together",
                            [&](Fields& inner) { read_communicator(inner); });
    fields.optional_objects("channels", "From whom to whom messages go", [&](Fields& inner) { read_channel(inner); });
    std::uint32_t worker = 0;
    fields.required_objects("workers", "Who does something; traces have one for each rank",
                            [&](Fields& inner) { read_worker(inner, worker++); });
    if (fields.ok()) { check_workers(fields, worker); }
  }

 private:
  void check_workers(Fields& fields, std::uint32_t workers) const {
    const auto check = [&](const char* key, const std::string& name, std::uint32_t worker) {
      if (worker < workers) { return; }
      fields.problem(key, "no-such-worker",
                     fmt::format("'{}' has worker {}, and there are workers 0 to {}", name, worker, workers - 1));
    };
    for (const Workload::Communicator& each : draft_.workload.communicators) {
      for (const std::uint32_t worker : each.workers) { check("communicators", each.name, worker); }
      if (fields.ok()) { check_ranks(fields, each); }
    }
    for (const Workload::Channel& each : draft_.workload.channels) {
      check("channels", each.name, each.from);
      check("channels", each.name, each.to);
      if (fields.ok()) { check_ranks(fields, each); }
    }
  }

  /// Where workers say for how many ranks they stand, groups hold as many.
  void check_ranks(Fields& fields, const Workload::Communicator& communicator) const {
    const auto said = [&](std::uint32_t worker) { return said_ranks_.contains(worker); };
    if (!std::all_of(communicator.workers.begin(), communicator.workers.end(), said)) { return; }
    std::uint64_t ranks = 0;
    for (const std::uint32_t worker : communicator.workers) { ranks += said_ranks_.at(worker); }
    const std::uint64_t endpoints = communicator.groups->size() * communicator.groups->front().size();
    if (ranks == endpoints) { return; }
    fields.problem("communicators", "wrong-number",
                   fmt::format("the groups of '{}' have {} endpoints, and its workers stand for {} ranks",
                               communicator.name, endpoints, ranks),
                   "change \"groups\", or \"ranks\" of the workers");
  }

  void check_ranks(Fields& fields, const Workload::Channel& channel) const {
    if (channel.from == channel.to) { return; }  // a part of its ranks may send to another
    for (const std::uint32_t worker : {channel.from, channel.to}) {
      const auto said = said_ranks_.find(worker);
      if (said == said_ranks_.end() || said->second == channel.pairs->size()) { continue; }
      fields.problem("channels", "wrong-number",
                     fmt::format("'{}' has {} pairs, and worker {} stands for {} ranks", channel.name,
                                 channel.pairs->size(), worker, said->second),
                     "change \"pairs\", or \"ranks\" of the worker");
      return;
    }
  }

  /// An endpoint is in one group of a communicator, and at one end of a pair.
  static void check_once(FieldValue& group, const std::vector<std::uint32_t>& ranks, std::set<std::uint32_t>& seen,
                         const char* what = "endpoint") {
    for (const std::uint32_t rank : ranks) {
      if (seen.insert(rank).second) { continue; }
      group.problem("duplicate", fmt::format("{} {} is named twice", what, rank), "name each of them once");
    }
  }

  static void read_groups(Fields& fields, const char* key, const char* meaning, std::uint32_t size,
                          std::shared_ptr<const EndpointGroups>& target) {
    EndpointGroups groups;
    fields.optional_value(key, meaning, [&](FieldValue& value) {
      std::set<std::uint32_t> seen;
      value.list([&](FieldValue& group) {
        std::set<std::uint32_t> own;
        std::vector<std::uint32_t> ranks;
        group.visit(ranks, {0, kMostTraceRanks - 1});
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

  void read_communicator(Fields& fields) {
    Workload::Communicator communicator;
    fields.required("name", communicator.name, "By which operations call it");
    fields.optional("use", communicator.use, "What it is for: results are split by it", parallelism_names());
    fields.required_value("workers", "Each of them calls it", [&](FieldValue& value) {
      value.visit(communicator.workers, {0, kMostTraceRanks - 1});
      std::set<std::uint32_t> seen;
      check_once(value, communicator.workers, seen, "worker");
    });
    read_groups(fields, "groups",
                "Groups of endpoints that do so at the same time; absent: one, of the workers' numbers", 0,
                communicator.groups);
    if (!fields.reading()) { return; }
    if (!communicator.groups) {
      communicator.groups = std::make_shared<const EndpointGroups>(EndpointGroups{communicator.workers});
    }
    std::sort(communicator.workers.begin(), communicator.workers.end());  // their order is that of the ranks of a group
    communicators_.add(communicator.name);
    draft_.workload.communicators.push_back(std::move(communicator));
  }

  void read_channel(Fields& fields) {
    Workload::Channel channel;
    fields.required("name", channel.name, "By which operations name it");
    fields.optional("use", channel.use, "What it is for: results are split by it", parallelism_names());
    fields.required("from", channel.from, "The worker that sends", {0, kMostTraceRanks - 1});
    fields.required("to", channel.to, "The worker that receives; the same: it passes messages round a ring",
                    {0, kMostTraceRanks - 1});
    read_groups(fields, "pairs", "Endpoints that send and receive; absent: those of the workers' numbers", 2,
                channel.pairs);
    fields.optional("eager", channel.eager, "Messages move when they are sent, and wait for their receivers");
    if (!fields.reading()) { return; }
    if (!channel.pairs) {
      channel.pairs = std::make_shared<const EndpointGroups>(EndpointGroups{{channel.from, channel.to}});
    }
    channels_.add(channel.name);
    draft_.workload.channels.push_back(std::move(channel));
  }

  void read_worker(Fields& fields, std::uint32_t number) {
    std::string name = fmt::format("rank {}", number);
    std::optional<std::uint32_t> ranks;
    fields.optional("name", name, "As results name it");
    fields.optional("ranks", ranks, "For how many it stands; absent: averages count it as one", {1, kMostTraceRanks});
    if (ranks) { said_ranks_.emplace(number, *ranks); }
    ProgramDraft program(file_, name);
    program.worker().ranks = ranks.value_or(1);
    NumberedNames streams;
    fields.required_objects("streams", "Each does one operation after the other", [&](Fields& inner) {
      if (streams.size() == kMostStreams) {
        inner.problem("", "too-many-streams", fmt::format("a worker has {} streams at most", kMostStreams));
      }
      Workload::Stream stream;
      inner.required("name", stream.name, "By which operations name it");
      inner.optional("ordered", stream.ordered, "In the order of the program; else whatever is ready first");
      inner.optional("host", stream.host, "Of a CPU: what is computed on it does not count as computing");
      if (!inner.reading()) { return; }
      program.worker().streams.push_back(stream);
      streams.add(stream.name);
    });
    ids_.clear();
    count_ = 0;
    fields.required_objects("operations", "The program",
                            [&](Fields& inner) { read_operation(inner, streams, program); });
    if (fields.ok()) { std::move(program).finish(draft_, options_.drop_absent); }
  }

  void read_operation(Fields& fields, const NumberedNames& streams, ProgramDraft& program) {
    Workload::Operation operation;
    std::string id;
    std::string label;
    fields.optional("id", id, "By which others wait for it; they may also use its number in the list, from 0");
    fields.optional("label", label, "What it is called");
    std::uint32_t stream = 0;
    fields.optional_value("stream", "Absent: the first",
                          [&](FieldValue& value) { streams.read(value, "stream", stream); });
    operation.stream = static_cast<std::uint16_t>(std::min(stream, kMostStreams - 1));  // beyond: reported above
    fields.choice("kind", "What it does",
                  {{"compute", "Takes its time", [&](Fields& inner) { read_compute(inner, operation); }},
                   {"call", "A collective", [&](Fields& inner) { read_call(inner, operation); }},
                   {"send", "A message", [&](Fields& inner) { read_message(inner, true, operation); }},
                   {"receive", "Of a message", [&](Fields& inner) { read_message(inner, false, operation); }},
                   {"mark", "Takes no time", [](Fields&) {}}});
    operation.label = draft_.label(label);
    if (!id.empty() && !ids_.try_emplace(id, count_).second) {
      fields.problem("id", "duplicate-node", fmt::format("another operation of this worker has the id '{}'", id));
    }
    program.add(count_, operation);
    read_dependencies(fields, program);
    ++count_;
  }

  /// Numbers may be of what comes later; ids are of what stands above.
  void read_dependencies(Fields& fields, ProgramDraft& program) {
    fields.optional_value("after", "Operations of this worker that have to end first", [&](FieldValue& value) {
      value.list(
          [&](FieldValue& each) {
            each.one_of({{FieldValue::Form::Type::number,
                          [&](FieldValue& number) {
                            std::uint32_t index = 0;
                            number.visit(index);
                            program.depends(index);
                          }},
                         {FieldValue::Form::Type::string, [&](FieldValue& text) {
                            const auto found = ids_.find(text.text().value_or(""));
                            if (!text.reading()) { return; }
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

  void read_compute(Fields& fields, Workload::Operation& operation) const {
    operation.kind = Workload::Kind::compute;
    fields.required("time", operation.time, "How long it takes");
    operation.time = scaled_up(operation.time, options_.compute_scale);
  }

  void read_call(Fields& fields, Workload::Operation& operation) {
    operation.kind = Workload::Kind::call;
    Workload::Call call;
    std::optional<DataType> type;
    Ratio imbalance{1, 1};
    fields.required_value("communicator", "Its name or number",
                          [&](FieldValue& value) { communicators_.read(value, "communicator", call.communicator); });
    fields.required("collective", call.kind, "Which", traced_collectives());
    fields.optional(
        "size", call.size,
        "The vector of all-reduce, broadcast and reduce; else that of all ranks' parts together; required but "
        "for a barrier");
    fields.optional("type", type, "Of the elements; absent: float32 where it divides the size, else int8",
                    type_names());
    fields.optional("root", call.root, "Of broadcast, reduce, gather and scatter: rank within a group");
    fields.optional("imbalance", imbalance, "Of all-to-all: the busiest rank's bytes over the average",
                    {{1, 1}, {kMostImbalance, 1}});
    if (!fields.ok()) { return; }
    call.type = type.value_or(WorkloadDraft::type_for(call.size));
    call.imbalance = to_double(imbalance);
    const std::size_t ranks = draft_.workload.communicators[call.communicator].groups->front().size();
    const bool is_barrier = call.kind == CollectiveKind::barrier;
    if (!is_barrier && !fields.has("size")) {
      fields.problem("", "missing-key", "the key 'size' is missing", "say how large the vector is: \"size\": \"1MiB\"");
    } else if (is_barrier && (fields.has("size") || type)) {
      fields.problem(type ? "type" : "size", "no-effect", "a barrier carries no payload", "leave it out");
    } else if (call.size % size_of(call.type) != Bytes::zero()) {
      fields.problem("size", "wrong-number", fmt::format("it is no whole number of {} elements", name(call.type)));
    } else if (call.root > 0 && !has_root(call.kind)) {
      fields.problem("root", "no-effect", fmt::format("{} has no root", name(call.kind)), "leave it out");
    } else if (call.imbalance > 1 && call.kind != CollectiveKind::all_to_all) {
      fields.problem("imbalance", "no-effect", "only of all-to-all the busiest rank may receive more", "leave it out");
    } else if (call.imbalance > static_cast<double>(ranks)) {
      fields.problem("imbalance", "out-of-range",
                     fmt::format("the busiest of {} ranks gets at most {} times the average", ranks, ranks),
                     "make it smaller");
    } else if (call.root >= ranks) {
      fields.problem("root", "no-such-root", fmt::format("ranks of this communicator go from 0 to {}", ranks - 1));
    }
    operation.subject = draft_.call(call);
  }

  void read_message(Fields& fields, bool sends, Workload::Operation& operation) const {
    operation.kind = sends ? Workload::Kind::send : Workload::Kind::receive;
    fields.required_value("channel", "Its name or number",
                          [&](FieldValue& value) { channels_.read(value, "channel", operation.subject); });
    fields.required("size", operation.size, "Of the message");
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
  read_document(document, problems, [&](Fields& root) { reader.visit(root); });
  problems.throw_if_any();
}

}  // namespace athanor
