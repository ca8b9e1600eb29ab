#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/error.hpp"

namespace athanor {

class FabricKind;
class Fields;
struct Topology;

/// A "fabric" as a scenario writes it.
struct FabricSettings {
  std::string name;                                ///< of one of several; else ""
  std::shared_ptr<const FabricKind> kind;          ///< with its keys
  std::optional<std::vector<std::uint32_t>> nics;  ///< of every node, those that are on it; absent: all
  Place place;
  Place nics_place;
};
void visit(Fields& fields, FabricSettings& fabric);

/// The keys that a fabric of this kind may have beside "kind", in alphabetical order.
std::vector<std::string> keys_of(const Topology& topology);

}  // namespace athanor
