#include "tools/calibrate/pool/pooled_fit.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/library/library.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"

using namespace athanor;

namespace {

constexpr const char* kTwoNodes = R"({"cluster": {"node": "DGX-H100", "nodes": 2, "fabric": {"kind": "star",
  "switch": "QM9700"}}, "profile": "nccl-generic-hopper",
  "collective": {"kind": "all_reduce", "sizes": "8B,1KiB,32KiB,256KiB,2MiB,32MiB,1GiB"}})";

const StackParts kParts{.gpu = "hopper", .link = "nvlink", .transport = "ib"};

/// Every figure as usual, and as uncertain as figures of stacks are.
SoftwarePool pool() {
  SoftwarePool result;
  for (const Figure& each : figures()) { result.figures.push_back({each.typical, 0.1, 0.1, 0.3, {}}); }
  return result;
}

/// Rows of a scenario that nobody has measured yet.
Tables unmeasured(const Folder& folder) {
  Problems problems;
  const Scenario scenario =
      read_scenario(folder.write("s.json", kTwoNodes), Library(ATHANOR_TEST_SCENARIOS), {}, problems);
  problems.throw_if_any();
  const Case& only = scenario.cases.front();
  Tables tables{{{only.platform, only.as<CollectiveExperiment>()->setup()}}, {}};
  for (const Bytes size : tables.cases.front().setup.sizes) { tables.rows.push_back({.size = size, .measured_us = 1}); }
  return tables;
}

std::size_t effect_of(const PooledModel& model, std::string_view figure) {
  for (std::size_t i = 0; i < model.effects().size(); ++i) {
    if (figures()[model.effects()[i].figure].name == figure) { return i; }
  }
  FAIL("no such effect");
  return 0;
}

}  // namespace

TEST_CASE("a stack whose times its own figures made is found again, and what no row tells stays as expected") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  const std::vector<StackCase> cases{{"stack", kParts}};
  PooledModel truth(tables, cases, pool());
  std::vector<double> figures_of_truth(truth.effects().size());
  figures_of_truth[effect_of(truth, "LL.network_latency")] = 0.4;
  figures_of_truth[effect_of(truth, "nvls_efficiency")] = -0.2;
  const std::vector<double> made = truth.residuals(figures_of_truth);
  for (std::size_t i = 0; i < made.size(); ++i) { tables.rows[i].measured_us = std::exp(made[i]); }

  PooledModel model(tables, cases, pool());
  const std::vector<double> weights(tables.rows.size(), 1);
  const PooledFit fit = fit_pool(model, weights, {});
  for (const double residual : fit.posterior.residuals) { CHECK(std::abs(residual) < 0.03); }
  CHECK(fit.posterior.mode[effect_of(model, "nvls_efficiency")] == doctest::Approx(-0.2).epsilon(0.3));
  CHECK(fit.posterior.mode[effect_of(model, "LL.network_latency")] > 0.1);
  // All-reduce has no peers: their figure is as expected, and as uncertain.
  const std::size_t untold = effect_of(model, "peer_start");
  CHECK(fit.posterior.mode[untold] == doctest::Approx(0));
  CHECK(std::sqrt(fit.variances[untold]) == doctest::Approx(model.prior(fit.spreads)[untold]));
  CHECK(std::sqrt(fit.variances[effect_of(model, "nvls_efficiency")]) < 0.5 * model.prior(fit.spreads)[untold]);
}

TEST_CASE("rows of weight 0 are not looked at") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  const std::vector<StackCase> cases{{"stack", kParts}};
  PooledModel usual(tables, cases, pool());
  const std::vector<double> made = usual.residuals(std::vector<double>(usual.effects().size()));
  for (std::size_t i = 0; i < made.size(); ++i) { tables.rows[i].measured_us = std::exp(made[i]) * (i == 3 ? 5 : 1); }
  std::vector<double> weights(tables.rows.size(), 1);
  weights[3] = 0;
  PooledModel model(tables, cases, pool());
  const PooledFit fit = fit_pool(model, weights, {.rounds = 1});
  for (const double mode : fit.posterior.mode) { CHECK(std::abs(mode) < 0.02); }
}

TEST_CASE("cases of a stack share its effects, stacks with a part share the part's") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  tables.cases.push_back(tables.cases.front());
  tables.cases.push_back(tables.cases.front());
  const auto effects = [&](const char* second, const char* third) {
    return PooledModel(tables, {{"a", kParts}, {second, kParts}, {third, kParts}}).effects().size();
  };
  const std::size_t one = effects("a", "a");
  const std::size_t two = effects("a", "b");
  CHECK(effects("b", "c") - two == two - one);  // each further stack has effects of its own alone
  std::size_t own = 0;
  for (const Figure& each : figures()) { own += matters(each, kParts) && each.owner != FigureOwner::nobody ? 1 : 0; }
  CHECK(two - one == own);
}
