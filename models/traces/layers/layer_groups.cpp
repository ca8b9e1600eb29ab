#include "models/traces/layers/layer_groups.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/traces/layers/layer_loop.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

const char* word_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce: return "ALLREDUCE";
    case CollectiveKind::all_gather: return "ALLGATHER";
    case CollectiveKind::reduce_scatter: return "REDUCESCATTER";
    case CollectiveKind::all_to_all: return "ALLTOALL";
    default: return nullptr;
  }
}

[[noreturn]] void refuse(const std::string& what) {
  throw SimulationError("not-in-layers", what + "; write it with --format athanor, chakra or goal");
}

}  // namespace

LayerGroups::LayerGroups(const Workload& workload, bool experts) : workload_(workload), experts_(experts) {
  ranks_ = workload.workers.front().ranks;
  for (const Workload::Communicator& communicator : workload.communicators) {
    const auto size = static_cast<std::uint32_t>(communicator.groups->front().size());
    if (communicator.use == Parallelism::tensor) { tensor_ = std::max(tensor_, size); }
    if (communicator.use == Parallelism::expert) { expert_ = std::max(expert_, size); }
  }
  if (expert_ > 1 && !experts) { refuse("ASTRA-sim's text has no groups of experts"); }
}

std::uint32_t LayerGroups::size_of_group(const Workload& workload, const Workload::Call& call) {
  return static_cast<std::uint32_t>(workload.communicators[call.communicator].groups->front().size());
}

bool LayerGroups::is(std::uint32_t communicator, std::uint32_t size, std::uint32_t stride) const {
  const EndpointGroups& groups = *workload_.communicators[communicator].groups;
  if (size * stride == 0 || ranks_ % (size * stride) != 0) { return false; }
  EndpointGroups expected = strided_groups(ranks_, size, stride);
  EndpointGroups found = groups;
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  return expected == found;
}

std::string LayerGroups::type_of(const Workload::Call& call, bool weight) const {
  const Workload::Communicator& communicator = workload_.communicators[call.communicator];
  const char* const word = word_of(call.kind);
  if (word == nullptr) { refuse(fmt::format("such texts have no {}", name(call.kind))); }
  const std::uint32_t data = ranks_ / tensor_;
  if (!weight && is(call.communicator, tensor_, 1)) { return word; }
  if (weight && is(call.communicator, data, tensor_)) { return word; }
  if (experts_ && is(call.communicator, expert_, tensor_)) { return fmt::format("{}_EP", word); }
  if (experts_ && is(call.communicator, data / expert_, tensor_ * expert_)) { return fmt::format("{}_DP_EP", word); }
  refuse(fmt::format("such texts have no {} of '{}', which {} waited for there", name(call.kind), communicator.name,
                     weight ? "nothing but the optimizer" : "computing"));
}

}  // namespace athanor
