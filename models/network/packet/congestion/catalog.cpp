#include <algorithm>

#include "models/network/packet/congestion/control.hpp"
#include "sim/check.hpp"
#include "sim/words.hpp"

namespace athanor {

/// Instantiated in the file of each kind (entry.hpp).
template <class Kind>
ControlEntry control_entry_of();

/// In the order of lists and documentation.
constexpr ControlEntry (*kControls[])() = {
    control_entry_of<struct NoControl>,       // none
    control_entry_of<struct DcqcnControl>,    // dcqcn
    control_entry_of<struct NewRenoControl>,  // newreno
    control_entry_of<struct CubicControl>,    // cubic
    control_entry_of<struct DctcpControl>,    // dctcp
    control_entry_of<struct SwiftControl>,    // swift
    control_entry_of<struct HpccControl>,     // hpcc
    control_entry_of<struct NsccControl>,     // nscc
    control_entry_of<struct PullControl>,     // pull
};

const std::vector<ControlEntry>& congestion_controls() {
  static const std::vector<ControlEntry> all = [] {
    std::vector<ControlEntry> found;
    for (const auto& entry : kControls) { found.push_back(entry()); }
    return found;
  }();
  return all;
}

std::shared_ptr<ControlKind> congestion_control(std::string_view name) {
  const auto& all = congestion_controls();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.words.name == name; });
  require(found != all.end(), "no congestion control is called {}", name);
  return found->make();
}

std::string controls_with_initial_window() {
  std::vector<std::string> names;
  for (const ControlEntry& each : congestion_controls()) {
    if (each.words.initial_window) { names.emplace_back(each.words.name); }
  }
  return enumeration(names);
}

}  // namespace athanor
