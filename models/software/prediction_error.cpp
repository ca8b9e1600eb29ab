#include "models/software/prediction_error.hpp"

#include <algorithm>

#include "models/software/decimal.hpp"

namespace athanor {

namespace {

Names<SizeBand> band_names() {
  return {{"below_1MiB", SizeBand::small}, {"to_64MiB", SizeBand::middle}, {"above", SizeBand::large}};
}

}  // namespace

std::string_view name(Knowledge knowledge) {
  switch (knowledge) {
    case Knowledge::sizes: return "sizes";
    case Knowledge::tables: return "tables";
    case Knowledge::two_rows: return "two_rows";
    case Knowledge::nothing: return "nothing";
  }
  return "";
}

SizeBand band_of(Bytes size) {
  constexpr Bytes kMiddle{1 << 20};
  constexpr Bytes kLarge{1 << 26};
  return size < kMiddle ? SizeBand::small : size < kLarge ? SizeBand::middle : SizeBand::large;
}

void visit(Fields& fields, PredictionError& error) {
  constexpr std::int64_t kMost = 1'000;
  Names<Knowledge> names{};
  for (const Knowledge each : kKnowledges) { names.named.push_back({name(each), each}); }
  fields.required("known", error.knowledge, "What had been measured of the stack before", names);
  fields.required("several_nodes", error.several_nodes, "Between nodes, or within one");
  fields.required("size", error.band, "Of the rows", band_names());
  visit_decimal(fields, "low", error.low, 1, kMost, "A tenth of measured times are less than this x the simulated one");
  visit_decimal(fields, "high", error.high, 1, kMost, "A tenth are more");
  visit_decimal(fields, "shared", error.shared, 0, 1, "Of the errors' variance, what is common to one stack's tables");
  fields.required("tables", error.tables, "That were held out");
}

const PredictionError* find(const std::vector<PredictionError>& errors, Knowledge knowledge, bool several_nodes,
                            Bytes size) {
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const PredictionError& each) {
    return each.knowledge == knowledge && each.several_nodes == several_nodes && each.band == band_of(size);
  });
  return found == errors.end() ? nullptr : &*found;
}

}  // namespace athanor
