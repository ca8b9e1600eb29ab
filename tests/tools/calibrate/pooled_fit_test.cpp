#include "tools/calibrate/pool/pooled_fit.hpp"

#include <cmath>
#include <sstream>

#include <doctest/doctest.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/scenario/scenario.hpp"
#include "models/library/library.hpp"
#include "sim/error.hpp"
#include "tests/sanitized.hpp"
#include "tests/test_files.hpp"
#include "tests/tools/cli/command_line_fixture.hpp"
#include "tools/calibrate/anchors/table_checks.hpp"
#include "tools/calibrate/calibrations.hpp"
#include "tools/calibrate/pool/residual_table.hpp"
#include "tools/calibrate/pool/stack_cases.hpp"

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
    if (figures()[model.effects()[i].figures.front()].name == figure) { return i; }
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
  CHECK(two - one == own + kFigureFamilies);
}

TEST_CASE("what the rows of one protocol tell of a network, its other protocols are expected to share") {
  // A row of 8 B, with LL, is late; of Simple no row tells anything but by its family.
  const Folder folder;
  Tables tables = unmeasured(folder);
  tables.rows.resize(1);
  PooledModel model(tables, {{"stack", kParts}});
  const std::vector<double> usual(model.effects().size());
  tables.rows.front().measured_us = std::exp(model.residuals(usual).front() + 0.3);
  model = PooledModel(tables, {{"stack", kParts}});
  const PooledFit fit = fit_pool(model, {1}, {.rounds = 1});
  const auto by = [&](const char* figure) {
    const Figure& each = figures()[figure_index(figure)];
    return std::log(each.get(model.profile(0, fit.posterior.mode)) / each.get(model.profile(0, usual)));
  };
  CHECK(by("LL.network_latency") > 0.02);
  CHECK(by("Simple.network_latency") > 0.01);
  CHECK(by("Simple.network_latency") < by("LL.network_latency"));
  CHECK(by("Simple.rate") == doctest::Approx(0));

  // What is written of a part is its own effect and that on the family; alone they are less certain than together.
  const SoftwarePool written = pool_of(model, fit);
  const PooledFigure& latency = written.figures[figure_index("LL.network_latency")];
  REQUIRE(latency.parts.size() == 1);
  const std::size_t own = model.effects().size();
  for (std::size_t i = 0; i < own; ++i) {
    const Effect& each = model.effects()[i];
    const auto family = model.effect_of_family(i);
    if (each.level != EffectLevel::part || each.name != "transport ib" || !family) { continue; }
    const PooledFigure& figure = written.figures[each.figures.front()];
    CHECK(std::log(figure.parts.front().factor) ==
          doctest::Approx(fit.posterior.mode[i] + fit.posterior.mode[*family]));
    CHECK(figure.parts.front().spread < std::sqrt(fit.variances[i] + fit.variances[*family]) + 1e-12);
  }
}

TEST_CASE("a case keeps the release and the profile within nodes of its tables while its figures are fitted") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  Profile measured = *tables.cases.front().platform.profile;
  measured.nccl->version = NcclVersion{2, 19, 3};
  measured.within_node = "nccl-h100-node";
  measured.transport = "ib";
  tables.cases.front().platform.profile = std::make_shared<const Profile>(measured);
  const std::vector<StackCase> cases = stack_cases(tables);
  CHECK(cases.front().within_node == "nccl-h100-node");
  PooledModel model(tables, cases, pool());
  const std::vector<double> usual(model.effects().size());
  model.residuals(usual);
  CHECK(model.profile(0, usual).nccl->version == NcclVersion{2, 19, 3});
}

TEST_CASE("a pool of which nothing was held out says nothing of how many rows lie within intervals" *
          doctest::skip(kSanitized)) {
  const Folder folder;
  const std::string tables = std::string(ATHANOR_TEST_SCENARIOS) + "/validation/nccl-b200-nvswitch.json";
  const std::string rows = folder.path("rows.csv");
  const Ran ran = athanor_run(
      {"calibrate", "--backend", "pool", "--tables", tables, "-o", folder.path("pool.json"), "--residuals", rows});
  CAPTURE(ran.err);
  REQUIRE(ran.code == 0);
  const std::string text = read_text_file(rows);
  CHECK(text.find("\nfit,b200_1n_allreduce_a4,nccl-b200-nvswitch,all_reduce,8,") != std::string::npos);
  CHECK(text.find("\nhold_out_") == std::string::npos);
  CHECK(ran.says("fitted on it"));
  CHECK_FALSE(ran.says("within the interval"));
}

