#include <doctest/doctest.h>

#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "models/nccl/tuning/work.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::literals;
using namespace athanor::testing;

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr NcclVersion k4{2, 4, 8};
constexpr NcclVersion k7{2, 7, 5};
constexpr NcclVersion k8{2, 8, 4};
constexpr NcclVersion k13{2, 13, 4};
constexpr NcclVersion k17{2, 17, 1};
constexpr NcclVersion k18{2, 18, 3};

NcclEstimate of(const NcclCommunicator& box, NcclVersion version, Algorithm algorithm, Protocol protocol,
                NcclFunction function = NcclFunction::all_reduce, std::int64_t bytes = 67108864) {
  return nccl_estimate(with_version(box, version), call_of(function, bytes), algorithm, protocol);
}

NcclCommunicator dgx_v100(std::uint32_t nodes) {
  NcclCommunicator box = dgx_a100(nodes);
  box.least_capability = box.greatest_capability = 70;
  return box;
}

Bytes tree_chunk(const NcclCommunicator& box, std::int64_t bytes) {
  const NcclCall call = all_reduce_of(bytes);
  return nccl_work(box, call, nccl_choice_of(box, call, Algorithm::tree, Protocol::simple)).chunk;
}

}  // namespace

TEST_CASE("before 2.20 a tree's Simple chunk is halved while it has fewer loops than its depth asks for") {
  constexpr std::int64_t kMebi = 1 << 20;
  for (const std::uint32_t nodes : {1U, 2U, 16U}) {
    CAPTURE(nodes);
    const NcclCommunicator older = with_version(dgx_a100(nodes), k18);
    const auto depth = std::int64_t{7} + (nodes == 1 ? 0 : nodes == 2 ? 1 : 4);
    const std::int64_t channels = compute_channels(older);
    const auto loops_of = [&](std::int64_t chunk, std::int64_t loops) { return channels * chunk * loops; };
    CHECK(tree_chunk(older, loops_of(kMebi / 2, 8 * depth)) == 512_KiB);
    CHECK(tree_chunk(older, loops_of(kMebi / 2, 8 * depth) - 1) == 256_KiB);
    CHECK(tree_chunk(older, loops_of(kMebi / 8, 4 * depth)) == 128_KiB);
    CHECK(tree_chunk(older, loops_of(kMebi / 8, 4 * depth) - 1) == 64_KiB);
    CHECK(tree_chunk(older, loops_of(kMebi / 16, depth)) == 64_KiB);
    CHECK(tree_chunk(older, loops_of(kMebi / 16, depth) - 1) == 32_KiB);
    CHECK(tree_chunk(with_version(dgx_a100(nodes), {2, 20, 3}), loops_of(kMebi / 16, depth) - 1) == 512_KiB);
  }
}

TEST_CASE("2.4 goes by trees up to where its estimate of a ring is better, and NCCL_TREE_THRESHOLD says otherwise") {
  // On two nodes of NVLink a tree counts as the faster one at all sizes; alone a node has none.
  CHECK(!nccl_tree_threshold(with_version(dgx_v100(2), k4)));
  CHECK(*nccl_tree_threshold(with_version(dgx_v100(1), k4)) == 0_B);
  // 16 channels of 5 GB/s and 3/4 of it: rings lose 6 us a rank, trees 15 us a level and 4 us a GPU of the node.
  const NcclCommunicator four = with_version(dgx_v100(4), k4);
  const double rate = 5000.0 * compute_channels(four);
  const auto expected = static_cast<std::int64_t>(rate * 3 * (6.0 * 31 - (15 * 2 + 4 * 7)));
  CHECK(nccl_tree_threshold(four)->count() == expected);
  CHECK(nccl_choose(four, all_reduce_of(expected)).algorithm == Algorithm::tree);
  CHECK(nccl_choose(four, all_reduce_of(expected + 1)).algorithm == Algorithm::ring);
  const NcclCommunicator rings = with_variable(four, "NCCL_TREE_THRESHOLD", "0");
  CHECK(nccl_choose(rings, all_reduce_of(8)).algorithm == Algorithm::ring);
  CHECK(nccl_choose(four, call_of(NcclFunction::all_gather, 8)).algorithm == Algorithm::ring);
  CHECK(nccl_choose(with_variable(four, "NCCL_ALGO", "Ring"), all_reduce_of(8)).algorithm == Algorithm::ring);
  CHECK(of(dgx_v100(2), k4, Algorithm::tree, Protocol::ll128).disabled == "LL128 came with NCCL 2.5");
}

TEST_CASE("2.17: a node's LL steps take 1.8 times as long between nodes, and posting costs nothing") {
  CHECK(of(dgx_a100(2), k17, Algorithm::ring, Protocol::ll).latency ==
        doctest::Approx(3.6 + 26 * 0.47 * 1.8 + 4 * 2.7));
  CHECK(of(dgx_a100(1), k17, Algorithm::ring, Protocol::ll).latency == doctest::Approx(3.6 + 14 * 0.47));
  CHECK(of(dgx_a100(2), k17, Algorithm::tree, Protocol::simple).latency == doctest::Approx(2 * (7 * 28.0 + 28.0)));
  CHECK(of(dgx_h100(1), k17, Algorithm::nvls, Protocol::simple).bandwidth ==
        doctest::Approx(0.75 * std::min(12 * 30.0, 370.0)));
  CHECK(of(dgx_h100(1), k17, Algorithm::nvls, Protocol::simple).latency == doctest::Approx(40));
  CHECK(of(dgx_h100(2), k17, Algorithm::nvls_tree, Protocol::simple).disabled == "NVLSTree came with NCCL 2.18");
  CHECK(of(dgx_h100(1), k13, Algorithm::nvls, Protocol::simple).disabled == "NVLS came with NCCL 2.17");
}

TEST_CASE("before 2.18 all channels of an A100 together are worth 235 GB/s") {
  for (const NcclVersion version : {k7, k8, k13, k17}) {
    CAPTURE(version.minor);
    CHECK(of(dgx_a100(1), version, Algorithm::ring, Protocol::simple).bandwidth == doctest::Approx(235 * 8 / 14.0));
    CHECK(of(dgx_v100(1), version, Algorithm::ring, Protocol::simple).bandwidth == doctest::Approx(240 * 8 / 14.0));
  }
}

TEST_CASE("before 2.12 LL128 has a rate for each collective, and 2.7 caps trees over all channels") {
  CHECK(of(dgx_v100(1), k8, Algorithm::ring, Protocol::ll128).bandwidth == doctest::Approx(12 * 16.9 * 8 / 14));
  CHECK(of(dgx_v100(1), k8, Algorithm::ring, Protocol::ll128, NcclFunction::reduce_scatter).bandwidth ==
        doctest::Approx(12 * 15.2 * 8 / 7));
  CHECK(of(dgx_v100(1), k7, Algorithm::ring, Protocol::ll128).bandwidth == doctest::Approx(12 * 16.7 * 8 / 14));
  const double correction = 0.8;  // Simple at 64 MiB
  CHECK(of(dgx_v100(2), k7, Algorithm::tree, Protocol::simple).bandwidth == doctest::Approx(110 * correction / 2));
  CHECK(of(dgx_v100(4), k7, Algorithm::tree, Protocol::simple).bandwidth == doctest::Approx(80 * correction / 2));
}
