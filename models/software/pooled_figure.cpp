#include "models/software/pooled_figure.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "models/software/decimal.hpp"

namespace athanor {

namespace {

void visit_spread(Fields& fields, const char* key, double& spread, const char* meaning) {
  constexpr std::int64_t kMost = 10;  // of a logarithm: no figure is known so badly
  visit_decimal(fields, key, spread, 0, kMost, meaning);
}

void visit_effect(Fields& fields, PartEffect& effect) {
  constexpr std::int64_t kMost = 10'000;
  fields.required("part", effect.part, "Of a stack: \"gpu hopper\", \"transport ib\"");
  visit_decimal(fields, "factor", effect.factor, 1, kMost, "By which the part changes the figure");
  visit_spread(fields, "spread", effect.spread, "Standard deviation of its logarithm");
}

}  // namespace

void visit_spreads(Fields& fields, PooledFigure& pooled) {
  visit_spread(fields, "spread", pooled.spread, "Standard deviation of its logarithm");
  visit_spread(fields, "part_spread", pooled.part_spread, "Of what a part changes it by that nothing is known of");
  visit_spread(fields, "stack_spread", pooled.stack_spread, "Of one stack among others of the same parts");
  fields.optional_list("parts", pooled.parts, "What parts change it by", &visit_effect);
}

std::vector<std::string> known_parts(std::span<const PooledFigure> figures) {
  std::set<std::string> parts;
  for (const PooledFigure& figure : figures) {
    for (const PartEffect& each : figure.parts) { parts.insert(each.part); }
  }
  return {parts.begin(), parts.end()};
}

ExpectedFigure expected(const PooledFigure& pooled, const std::vector<std::string>& parts, bool differs) {
  double logarithm = std::log(pooled.typical);
  double variance = pooled.spread * pooled.spread;
  if (differs) { variance += pooled.stack_spread * pooled.stack_spread; }
  for (const std::string& part : parts) {
    const auto known = std::find_if(pooled.parts.begin(), pooled.parts.end(),
                                    [&](const PartEffect& each) { return each.part == part; });
    const double spread = known == pooled.parts.end() ? pooled.part_spread : known->spread;
    if (known != pooled.parts.end()) { logarithm += std::log(known->factor); }
    variance += spread * spread;
  }
  return {std::exp(logarithm), std::sqrt(variance)};
}

}  // namespace athanor
