#pragma once

#include <string>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"

namespace athanor {

/// visit(algorithm, collective, layout) for the catalog over several numbers of ranks, roots, layouts and both places.
/// `payload`: of each, given its granule.
template <class Payload, class Visit>
void sweep_catalog(Payload payload, Visit visit) {
  for (const Algorithm& algorithm : catalog()) {
    for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 13U}) {
      for (const Layout& layout : {Layout{}, Layout{.channels = 3, .slices = 2}, Layout{.chunk = Elements{2}}}) {
        for (const bool in_place : {false, true}) {
          Collective collective{algorithm.kind, ranks, Elements{1}, 0, in_place};
          if (algorithm.refuses(collective, layout)) { continue; }
          collective.count = payload(algorithm.granule(collective, layout));
          visit(algorithm, collective, layout);
        }
      }
    }
  }
}

inline std::string text(const Algorithm& algorithm, const Collective& collective, const Layout& layout) {
  return fmt::format("{} {} of {} elements over {} ranks, in place {}; {} channels, chunk {}", algorithm.name,
                     name(collective.kind), collective.count.count(), collective.ranks, collective.in_place,
                     layout.channels, layout.chunk.count());
}

}  // namespace athanor
