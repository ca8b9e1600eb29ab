#pragma once

#include <optional>
#include <string>

#include "sim/error.hpp"
#include "sim/units.hpp"

namespace athanor {

class Fields;
class FieldValue;

/// "nvlink4", or {"rate": ..., "usable": ..., "latency": ...}.
struct LinkConfig {
  std::string preset;  ///< "": the figures below
  Bandwidth rate;
  std::optional<Bandwidth> usable;  ///< absent: as `rate`
  Time latency;
  SourceLocation place;
};
/// The name of its preset, or an object of its figures.
void read(FieldValue& fields, LinkConfig& link);
void visit(Fields& fields, LinkConfig& link);

/// A link that may be absent.
void optional_link(Fields& fields, std::string_view key, std::string_view meaning, std::optional<LinkConfig>& link);

}  // namespace athanor
