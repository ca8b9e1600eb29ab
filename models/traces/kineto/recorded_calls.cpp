#include "models/traces/kineto/recorded_calls.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include <fmt/core.h>

#include "models/software/profile.hpp"
#include "models/traces/trace_options.hpp"

namespace athanor {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// "dp" in "mesh_dp" and "DP 3", not in "deadpool".
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const auto letter = [&](std::size_t i) {
      return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0;
    };
    if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) { return true; }
  }
  return false;
}

/// How much more the largest part is than the average one; at least 1.
double imbalance(std::string_view split) {
  double largest = 0;
  double sum = 0;
  double count = 0;
  while (!split.empty()) {
    const std::size_t digit = split.find_first_of("0123456789");
    if (digit == std::string_view::npos) { break; }
    split.remove_prefix(digit);
    std::int64_t part = 0;
    const auto [end, error] = std::from_chars(split.data(), split.data() + split.size(), part);
    if (error != std::errc()) { break; }
    split.remove_prefix(static_cast<std::size_t>(end - split.data()));
    largest = std::max(largest, static_cast<double>(part));
    sum += static_cast<double>(part);
    ++count;
  }
  return sum > 0 ? std::max(1.0, largest * count / sum) : 1.0;
}

}  // namespace

Parallelism parallelism_of(std::string_view description) {
  std::string text(description);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  struct Sign {
    std::string_view part;
    std::string_view word;
    Parallelism use;
  };
  constexpr Sign kSigns[] = {{"embedding", "emb", Parallelism::embedding}, {"expert", "ep", Parallelism::expert},
                             {"context", "cp", Parallelism::context},      {"tensor", "tp", Parallelism::tensor},
                             {"pipeline", "pp", Parallelism::pipeline},    {"data", "dp", Parallelism::data},
                             {"shard", "fsdp", Parallelism::data},         {"replicate", "ddp", Parallelism::data}};
  for (const Sign& sign : kSigns) {
    if (has(text, sign.part) || has_word(text, sign.word)) { return sign.use; }
  }
  return Parallelism::other;
}

std::optional<CollectiveKind> kind_of_recorded(std::string_view name) {
  struct Kind {
    std::string_view part;
    CollectiveKind kind;
  };
  constexpr Kind kKinds[] = {{"allreduce", CollectiveKind::all_reduce},
                             {"all_reduce", CollectiveKind::all_reduce},
                             {"allgather", CollectiveKind::all_gather},
                             {"all_gather", CollectiveKind::all_gather},
                             {"reduce_scatter", CollectiveKind::reduce_scatter},
                             {"reducescatter", CollectiveKind::reduce_scatter},
                             {"all_to_all", CollectiveKind::all_to_all},
                             {"alltoall", CollectiveKind::all_to_all},
                             {"broadcast", CollectiveKind::broadcast},
                             {"reduce", CollectiveKind::reduce},
                             {"gather", CollectiveKind::gather},
                             {"scatter", CollectiveKind::scatter},
                             {"barrier", CollectiveKind::barrier}};
  for (const Kind& kind : kKinds) {
    if (has(name, kind.part)) { return kind.kind; }
  }
  return std::nullopt;
}

std::optional<DataType> recorded_type(std::string_view name) {
  struct Type {
    std::string_view name;
    DataType type;
  };
  constexpr Type kTypes[] = {
      {"Float", DataType::float32},  {"Half", DataType::float16}, {"BFloat16", DataType::bfloat16},
      {"Double", DataType::float64}, {"Long", DataType::int64},   {"Int", DataType::int32},
      {"Byte", DataType::int8},      {"Char", DataType::int8},    {"Bool", DataType::int8}};
  for (const Type& type : kTypes) {
    if (name == type.name) { return type.type; }
  }
  if (name.starts_with("Float8")) { return DataType::int8; }
  return std::nullopt;
}

std::string fault_of_ranks(std::string_view text) {
  if (!text.starts_with('[')) { return ""; }
  std::vector<std::uint32_t> ranks;
  for (std::size_t digit = text.find_first_of("-0123456789"); digit != std::string_view::npos;
       digit = text.find_first_of("-0123456789")) {
    text.remove_prefix(digit);
    std::int64_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc() || rank < 0 || rank >= kMostTraceRanks) {
      return fmt::format("'{}' is no rank from 0 to {}", text.substr(0, text.find_first_of(",] ")),
                         kMostTraceRanks - 1);
    }
    ranks.push_back(static_cast<std::uint32_t>(rank));
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  return twice == ranks.end() ? "" : fmt::format("rank {} stands twice", *twice);
}

