#pragma once

#include <cstdint>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/collective.hpp"

namespace athanor::testing {

/// A collective of at least `about` elements that the algorithm cuts into equal pieces.
inline Collective padded(const Algorithm& algorithm, std::uint32_t ranks, std::int64_t about, const Layout& layout) {
  Collective collective{algorithm.kind, ranks, Elements{about}};
  const Elements granule = algorithm.granule(collective, layout);
  collective.count = granule * ceil_div(about, granule.count());
  return collective;
}

}  // namespace athanor::testing
