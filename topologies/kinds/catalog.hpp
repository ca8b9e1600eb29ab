#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topologies/fabric/router.hpp"

namespace athanor {

class FabricKind;

/// What is known of a kind of fabric, for scenarios, lists and documentation. Formulas are plain text over `symbols`;
/// the tests of each kind hold generated fabrics against them.
struct Topology {
  std::string name;         ///< as in "fabric": {"kind": ...}
  std::string title;        ///< "Fat tree"
  std::string summary;      ///< what it is, in a line
  std::string explanation;  ///< what it is, and who builds it
  std::string symbols;      ///< what the letters in the formulas stand for
  std::string endpoints;    ///< hosts or NICs that it takes
  std::string switches;
  std::string cables;     ///< between switches, or positions; those to hosts and NICs are not counted
  std::string diameter;   ///< most links between two endpoints
  std::string bisection;  ///< cables between the halves that it is measured on
  std::string source;
  std::vector<Routing> routings;  ///< the default first

  /// One of this kind, with the defaults of its keys. Filled in by topology_of (fabric_kind.hpp).
  std::unique_ptr<FabricKind> (*make)() = nullptr;
};

/// Every kind of fabric that a scenario may ask for, switched networks first.
const std::vector<Topology>& topologies();

}  // namespace athanor
