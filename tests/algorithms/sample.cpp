#include "tests/algorithms/sample.hpp"

#include <memory>
#include <vector>

namespace athanor {

namespace {

std::shared_ptr<const AllToAllVSizes> unequal_sizes(std::uint32_t ranks, std::int64_t count) {
  const std::int64_t most = 2 * count / ranks + (count > 0 ? 1 : 0);
  std::vector<Elements> sizes;
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      sizes.emplace_back((std::int64_t{from} * 5 + std::int64_t{to} * to * 3 + from % 3 * to) % (most + 1));
    }
  }
  return std::make_shared<AllToAllVSizes>(ranks, sizes);
}

}  // namespace

Collective sample(CollectiveKind kind, std::uint32_t ranks, std::int64_t count, std::uint32_t root, bool in_place) {
  Collective collective{kind, ranks, Elements{count}, root, in_place};
  if (kind == CollectiveKind::barrier) { collective.count = Elements::zero(); }
  if (kind == CollectiveKind::all_to_all_v) {
    collective.sizes = unequal_sizes(ranks, count);
    collective.count = collective.sizes->largest();
  }
  return collective;
}

std::shared_ptr<const ChannelOrders> sample_orders(std::uint32_t group) {
  using Path = std::vector<std::uint32_t>;
  Path up;
  Path even_first;
  for (std::uint32_t place = 0; place < group; ++place) { up.push_back((place + 1) % group); }
  for (std::uint32_t place = 0; place < group; place += 2) { even_first.push_back(place); }
  for (std::uint32_t place = 1; place < group; place += 2) { even_first.push_back(place); }
  const Path down(up.rbegin(), up.rend());
  const Path odd_first(even_first.rbegin(), even_first.rend());
  return std::make_shared<ChannelOrders>(ChannelOrders{{up, down, even_first}, {down, up, odd_first}});
}

}  // namespace athanor
