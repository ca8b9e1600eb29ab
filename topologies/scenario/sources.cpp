#include "topologies/scenario/sources.hpp"

#include <fmt/core.h>

namespace athanor {

void read_sources(ObjectReader& reader, Sources& sources) {
  reader.entries("Where figures come from", [&](const std::string& key, ValueReader& value) {
    value.object([&](ObjectReader& source) {
      std::string what;
      std::string where;
      source.required("what", what, "The document");
      source.required("where", where, "Its address");
      sources[key] = fmt::format("{} ({})", what, where);
    });
  });
}

}  // namespace athanor
