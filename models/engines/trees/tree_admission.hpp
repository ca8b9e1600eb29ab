#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "models/engines/trees/aggregation_manager.hpp"

namespace athanor {

/// Grants trees to jobs that come one after the other and keep them. Where engines are exclusive, who comes too late
/// gets none. Else jobs take turns: who finds no room is granted trees as if those before it were gone, and has to wait
/// until they are.
class TreeAdmission {
 public:
  /// Borrows the fabric; throws as AggregationManager does.
  TreeAdmission(const Fabric& fabric, EngineLimits limits, std::optional<std::uint8_t> network, bool exclusive);

  /// What grant() would give. Requires, as that does, that the job holds nothing.
  TreeGrant look(const TreeRequest& request);
  TreeGrant grant(const TreeRequest& request);

  /// The jobs that have to end before this one may begin, ascending; none where it holds nothing.
  std::vector<std::uint32_t> before(std::uint32_t job) const;

 private:
  AggregationManager& round(std::size_t number);
  bool overtakes(std::size_t number, std::uint32_t job) const;
  bool conflict(const std::vector<AllocatedTree>& a, const std::vector<AllocatedTree>& b) const;

  const Fabric& fabric_;
  EngineLimits limits_;
  std::optional<std::uint8_t> network_;
  bool exclusive_;
  std::vector<std::unique_ptr<AggregationManager>> rounds_;
  std::map<std::uint32_t, std::size_t> round_of_;  ///< by job that holds trees
};

}  // namespace athanor
