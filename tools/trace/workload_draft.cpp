#include "tools/trace/workload_draft.hpp"

#include <fmt/ranges.h>

#include "tools/trace/trace_limits.hpp"

namespace athanor {

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
  const std::string key = fmt::format("{}:{}:{}", communicator.name, fmt::join(communicator.workers, ","),
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
