#include <algorithm>

#include "models/nccl/machine/search.hpp"
#include "sim/check.hpp"

namespace athanor {

std::shared_ptr<const ChannelOrders> ring_orders(const ChannelGraph& ring, std::uint32_t channels) {
  const std::uint32_t count = channels == 0 ? ring.count() : std::min(channels, ring.count());
  require(count > 0, "a ring graph without channels");
  auto orders = std::make_shared<ChannelOrders>();
  const bool swaps = ring.cross_nic == 2 && count % 2 == 0;
  for (std::uint32_t c = 0; c < count; ++c) {
    orders->even.push_back(ring.channels[c].gpus);
    orders->odd.push_back(ring.channels[swaps ? c ^ 1U : c].gpus);
  }
  return orders;
}

}  // namespace athanor
