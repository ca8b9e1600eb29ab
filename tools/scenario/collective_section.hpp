#pragma once

#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/reduction.hpp"
#include "models/execution/run.hpp"
#include "sim/json/object_reader.hpp"

namespace athanor {

/// The "collective" of a scenario, as far as it can be read without the cluster.
struct CollectiveSection {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::vector<const Algorithm*> algorithms;
  std::vector<Bytes> sizes;
  DataType type = DataType::float32;
  std::uint32_t root = 0;
  std::optional<std::uint32_t> ranks;  ///< none: every endpoint
  Overrides overrides;
};

void read(ObjectReader& reader, CollectiveSection& section);

/// Every algorithm of the catalog for this kind, in its order.
std::vector<const Algorithm*> algorithms_of(CollectiveKind kind);

}  // namespace athanor
