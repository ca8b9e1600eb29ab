#pragma once

#include <cstdint>
#include <optional>

#include "algorithms/proof/violation.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace athanor {

struct ProofOptions {
  std::uint32_t most_slots = 8;  ///< races are looked for with that many slots per connection (or least_slots())
  bool equal_counts = false;     ///< the payload divides evenly: lanes of one program have equal counts too
};

/// The first violation of what `Schedule` and the collective promise, or nothing: then the schedule is proven for
/// every interleaving and for least_slots() to most_slots slots. In order: memory, wiring, primitives, loops, programs,
/// matching and deadlock with least_slots(), races, the result, and that one slot fewer deadlocks.
/// Time and memory are in proportion to primitives and elements: choose small payloads.
std::optional<Violation> prove(const Schedule& schedule, const Collective& collective,
                               const ProofOptions& options = {});

}  // namespace athanor