TEST_CASE("a figure at its bound is named, and refused") {
  const Folder folder;
  const Tables tables = unmeasured(folder);
  const PooledModel model(tables, {{"stack", kParts}}, pool());
  std::vector<double> unknowns(model.effects().size());
  CHECK(model.at_bounds(unknowns).empty());
  unknowns[effect_of(model, "LL.network_latency")] = -20;
  unknowns[effect_of(model, "launch")] = 20;
  const std::vector<FigureAtBound> found = model.at_bounds(unknowns);
  REQUIRE(found.size() == 2);
  for (const FigureAtBound& each : found) {
    const Figure& figure = figures()[each.figure];
    CHECK(each.stack == "stack");
    CHECK(each.bound == (figure.name == "launch" ? figure.most : figure.least));
  }
  CHECK_THROWS_WITH_AS(check_bounds(model, {{}, {unknowns, {}, {}, 0}, {}, {}}), doctest::Contains("launch of stack: "),
                       UsageError);
}

TEST_CASE("tables in other units, or faster than their machine, are refused before a fit") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  tables.cases.front().setup.verification.emplace();
  tables.cases.front().setup.verification->measurement.id = "some_table";
  const std::vector<double> expected(tables.rows.size(), 100.0);
  const auto all = [&](double time_us) {
    for (TableRow& each : tables.rows) { each.measured_us = time_us; }
  };
  all(0.1);
  CHECK_THROWS_WITH_AS(check_tables(tables, expected),
                       doctest::Contains("some_table: 8 B in 100 ns: about 1000 times shorter"), ScenarioError);
  all(30);
  CHECK_THROWS_WITH_AS(check_tables(tables, expected),
                       doctest::Contains("the least that the scenario's hardware allows"), ScenarioError);
  all(1e5);
  for (TableRow& each : tables.rows) { each.spike = true; }
  CHECK_NOTHROW(check_tables(tables, expected));
}

TEST_CASE("every row that was judged is written with its error, and with what other stacks say of it where it counts") {
  const Folder folder;
  Tables tables = unmeasured(folder);
  tables.rows.resize(2);
  tables.cases.push_back(tables.cases.front());
  for (const std::size_t each : {0, 1}) {
    tables.cases[each].setup.verification.emplace();
    tables.cases[each].setup.verification->measurement.id = each == 0 ? "table_a" : "table_b";
  }
  for (const std::size_t first : {0, 1}) {
    tables.rows[first].measured_us = 10;
    TableRow other = tables.rows[first];
    other.in_case = other.table = 1;
    tables.rows.push_back(other);
  }
  tables.rows[1].spike = true;
  const double twice = std::log(2.0);
  HeldOutResiduals residuals;
  residuals[static_cast<std::size_t>(HeldOut::nothing)] = {0, 0, 0, std::nan("")};
  residuals[static_cast<std::size_t>(HeldOut::stack)] = {twice, twice, -twice, -twice};
  const std::string text = residual_table(tables, {{"a", kParts}, {"b", kParts}}, residuals);
  CAPTURE(text);
  std::vector<std::vector<std::string>> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    std::istringstream fields(line);
    lines.emplace_back();
    for (std::string field; std::getline(fields, field, ',');) { lines.back().push_back(field); }
    REQUIRE(lines.back().size() == 13);
  }
  REQUIRE(lines.size() == 1 + 3 + 4);  // the row that the fit has not judged is none
  for (const std::size_t each : {1, 2, 3}) {
    CHECK(lines[each][0] == "fit");
    CHECK(std::stod(lines[each][8]) == 0);
    CHECK(lines[each][9].empty());
  }
  const std::vector<std::string>& first = lines[4];
  CHECK(std::vector(first.begin(), first.begin() + 6) ==
        std::vector<std::string>{"hold_out_stack", "table_a", "a", "all_reduce", "16", "8"});
  CHECK(std::stod(first[6]) == 10);
  CHECK(std::stod(first[7]) == doctest::Approx(20));
  CHECK(std::stod(first[8]) == doctest::Approx(1));
  // Stack b was simulated at half of what was measured: so this one's 20 us are told to take 40.
  CHECK(std::stod(first[9]) <= 40.0001);
  CHECK(std::stod(first[10]) >= 39.9999);
  CHECK(std::stod(first[9]) > 20);
  CHECK(lines[5][9].empty());  // no interval counts a spike
  CHECK(lines[5][11] == "true");
  CHECK(lines[6][2] == "b");
  CHECK(std::stod(lines[6][7]) == doctest::Approx(5));
  CHECK(std::stod(lines[6][10]) < 5);
}
