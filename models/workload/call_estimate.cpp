#include "models/workload/call_estimate.hpp"

#include <algorithm>

namespace athanor {

std::vector<LinkShare> CallEstimate::transfer_shares() const {
  if (latency == Time::zero()) { return *shares; }
  const double longer = seconds(time) / seconds(transfer());
  std::vector<LinkShare> during = *shares;
  for (LinkShare& each : during) { each.share = std::min(1.0, each.share * longer); }
  return during;
}

LinkShare CallEstimate::busiest() const {
  LinkShare most;
  if (!shares) { return most; }
  for (const LinkShare& each : *shares) {
    if (each.share > most.share) { most = each; }
  }
  return most;
}

std::uint32_t WorkloadEstimates::of(const Workload::Operation& operation) const {
  switch (operation.kind) {
    case Workload::Kind::call: return of_call[operation.subject];
    case Workload::Kind::send:
    case Workload::Kind::receive: {
      const auto found = of_message.find({operation.subject, operation.size});
      return found == of_message.end() ? kNone : found->second;
    }
    case Workload::Kind::compute:
    case Workload::Kind::mark: break;
  }
  return kNone;
}

}  // namespace athanor
