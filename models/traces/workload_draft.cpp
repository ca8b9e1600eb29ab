#include "models/traces/workload_draft.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "models/traces/trace_options.hpp"
#include "sim/words.hpp"

namespace athanor {

void Complaints::add(Problem problem) {
  const auto [found, is_new] = kinds_.try_emplace(problem.code);
  if (!is_new) {
    ++found->second.more;
    return;
  }
  order_.push_back(problem.code);
  found->second.first = std::move(problem);
}

void Complaints::report(Problems& problems) const {
  for (const std::string& code : order_) {
    const Kind& kind = kinds_.at(code);
    Problem problem = kind.first;
    if (kind.more > 0) { problem.message += fmt::format(" (and {} more like it)", kind.more); }
    problems.add(std::move(problem));
  }
}

void TraceNotes::count(std::string_view sentence, std::uint64_t times) {
  if (times == 0) { return; }
  const auto found =
      std::find_if(notes_.begin(), notes_.end(), [&](const auto& note) { return note.first == sentence; });
  if (found == notes_.end()) {
    notes_.emplace_back(sentence, times);
  } else {
    found->second += times;
  }
}

void TraceNotes::say(std::string sentence) {
  const std::pair<std::string, std::uint64_t> note{std::move(sentence), 0};
  if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) { notes_.push_back(note); }
}

std::vector<std::string> TraceNotes::texts() const {
  std::vector<std::string> texts;
  for (const auto& [sentence, times] : notes_) {
    texts.push_back(times == 0 ? sentence : fmt::format("{} {}", times, sentence));
  }
  return texts;
}

std::uint32_t WorkloadDraft::label(std::string_view text) {
  const auto [found, is_new] =
      labels_.try_emplace(std::string(text), static_cast<std::uint32_t>(workload.labels.size()));
  if (is_new) { workload.labels.emplace_back(text); }
  return found->second;
}

std::uint32_t WorkloadDraft::communicator(const std::string& name, const std::vector<std::uint32_t>& ranks) {
  Workload::Communicator communicator{.name = name, .use = Parallelism::other, .workers = ranks, .groups = {}};
  communicator.groups = std::make_shared<const EndpointGroups>(EndpointGroups{ranks});
  return this->communicator(std::move(communicator));
}

std::uint32_t WorkloadDraft::communicator(Workload::Communicator communicator) {
  std::uint64_t members = communicator.workers.size();
  if (communicator.groups) {
    for (const auto& group : *communicator.groups) { members += group.size(); }
  }
  if (members + members_ > kMostGroupMembers) {
    throw ScenarioError(Problem{"too-many-members",
                                fmt::format("with '{}' the groups of this trace have more than {} members together",
                                            communicator.name, kMostGroupMembers),
                                {file, 0, 0, ""},
                                "does every operation name a group of its own?"});
  }
  const std::string key = fmt::format("{}:{}:{}", communicator.name, joined(communicator.workers, ","),
                                      communicator.groups ? fmt::format("{}", *communicator.groups) : "");
  const auto [found, is_new] =
      communicators_.try_emplace(key, static_cast<std::uint32_t>(workload.communicators.size()));
  if (is_new) {
    members_ += members;
    workload.communicators.push_back(std::move(communicator));
  }
  return found->second;
}

std::uint32_t WorkloadDraft::call(const Workload::Call& call) {
  const auto key = std::tuple(call.communicator, call.kind, call.size, call.type, call.root, call.imbalance);
  const auto [found, is_new] = calls_.try_emplace(key, static_cast<std::uint32_t>(workload.calls.size()));
  if (is_new) { workload.calls.push_back(call); }
  return found->second;
}

std::uint32_t WorkloadDraft::channel(std::uint32_t from, std::uint32_t to, std::uint64_t tag, bool eager) {
  const auto [found, is_new] =
      channels_.try_emplace({from, to, tag, eager}, static_cast<std::uint32_t>(workload.channels.size()));
  if (is_new) {
    Workload::Channel channel{
        .name = tag == 0 ? fmt::format("{} to {}", from, to) : fmt::format("{} to {}, tag {}", from, to, tag),
        .use = Parallelism::other,
        .from = from,
        .to = to,
        .pairs = std::make_shared<const EndpointGroups>(EndpointGroups{{from, to}}),
        .eager = eager};
    workload.channels.push_back(std::move(channel));
  }
  return found->second;
}

Workload::Operation WorkloadDraft::call_operation(Workload::Call call) {
  const Workload::Communicator& communicator = workload.communicators[call.communicator];
  const std::size_t ranks = communicator.groups->front().size();
  if (ranks == 1) {
    notes.count("collectives of one rank alone take no time");
    return {};
  }
  if (call.size == Bytes::zero() && call.kind != CollectiveKind::barrier) {
    notes.count("collectives of 0 bytes take no time, as in NCCL");
    return {};
  }
  Workload::Operation operation;
  operation.kind = Workload::Kind::call;
  operation.subject = this->call(call);
  return operation;
}

DataType WorkloadDraft::type_for(Bytes size) {
  return size % size_of(DataType::float32) == Bytes::zero() ? DataType::float32 : DataType::int8;
}

}  // namespace athanor