std::optional<std::vector<std::uint32_t>> rank_list(std::string_view text) {
  if (!text.starts_with('[') || has(text, "...")) { return std::nullopt; }
  std::vector<std::uint32_t> ranks;
  for (std::size_t digit = text.find_first_of("0123456789"); digit != std::string_view::npos;
       digit = text.find_first_of("0123456789")) {
    text.remove_prefix(digit);
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error != std::errc()) { return std::nullopt; }
    ranks.push_back(rank);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  if (ranks.empty()) { return std::nullopt; }
  return ranks;
}

EndpointGroups same_groups(const std::vector<std::uint32_t>& ranks, std::uint32_t world) {
  const auto size = static_cast<std::uint32_t>(ranks.size());
  const std::uint32_t step = size > 1 ? ranks[1] - ranks[0] : 1;
  bool regular = ranks.size() > 1 && ranks[1] > ranks[0];
  for (std::uint32_t i = 0; regular && i < size; ++i) { regular = ranks[i] == ranks[0] + i * step; }
  const std::uint64_t block = std::uint64_t{step} * size;
  if (!regular || world % block != 0 || ranks[0] % block >= step) { return {ranks}; }
  EndpointGroups groups;
  for (std::uint32_t first = 0; first < world; ++first) {
    if (first % block >= step) { continue; }
    std::vector<std::uint32_t> group(size);
    for (std::uint32_t i = 0; i < size; ++i) { group[i] = first + i * step; }
    groups.push_back(std::move(group));
  }
  return groups;
}

void RecordedCalls::refuse(const RecordedCollective& recorded, const std::string& what, std::string hint) const {
  throw ScenarioError(Problem{"out-of-range",
                              fmt::format("event {} of traceEvents ('{}') {}", recorded.event, recorded.name, what),
                              {profile_.file, 0, 0, ""},
                              std::move(hint)});
}

std::optional<std::vector<std::uint32_t>> RecordedCalls::ranks_of(const RecordedCollective& recorded) const {
  if (auto ranks = rank_list(recorded.ranks)) { return ranks; }
  const auto configured = profile_.groups.find(recorded.group);
  if (configured != profile_.groups.end()) {
    if (auto ranks = rank_list(configured->second)) { return ranks; }
  }
  std::vector<std::uint32_t> all(world_);
  std::iota(all.begin(), all.end(), 0U);
  if (recorded.group_size == static_cast<std::int64_t>(world_)) { return all; }
  const auto beginning = rank_list(recorded.ranks.substr(0, recorded.ranks.find("...")));
  if (!beginning || beginning->size() < 2 || recorded.group_size < static_cast<std::int64_t>(beginning->size())) {
    return std::nullopt;
  }
  if (recorded.group_size > static_cast<std::int64_t>(world_)) {
    refuse(recorded, fmt::format("has a group of {} ranks, of {} that there are", recorded.group_size, world_),
           "a profile says its world_size in distributedInfo, and \"ranks\" in a scenario's trace takes its place");
  }
  if ((*beginning)[1] < (*beginning)[0]) { return std::nullopt; }
  const std::uint32_t step = (*beginning)[1] - (*beginning)[0];
  std::vector<std::uint32_t> ranks;
  for (std::int64_t i = 0; i < recorded.group_size; ++i) {
    const std::uint64_t rank = beginning->front() + static_cast<std::uint64_t>(i) * step;
    if (rank >= world_) { return std::nullopt; }
    ranks.push_back(static_cast<std::uint32_t>(rank));
  }
  draft_.notes.count("lists of ranks that the profiler cut were continued in the same steps");
  return ranks;
}

