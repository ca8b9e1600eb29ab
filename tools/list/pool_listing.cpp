#include "tools/list/pool_listing.hpp"

#include <fmt/core.h>

#include "sim/words.hpp"
#include "tools/list/listings.hpp"

namespace athanor {

JsonValue pool_row(const JsonValue& file, std::span<const PooledFigure> figures) {
  const JsonValue* errors = file.find("errors");
  return {{"kind", "pool"},
          {"name", file.string_at("name")},
          {"summary", file.string_at("description")},
          {"source", file.string_at("source")},
          {"parts", known_parts(figures)},
          {"errors", errors == nullptr ? JsonValue::list() : *errors}};
}

std::string pool_heading(const JsonValue& row) {
  std::vector<std::string> parts;
  for (const JsonValue& each : row["parts"].elements()) { parts.push_back(each.string()); }
  return fmt::format("\npool {}: {}\n  told apart: {}\n", row["name"].string(), row["summary"].string(),
                     wrapped(joined(parts, ", "), 14));
}

}  // namespace athanor
