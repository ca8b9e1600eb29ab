#include "topologies/scenario/sources.hpp"

#include <fmt/core.h>

namespace athanor {

void read_sources(Fields& fields, Sources& sources) {
  fields.entries("Where figures come from", [&](const std::string& key, FieldValue& value) {
    value.object([&](Fields& source) {
      std::string what;
      std::string where;
      source.required("what", what, "The document");
      source.required("where", where, "Its address");
      sources[key] = fmt::format("{} ({})", what, where);
    });
  });
}

}  // namespace athanor
