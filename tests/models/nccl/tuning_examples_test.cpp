#include <array>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/nccl/tuning/choice.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Algorithm = NcclAlgorithm;

constexpr std::array<std::int64_t, 5> kSizes{8, 65536, 1048576, 67108864, 1073741824};

/// "35.9 LL": the protocol of least time of an algorithm, and that time.
std::string fastest(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm) {
  std::optional<NcclEstimate> best;
  for (const NcclEstimate& each : nccl_estimates(communicator, call)) {
    if (each.algorithm != algorithm || !each.disabled.empty()) { continue; }
    if (!best || each.time < best->time) { best = each; }
  }
  return best ? fmt::format("{:.1f} {}", best->time, name(best->protocol)) : "none";
}

/// A row of the worked examples: what NCCL 2.30.7 predicts in us for all-reduce of 8 B, 64 KiB, 1 MiB, 64 MiB, 1 GiB.
struct Row {
  Algorithm algorithm;
  std::array<std::string, 5> predicted;
  std::array<bool, 5> chosen{};
};

void check_rows(const NcclCommunicator& communicator, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      const NcclCall call = all_reduce_of(kSizes.at(i));
      CAPTURE(kSizes.at(i));
      CAPTURE(std::string(name(row.algorithm)));
      CHECK(fastest(communicator, call, row.algorithm) == row.predicted.at(i));
      CHECK((nccl_choose(communicator, call).algorithm == row.algorithm) == row.chosen.at(i));
    }
  }
}

constexpr std::array<bool, 5> kNone{};
constexpr std::array<bool, 5> kAll{true, true, true, true, true};
constexpr std::array<bool, 5> kSmall{true, true, true, false, false};
constexpr std::array<bool, 5> kLarge{false, false, false, true, true};

}  // namespace

TEST_CASE("DGX A100 is tuned as NCCL's own tables say") {
  check_rows(dgx_a100(1),
             {{Algorithm::tree, {"15.2 LL", "19.0 LL", "51.9 LL128", "824.2 Simple", "9790.3 Simple"}, kNone},
              {Algorithm::ring, {"15.0 LL", "16.3 LL", "35.9 LL", "545.3 Simple", "7885.4 Simple"}, kAll}});
  check_rows(dgx_a100(2),
             {{Algorithm::tree, {"25.2 LL", "34.9 LL", "70.3 LL128", "980.6 LL128", "11466.8 Simple"}, kSmall},
              {Algorithm::ring, {"68.0 LL", "73.5 LL", "90.3 LL128", "864.4 LL128", "10771.9 Simple"}, kLarge}});
  check_rows(dgx_a100(16), {{Algorithm::tree,
                             {"55.2 LL", "66.7 LL", "125.7 LL128", "1216.6 LL128", "15257.0 Simple"},
                             {true, true, true, true, false}},
                            {Algorithm::ring,
                             {"535.6 LL", "542.4 LL", "595.0 LL128", "1414.3 LL128", "13578.8 Simple"},
                             {false, false, false, false, true}}});
}

TEST_CASE("DGX H100 is tuned as NCCL's own tables say") {
  check_rows(
      dgx_h100(1),
      {{Algorithm::tree, {"15.2 LL", "17.7 LL", "45.1 LL128", "571.0 Simple", "6548.3 Simple"}, kNone},
       {Algorithm::ring, {"15.0 LL", "15.8 LL", "28.0 LL", "382.2 Simple", "5275.6 Simple"}, kSmall},
       {Algorithm::nvls, {"25.0 Simple", "25.2 Simple", "28.9 Simple", "271.7 Simple", "3972.6 Simple"}, kLarge}});
  check_rows(
      dgx_h100(2),
      {{Algorithm::tree, {"25.2 LL", "31.8 LL", "62.5 LL128", "646.1 LL128", "7720.6 Simple"}, kSmall},
       {Algorithm::ring, {"40.0 LL", "43.2 LL", "81.9 LL128", "503.8 LL128", "5427.1 Simple"}, kNone},
       {Algorithm::nvls_tree, {"66.8 Simple", "67.1 Simple", "71.1 Simple", "339.4 Simple", "4428.3 Simple"}, kLarge}});
  const std::vector<Row> sixteen{
      {Algorithm::tree, {"55.2 LL", "67.8 LL", "117.2 LL128", "855.7 LL128", "8948.8 Simple"}, kSmall},
      {Algorithm::ring, {"311.6 LL", "318.0 LL", "413.6 LL", "1013.2 LL128", "7214.7 Simple"}, kNone},
      {Algorithm::nvls_tree,
       {"192.2 Simple", "192.6 Simple", "197.9 Simple", "558.0 Simple", "6045.8 Simple"},
       kLarge}};
  check_rows(dgx_h100(16), sixteen);
}

