#include "models/software/software_pool.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/software/decimal.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr Time kSimpleLatency{1'000'000};  // of a flag within a node: no table tells it from a step

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

/// As the figure's own key of a profile is written.
void visit_typical(Fields& fields, const Figure& figure, double& typical) {
  constexpr const char* kMeaning = "Of parts that nothing is known of";
  const auto quantity = [&](auto cost) {
    fields.required("typical", cost, kMeaning);
    typical = static_cast<double>(cost.count());
  };
  switch (figure.unit) {
    case FigureUnit::time: return quantity(Time{std::llround(typical)});
    case FigureUnit::bandwidth: return quantity(Bandwidth{std::llround(typical)});
    case FigureUnit::share: break;
  }
  visit_decimal(fields, "typical", typical, 1, 1, kMeaning);
}

void visit_figure(Fields& fields, const Figure& figure, PooledFigure& pooled) {
  visit_typical(fields, figure, pooled.typical);
  visit_spread(fields, "spread", pooled.spread, "Standard deviation of its logarithm");
  visit_spread(fields, "part_spread", pooled.part_spread, "Of what a part changes it by that nothing is known of");
  visit_spread(fields, "stack_spread", pooled.stack_spread, "Of one stack among others of the same parts");
  fields.optional_list("parts", pooled.parts, "What parts change it by", &visit_effect);
}

}  // namespace

void visit(Fields& fields, SoftwarePool& pool) {
  fields.required("name", pool.name, "As results name it");
  fields.optional("description", pool.description, "For people");
  fields.optional("source", pool.source, "Where its figures come from");
  fields.optional_list("errors", pool.errors, "How far predictions were off on rows that no fit had seen");
  pool.figures.resize(figures().size());
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const Figure& figure = figures()[i];
    fields.required_object(figure.name, "A cost of profiles",
                           [&](Fields& inner) { visit_figure(inner, figure, pool.figures[i]); });
  }
}

ExpectedFigure expected(const PooledFigure& pooled, const Figure& figure, const StackParts& parts) {
  double logarithm = std::log(pooled.typical);
  double variance = pooled.spread * pooled.spread;
  if (figure.owner != FigureOwner::nobody) { variance += pooled.stack_spread * pooled.stack_spread; }
  for (const std::string& part : parts_of(figure, parts)) {
    const auto known = std::find_if(pooled.parts.begin(), pooled.parts.end(),
                                    [&](const PartEffect& each) { return each.part == part; });
    const double spread = known == pooled.parts.end() ? pooled.part_spread : known->spread;
    if (known != pooled.parts.end()) { logarithm += std::log(known->factor); }
    variance += spread * spread;
  }
  return {std::clamp(std::exp(logarithm), figure.least, figure.most), std::sqrt(variance)};
}

Profile blank_profile(const StackParts& parts) {
  Profile profile;
  profile.nccl.emplace();
  profile.nccl->rccl = parts.rccl;
  profile.nccl->choosing = choosing_of(parts);
  profile.nccl->of(NcclProtocol::simple).node_latency = kSimpleLatency;
  return profile;
}

Profile pooled_profile(const SoftwarePool& pool, const StackParts& parts) {
  Profile profile = blank_profile(parts);
  profile.name = pool.name;
  profile.description = pool.description;
  profile.pooled = true;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const Figure& figure = figures()[i];
    if (!matters(figure, parts)) { continue; }
    figure.set(profile, expected(pool.figures.at(i), figure, parts).value);
  }
  return profile;
}

}  // namespace athanor
