#include "models/software/software_pool.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/software/decimal.hpp"
#include "sim/units.hpp"

namespace athanor {

namespace {

constexpr Time kSimpleLatency{1'000'000};  // of a flag within a node: no table tells it from a step

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
  visit_spreads(fields, pooled);
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
  ExpectedFigure result = expected(pooled, parts_of(figure, parts), figure.owner != FigureOwner::nobody);
  result.value = std::clamp(result.value, figure.least, figure.most);
  return result;
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
