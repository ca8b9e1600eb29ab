#pragma once

#include "models/network/packet/congestion/control.hpp"

namespace athanor {

/// Each kind's file ends with an explicit instantiation of it, by which the catalog finds the kind without a header.
template <class Kind>
ControlEntry control_entry_of() {
  return {Kind::description(), []() -> std::shared_ptr<ControlKind> { return std::make_shared<Kind>(); }};
}

}  // namespace athanor