TEST_CASE("DGX H100 with SHARP takes NVLS at every size") {
  check_rows(with_sharp(dgx_h100(16)),
             {{Algorithm::tree, {"55.2 LL", "67.8 LL", "117.2 LL128", "855.7 LL128", "8948.8 Simple"}, kNone},
              {Algorithm::ring, {"311.6 LL", "318.0 LL", "413.6 LL", "1013.2 LL128", "7214.7 Simple"}, kNone},
              {Algorithm::collnet_direct,
               {"44.0 Simple", "44.4 Simple", "50.4 Simple", "455.2 Simple", "6623.3 Simple"},
               kNone},
              {Algorithm::collnet_chain,
               {"69.2 Simple", "69.5 Simple", "74.7 Simple", "418.7 Simple", "5661.6 Simple"},
               kNone},
              {Algorithm::nvls, {"43.0 Simple", "43.3 Simple", "48.4 Simple", "389.8 Simple", "5591.7 Simple"}, kAll},
              {Algorithm::nvls_tree,
               {"192.2 Simple", "192.6 Simple", "197.9 Simple", "558.0 Simple", "6045.8 Simple"},
               kNone}});
}

TEST_CASE("DGX B200 is tuned as NCCL's own tables say") {
  check_rows(
      dgx_b200(1),
      {{Algorithm::tree, {"15.2 LL", "16.5 LL", "38.3 LL128", "317.7 Simple", "3306.4 Simple"}, kNone},
       {Algorithm::ring, {"15.0 LL", "15.4 LL", "21.5 LL", "219.1 Simple", "2665.8 Simple"}, kSmall},
       {Algorithm::nvls, {"25.0 Simple", "25.2 Simple", "27.5 Simple", "188.1 Simple", "2634.8 Simple"}, kLarge}});
  check_rows(
      dgx_b200(2),
      {{Algorithm::tree, {"25.2 LL", "31.8 LL", "64.7 LL128", "668.9 Simple", "7471.1 Simple"}, kSmall},
       {Algorithm::ring, {"40.0 LL", "43.2 LL", "81.3 LL128", "468.4 LL128", "5427.1 Simple"}, kNone},
       {Algorithm::nvls_tree, {"66.8 Simple", "67.2 Simple", "74.7 Simple", "383.1 Simple", "4115.4 Simple"}, kLarge}});
}

TEST_CASE("All-gather, reduce-scatter and broadcast on DGX H100 take Ring, as NCCL's own tables say") {
  const auto time = [](const NcclCommunicator& communicator, NcclFunction function, std::int64_t bytes) {
    const NcclChoice choice = nccl_choose(communicator, call_of(function, bytes));
    CHECK(choice.algorithm == Algorithm::ring);
    return fmt::format("{:.{}f} {}", choice.time, choice.time < 100 ? 1 : 0, name(choice.protocol));
  };
  for (const NcclFunction function : {NcclFunction::all_gather, NcclFunction::reduce_scatter}) {
    CHECK(time(dgx_h100(1), function, 65536) == "11.2 LL");
    CHECK(time(dgx_h100(1), function, 1048576) == "17.3 LL");
    CHECK(time(dgx_h100(1), function, 67108864) == "195 Simple");
    CHECK(time(dgx_h100(1), function, 1073741824) == "2642 Simple");
    CHECK(time(dgx_h100(16), function, 65536) == "162 LL");
    CHECK(time(dgx_h100(16), function, 1048576) == "210 LL");
    CHECK(time(dgx_h100(16), function, 67108864) == "514 LL128");
    CHECK(time(dgx_h100(16), function, 1073741824) == "3374 Simple");
  }
  CHECK(time(dgx_h100(1), NcclFunction::broadcast, 65536) == "7.7 LL");
  CHECK(time(dgx_h100(1), NcclFunction::broadcast, 1048576) == "14.6 LL");
  CHECK(time(dgx_h100(1), NcclFunction::broadcast, 67108864) == "198 Simple");
  CHECK(time(dgx_h100(1), NcclFunction::broadcast, 1073741824) == "2994 Simple");
}

TEST_CASE("An estimate follows step by step from the graph of two DGX H100") {
  const NcclCall call = all_reduce_of(67108864);
  const NcclEstimate ring = nccl_estimate(dgx_h100(2), call, Algorithm::ring, NcclProtocol::simple);
  // 8 channels of 48 GB/s; 16 ranks take 30 steps, 2 of them between nodes. A step within takes as long as three posts.
  const double bandwidth = 8.0 * 48 * 16 / 30;
  const double latency = (8.4 + 28 * 3.4 + 2 * 14) * 1.4;
  CHECK(ring.bandwidth == doctest::Approx(bandwidth));
  CHECK(ring.latency == doctest::Approx(latency));
  CHECK(ring.time == doctest::Approx(latency + 67108864 / (1000 * bandwidth)));

  const NcclEstimate tree = nccl_estimate(dgx_h100(2), call, Algorithm::nvls_tree, NcclProtocol::simple);
  // NVLink would give 40 x 0.85 x 7/8 x 2 = 59.5, two NICs' ways 96, and the cap 57.7.
  CHECK(tree.bandwidth == doctest::Approx(8 * 57.7 * 16 / 30));
  CHECK(tree.latency == doctest::Approx(25 + 2 * 20.9));

  const NcclEstimate nvls = nccl_estimate(dgx_h100(1), call, Algorithm::nvls, NcclProtocol::simple);
  CHECK(nvls.bandwidth == doctest::Approx(40 * 0.85 * 7 / 8 * 2 * 8 * 8 / 14));
  CHECK(nvls.latency == doctest::Approx(25));
}
