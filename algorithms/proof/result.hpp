#pragma once

#include <optional>

#include "algorithms/proof/label.hpp"
#include "algorithms/proof/symbolic.hpp"
#include "algorithms/proof/violation.hpp"
#include "algorithms/schedule/contract.hpp"

namespace athanor {

/// An output element that does not hold what it should.
struct WrongElement {
  AgentId rank;
  Elements element;
  Promise promise;  ///< the one that is broken

  /// Input element of each of its contributions.
  Elements from() const { return promise.from + (element - promise.first); }
};

/// The first one after a complete execution with labels, or nothing.
std::optional<WrongElement> first_wrong(const Collective& collective, const Symbolic<Label>& end);

/// Executes once more with explicit multisets of contributions and says what is missing, double, foreign or not
/// finished, and where the trouble began as far as that can be told. Requires that the replay with `slots` ends.
Violation explain_result(const Schedule& schedule, const Collective& collective, const Wiring& wiring,
                         std::uint32_t slots, const WrongElement& wrong);

}  // namespace athanor
