#include "models/software/software_pool.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/config/document.hpp"
#include "sim/config/json_value.hpp"
#include "sim/units.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// Of which only LL's step is known to differ by generation, and latencies by transport.
SoftwarePool pool() {
  SoftwarePool result;
  result.name = "test";
  for (const Figure& each : figures()) { result.figures.push_back({each.typical, 0.1, 0.3, 0.2, {}}); }
  result.figures[figure_index("LL.step")].parts.push_back({"gpu hopper", 0.5, 0.05});
  result.figures[figure_index("LL.network_latency")].parts.push_back({"transport efa", 4, 0.1});
  return result;
}

const StackParts kHopperOnEfa{.gpu = "hopper", .link = "nvlink", .transport = "efa"};

}  // namespace

TEST_CASE("a figure is set to what is got, and kept within its bounds") {
  for (const Figure& figure : figures()) {
    CAPTURE(figure.name);
    CHECK(figures()[figure_index(figure.name)].name == figure.name);
    CHECK(figure.least < figure.typical);
    CHECK(figure.typical <= figure.most);
    Profile profile = blank_profile({});
    figure.set(profile, figure.typical);
    CHECK(figure.get(profile) == doctest::Approx(figure.typical).epsilon(1e-4));
    figure.set(profile, figure.most * 10);
    CHECK(figure.get(profile) == doctest::Approx(figure.most).epsilon(1e-4));
    figure.set(profile, figure.least / 10);
    CHECK(figure.get(profile) == doctest::Approx(figure.least).epsilon(1e-4));
  }
  CHECK(figure_index("no such figure") == figures().size());
}

TEST_CASE("expected is the product of what parts are known to change") {
  const Figure& step = figures()[figure_index("LL.step")];
  const PooledFigure pooled = pool().figures[figure_index("LL.step")];
  CHECK(expected(pooled, step, kHopperOnEfa).value == doctest::Approx(step.typical * 0.5));
  CHECK(expected(pooled, step, {.gpu = "ampere", .link = "nvlink"}).value == doctest::Approx(step.typical));
}

TEST_CASE("variances of what is known and of what is not add up: an unknown part is less certain than a known one") {
  const Figure& step = figures()[figure_index("LL.step")];
  const PooledFigure pooled = pool().figures[figure_index("LL.step")];
  // Of all, of the stack, of "gpu hopper" and of the unknown "link nvlink" and "gpu hopper nvlink".
  CHECK(expected(pooled, step, kHopperOnEfa).spread == doctest::Approx(std::sqrt(0.01 + 0.04 + 0.0025 + 2 * 0.09)));
  CHECK(expected(pooled, step, {.gpu = "ampere", .link = "nvlink"}).spread ==
        doctest::Approx(std::sqrt(0.01 + 0.04 + 3 * 0.09)));
  CHECK(expected(pooled, step, {}).spread == doctest::Approx(std::sqrt(0.01 + 0.04)));
}

TEST_CASE("a profile of parts has the figures that matter there, and no others") {
  const Profile efa = pooled_profile(pool(), kHopperOnEfa);
  CHECK(efa.nccl->of(NcclProtocol::ll).network_latency == 23'200_ns);
  CHECK(efa.nccl->host_launch_per_gpu == Time::zero());
  CHECK(efa.nccl->nvls_loop > Time::zero());
  CHECK(efa.nccl->choosing == NcclChoosing::algorithm);
  const Profile volta = pooled_profile(pool(), {.gpu = "volta", .link = "nvlink", .one_process = true});
  CHECK(volta.nccl->host_launch_per_gpu > Time::zero());
  CHECK(volta.nccl->nvls_loop == Time::zero());
  CHECK(volta.nccl->of(NcclProtocol::ll).network_latency == Time::zero());
}

TEST_CASE("RCCL, and plugins that bring a tuner, take what is fastest") {
  CHECK(choosing_of({.rccl = true}) == NcclChoosing::fastest);
  for (const Transport& each : transports()) {
    CAPTURE(each.name);
    const NcclChoosing usual = each.tunes ? NcclChoosing::fastest : NcclChoosing::algorithm;
    CHECK(choosing_of({.transport = std::string(each.name)}) == usual);
  }
}

TEST_CASE("a pool reads back as it was written, to four digits behind the point") {
  const JsonValue json = json_of(pool());
  Problems problems;
  SoftwarePool again;
  read_document(Document::parse(text_of(json), "pool.json"), problems, [&](Fields& fields) { visit(fields, again); });
  problems.throw_if_any();
  REQUIRE(again.figures.size() == figures().size());
  for (std::size_t i = 0; i < figures().size(); ++i) {
    CHECK(again.figures[i].typical == doctest::Approx(pool().figures[i].typical).epsilon(1e-4));
    CHECK(again.figures[i].parts.size() == pool().figures[i].parts.size());
  }
}

TEST_CASE("the last of n late ones: exact sums, and logarithms beyond") {
  CHECK(last_of(6_us, 1) == Time::zero());
  CHECK(last_of(6_us, 2) == 3_us);
  CHECK(to_double({last_of(6_us, 3).count(), 5'000'000}) == doctest::Approx(1).epsilon(1e-6));
  for (const std::uint32_t n : {4096U, 8192U, 65'536U, 1'048'576U}) {
    const double expected = std::log(static_cast<double>(n)) + 0.5772156649 - 1;
    CHECK(static_cast<double>(last_of(1_us, n).count()) * 1e-6 == doctest::Approx(expected).epsilon(1e-3));
  }
}