std::optional<std::uint32_t> RecordedCalls::communicator_of(const RecordedCollective& recorded) {
  const std::string key = fmt::format("{}:{}:{}", recorded.group, recorded.group_size, recorded.ranks);
  const auto found = known_.find(key);
  if (found != known_.end()) { return found->second; }
  std::optional<std::uint32_t> result;
  const auto ranks = ranks_of(recorded);
  if (ranks && *std::max_element(ranks->begin(), ranks->end()) < world_) {
    Workload::Communicator communicator;
    communicator.name = recorded.description.empty() || recorded.description == "undefined"
                            ? recorded.group
                            : fmt::format("{} ({})", recorded.group, recorded.description);
    communicator.use = parallelism_of(recorded.description);
    communicator.workers = alone_ ? std::vector<std::uint32_t>{0} : *ranks;
    communicator.groups =
        std::make_shared<const EndpointGroups>(alone_ ? same_groups(*ranks, world_) : EndpointGroups{*ranks});
    result = draft_.communicator(std::move(communicator));
  }
  known_.emplace(key, result);
  return result;
}

std::optional<Workload::Operation> RecordedCalls::operation(const RecordedCollective& recorded, std::string& why) {
  const auto kind = kind_of_recorded(recorded.name);
  if (!kind) { return message(recorded, why); }
  const auto type = recorded_type(recorded.type);
  const bool output = *kind == CollectiveKind::all_gather || *kind == CollectiveKind::gather;
  const std::int64_t elements = *kind == CollectiveKind::all_to_all
                                    ? std::max(recorded.in_elements, recorded.out_elements)
                                : output && recorded.out_elements > 0 ? recorded.out_elements
                                                                      : recorded.in_elements;
  if (*kind != CollectiveKind::barrier && (!type || elements < 0)) {
    why = "NCCL kernels whose type or number of elements was not recorded last as measured";
    return std::nullopt;
  }
  const auto communicator = communicator_of(recorded);
  if (!communicator) {
    why = "NCCL kernels whose group's ranks were not recorded last as measured";
    return std::nullopt;
  }
  Workload::Call call;
  call.communicator = *communicator;
  call.kind = *kind;
  call.type = type.value_or(DataType::float32);
  check_elements(recorded, elements);
  if (*kind != CollectiveKind::barrier) { call.size = size_of(call.type) * elements; }
  if (has_root(*kind)) { call.root = root_of(recorded, call.communicator); }
  if (*kind == CollectiveKind::all_to_all) { call.imbalance = imbalance(recorded.out_split); }
  return draft_.call_operation(call);
}

void RecordedCalls::check_elements(const RecordedCollective& recorded, std::int64_t elements) const {
  if (elements <= kMostMessage) { return; }
  refuse(recorded, fmt::format("has {} elements", elements), fmt::format("up to {} are possible", kMostMessage));
}

std::uint32_t RecordedCalls::root_of(const RecordedCollective& recorded, std::uint32_t communicator) const {
  const std::size_t ranks = draft_.workload.communicators[communicator].groups->front().size();
  if (recorded.root >= static_cast<std::int64_t>(ranks)) {
    refuse(recorded, fmt::format("has root {}", recorded.root),
           fmt::format("the ranks of its group go from 0 to {}", ranks - 1));
  }
  return recorded.root > 0 ? static_cast<std::uint32_t>(recorded.root) : 0;
}

std::optional<Workload::Operation> RecordedCalls::message(const RecordedCollective& recorded, std::string& why) {
  const bool sends = has(recorded.name, "send");
  const bool receives = has(recorded.name, "recv") || has(recorded.name, "receive");
  const std::int64_t peer = sends ? recorded.to : recorded.from;
  const auto type = recorded_type(recorded.type);
  const auto ranks = ranks_of(recorded);
  const std::int64_t elements = sends ? recorded.in_elements : std::max(recorded.in_elements, recorded.out_elements);
  if (sends == receives) {
    why = "NCCL kernels that are neither a collective nor one message last as measured";
  } else if (alone_) {
    why = "messages to and from ranks that were not recorded last as measured";
  } else if (!type || elements < 0 || !ranks || peer < 0 || peer >= static_cast<std::int64_t>(ranks->size()) ||
             (*ranks)[static_cast<std::size_t>(peer)] >= world_) {
    why = "messages whose peer or size was not recorded last as measured";
  } else {
    const std::uint32_t other = (*ranks)[static_cast<std::size_t>(peer)];
    Workload::Operation operation;
    operation.kind = sends ? Workload::Kind::send : Workload::Kind::receive;
    operation.subject = draft_.channel(sends ? rank_ : other, sends ? other : rank_, 0);
    check_elements(recorded, elements);
    operation.size = size_of(*type) * elements;
    return operation;
  }
  return std::nullopt;
}

}  // namespace athanor
