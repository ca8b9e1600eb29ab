#pragma once

#include <optional>

#include "sim/config/document.hpp"
#include "sim/config/field_value.hpp"

namespace athanor {

struct Case;

/// Reports ("no-effect", with place and what to do instead) every key of a case that is there and does nothing in a
/// case of its kind, at its level, with its profile or beside its other keys. Requires a case that was read without
/// problems. Whoever adds a key that counts in some cases only adds its line to the table.
void refuse_keys_without_effect(const Document& document, const Case& scenario_case, Problems& problems);

/// Whether any case of a scenario reduces in the switches that "aggregation" gives engines to: cases that compare this
/// with a ring may share the key.
class EnginesInUse {
 public:
  /// Requires a case that was read without problems.
  void see(const Document& document, const Case& scenario_case);
  /// As refuse_keys_without_effect(), of all cases together.
  std::optional<Problem> problem() const;

 private:
  bool used_ = false;
  std::optional<Problem> unused_;
};

}  // namespace athanor
