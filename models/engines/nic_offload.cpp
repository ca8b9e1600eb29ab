#include "models/engines/nic_offload.hpp"

#include <algorithm>

#include "models/software/profile.hpp"

namespace athanor {

Profile offloaded(Profile profile, const NicOffload& offload) {
  profile.launch = offload.post;
  if (offload.reduce_rate) { profile.reduce_rate = *offload.reduce_rate; }
  for (Protocol& protocol : profile.protocols) {
    if (offload.overhead) { protocol.overhead = *offload.overhead; }
  }
  return profile;
}

Overlap overlap(Time collective, Time compute, const std::optional<NicOffload>& offload) {
  Overlap result;
  result.total = offload ? std::max(collective, offload->post + compute) : collective + compute;
  result.communicating = offload ? std::min(offload->post, collective) : collective;
  if (collective > Time::zero()) {
    result.share = std::clamp(1 - seconds(result.total - compute) / seconds(collective), 0.0, 1.0);
  }
  return result;
}

}  // namespace athanor
