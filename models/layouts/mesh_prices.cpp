#include "models/layouts/mesh_prices.hpp"

#include <memory>

#include "sim/check.hpp"

namespace athanor {

CollectiveKind collective_of(LayoutStepKind kind) {
  switch (kind) {
    case LayoutStepKind::all_gather: return CollectiveKind::all_gather;
    case LayoutStepKind::reduce_scatter: return CollectiveKind::reduce_scatter;
    case LayoutStepKind::all_reduce: return CollectiveKind::all_reduce;
    case LayoutStepKind::all_to_all: return CollectiveKind::all_to_all;
    case LayoutStepKind::slice:
    case LayoutStepKind::permute: break;
  }
  require(false, "a step that is a collective");
  return CollectiveKind::send_receive;
}

std::uint32_t MeshPrices::communicator(const MeshAxes& axes) {
  const auto [found, is_new] = communicators_.emplace(axes, static_cast<std::uint32_t>(calls_.communicators.size()));
  if (is_new) {
    calls_.communicators.push_back(
        {mesh_.names(axes), Parallelism::other, {0}, std::make_shared<const EndpointGroups>(mesh_.groups(axes))});
  }
  return found->second;
}

Time MeshPrices::operator()(const LayoutStep& step, Bytes size) {
  if (step.kind == LayoutStepKind::permute) { return permutation(step, size); }
  const auto [found, is_new] = known_.try_emplace({step.kind, step.axes, size});
  if (is_new) {
    try {
      found->second = timer_.time(
          calls_,
          {.communicator = communicator(step.axes), .kind = collective_of(step.kind), .size = size, .type = type_});
    } catch (...) {
      known_.erase(found);
      throw;
    }
  }
  return found->second;
}

Time MeshPrices::permutation(const LayoutStep& step, Bytes size) {
  const std::vector<std::uint32_t> from = senders(step.from, step.to, mesh_);
  const std::pair key{from, size};
  const auto known = permutations_.find(key);
  if (known != permutations_.end()) { return known->second; }
  EndpointGroups pairs;
  for (std::uint32_t device = 0; device < from.size(); ++device) {
    if (from[device] != device) { pairs.push_back({from[device], device}); }
  }
  if (pairs.empty()) { return permutations_.emplace(key, Time::zero()).first->second; }
  const Workload::Channel channel{.name = "permutation",
                                  .pairs = std::make_shared<const EndpointGroups>(std::move(pairs))};
  return permutations_.emplace(key, timer_.estimate(channel, size).time).first->second;
}

}  // namespace athanor
