#include "tools/list/pool_listing.hpp"

#include <fmt/core.h>

#include "tools/list/columns.hpp"
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
  return fmt::format("\npool {}: {}\n  told apart: {}\n", row["name"].string(), row["summary"].string(),
                     wrapped(words_of(row["parts"]), 14));
}

std::string off_text(double low, double high) {
  return fmt::format("{:+.0f}..{:+.0f}", low * 100 - 100, high * 100 - 100);
}

}  // namespace athanor
