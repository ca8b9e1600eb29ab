#include <doctest/doctest.h>

#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr NcclVersion k18{2, 18, 3};
constexpr NcclVersion k20{2, 20, 3};
constexpr NcclVersion k27{2, 27, 5};

NcclEstimate of(const NcclCommunicator& box, NcclVersion version, Algorithm algorithm, Protocol protocol,
                NcclFunction function = NcclFunction::all_reduce, std::int64_t bytes = 67108864) {
  return nccl_estimate(with_version(box, version), call_of(function, bytes), algorithm, protocol);
}

}  // namespace

TEST_CASE("A version between two that are known takes the nearest one's tables, and says so") {
  CHECK(nccl_tuning_tables({2, 4, 8}).by_threshold);
  CHECK(nccl_tuning_tables({2, 6, 4}).since == nccl_tuning_tables({2, 7, 5}).since);
  CHECK(nccl_tuning_tables({2, 10, 3}).since == NcclVersion{2, 8, 0});
  CHECK(nccl_tuning_tables({2, 17, 1}).since == NcclVersion{2, 17, 0});
  CHECK(nccl_tuning_tables({2, 19, 4}).since == nccl_tuning_tables({2, 20, 5}).since);
  CHECK(nccl_tuning_tables({2, 24, 3}).since == nccl_tuning_tables({2, 20, 5}).since);
  CHECK(nccl_tuning_tables({2, 27, 5}).since == NcclVersion{2, 25, 0});
  CHECK(nccl_tuning_tables({2, 28, 7}).since == NcclVersion{2, 28, 3});
  CHECK(nccl_tuning_tables({2, 3, 4}).since == NcclVersion{2, 4, 0});
  CHECK(nccl_tuning_tables({2, 40, 0}).since == nccl_tuning_tables({2, 30, 0}).since);
  const NcclChoice choice = nccl_choose(with_version(dgx_h100(1), {2, 23, 4}), all_reduce_of(8));
  CHECK(choice.reasons.back() == "NCCL 2.23.4 is tuned with the tables of 2.20, the nearest that are known");
  CHECK(nccl_version_note({2, 19, 4}) == "NCCL 2.19.4 is tuned with the tables of 2.20, the nearest that are known");
  CHECK(nccl_version_note({2, 3, 7}) ==
        "NCCL 2.3.7 is older than what is known; its tables are taken to be those of 2.4.0");
  CHECK(nccl_version_note({2, 40, 0}) ==
        "NCCL 2.40.0 is newer than what is known; its tables are taken to be those of 2.30");
  for (const NcclVersion known : {NcclVersion{2, 4, 8},
                                  {2, 7, 5},
                                  {2, 8, 4},
                                  {2, 13, 4},
                                  {2, 17, 1},
                                  {2, 18, 3},
                                  {2, 20, 5},
                                  {2, 25, 1},
                                  {2, 26, 2},
                                  {2, 27, 0},
                                  {2, 28, 7},
                                  {2, 28, 9},
                                  {2, 29, 3},
                                  {2, 30, 7}}) {
    CAPTURE(known.minor);
    CHECK(nccl_version_note(known).empty());
  }
}

TEST_CASE("2.18: NVLS has 5/6 of the least rate, NVLSTree 0.7 N / (2 (N - 1)) and a latency for every node") {
  const NcclEstimate nvls = of(dgx_h100(1), k18, Algorithm::nvls, Protocol::simple);
  CHECK(nvls.bandwidth == doctest::Approx(8 * 40 * 5 / 6.0));
  CHECK(nvls.latency == doctest::Approx(23));
  const NcclEstimate tree = of(dgx_h100(4), k18, Algorithm::nvls_tree, Protocol::simple);
  CHECK(tree.bandwidth == doctest::Approx(8 * 48 * 0.7 * 4 / 6));
  CHECK(tree.latency == doctest::Approx(23 + 2 * 3 * 19));
}

TEST_CASE("2.18: rings have a quarter with LL, a third within a node where nothing is added, and pay every node") {
  CHECK(of(dgx_a100(2), k18, Algorithm::ring, Protocol::ll).bandwidth == doctest::Approx(22.5 * 16 / 30));
  CHECK(of(pcie_box(), k18, Algorithm::ring, Protocol::ll).bandwidth == doctest::Approx(10 / 4.0 * 8 / 14));
  CHECK(of(pcie_box(), k18, Algorithm::ring, Protocol::ll, NcclFunction::all_gather).bandwidth ==
        doctest::Approx(10 / 3.0 * 8 / 7));
  CHECK(of(dgx_h100(2), k18, Algorithm::ring, Protocol::ll).latency == doctest::Approx(6.6 + 26 * 1.0 + 4 * 2.7));
  CHECK(of(dgx_h100(2), k18, Algorithm::ring, Protocol::ll, NcclFunction::all_gather).latency ==
        doctest::Approx(6.6 + 14 * 1.0 + 1 * 2.7));
  CHECK(of(lone_h100(4), k18, Algorithm::ring, Protocol::ll128).bandwidth == doctest::Approx(2 * 24 * 0.7 * 4 / 6));
}

TEST_CASE("2.18: Hopper's LL is capped as Ampere's, trees have no base with Simple, gathers know rings alone") {
  const double bus = 12 * 30 / 4.0;
  CHECK(of(dgx_h100(1), k18, Algorithm::ring, Protocol::ll).bandwidth == doctest::Approx(std::min(bus, 87.7) * 8 / 14));
  CHECK(of(dgx_h100(2), k18, Algorithm::tree, Protocol::simple).latency == doctest::Approx(2 * (7 * 4.0 + 14.0)));
  CHECK(of(pcie_box(), k18, Algorithm::tree, Protocol::simple).latency == doctest::Approx(2 * 7 * 6.0));
  CHECK(of(dgx_h100(1), k18, Algorithm::nvls, Protocol::simple, NcclFunction::all_gather).disabled ==
        "NVLS has no AllGather in NCCL 2.18");
  CHECK(of(with_sharp(dgx_h100(4)), k18, Algorithm::collnet_chain, Protocol::simple).latency ==
        doctest::Approx(2 * 7 * 4.75 + 14.0));
  CHECK(of(with_sharp(dgx_h100(4)), k18, Algorithm::collnet_direct, Protocol::simple).latency ==
        doctest::Approx(2 * (8.0 + 7 * 0.5) + 10.7));
}

TEST_CASE("2.20: a tree's Simple step takes 28 us, and NVLS gathers at 5/6") {
  CHECK(of(dgx_h100(2), k20, Algorithm::tree, Protocol::simple).latency == doctest::Approx(2 * (7 * 28.0 + 28.0)));
  CHECK(of(dgx_h100(1), k20, Algorithm::nvls, Protocol::simple).latency == doctest::Approx(23));
  CHECK(of(dgx_h100(4), k20, Algorithm::nvls_tree, Protocol::simple).latency == doctest::Approx(23 + 2 * 2 * 14));
  CHECK(of(dgx_h100(4), k20, Algorithm::nvls_tree, Protocol::simple).bandwidth == doctest::Approx(8 * 24 * 5 / 6.0));
  CHECK(of(dgx_h100(1), k20, Algorithm::nvls, Protocol::simple, NcclFunction::all_gather).bandwidth ==
        doctest::Approx(8 * 40 * 5 / 6.0));
  // (8 - 1) / 7 of the way from 0.95 to 0.85.
  CHECK(of(with_sharp(dgx_h100(4)), k20, Algorithm::collnet_direct, Protocol::simple, NcclFunction::all_gather)
            .bandwidth == doctest::Approx(8 * 48 * 0.85));
}

TEST_CASE("2.27: NVLS takes the least rate, its gathers 7/8 of NVLink's or 0.9 of the network's") {
  const auto rate = [](std::uint32_t nodes, Algorithm algorithm, NcclFunction function = NcclFunction::all_reduce) {
    return of(dgx_h100(nodes), k27, algorithm, Protocol::simple, function).bandwidth;
  };
  CHECK(rate(1, Algorithm::nvls) == doctest::Approx(8 * 40 * 5 / 6.0));
  CHECK(rate(2, Algorithm::nvls_tree) == doctest::Approx(8 * 40 * 5 / 6.0));
  CHECK(rate(4, Algorithm::nvls_tree) == doctest::Approx(8 * 24 * 5 / 6.0));
  CHECK(rate(1, Algorithm::nvls, NcclFunction::all_gather) == doctest::Approx(8 * std::min(40 * 7 / 8.0, 60 * 0.9)));
  CHECK(of(dgx_h100(4), k27, Algorithm::nvls_tree, Protocol::simple).latency == doctest::Approx(25 + 2 * 2 * 14));
}

TEST_CASE("2.27: Blackwell's caps are twice Hopper's; 2.28.3 lowers them") {
  CHECK(of(dgx_b200(1), k27, Algorithm::ring, Protocol::ll128).bandwidth == doctest::Approx(16 * 45 * 0.92 * 8 / 14));
  CHECK(of(dgx_b200(1), {2, 28, 3}, Algorithm::ring, Protocol::ll128).bandwidth == doctest::Approx(16 * 40 * 8 / 14.0));
  const double correction = 0.8;  // Simple at 64 MiB
  CHECK(of(dgx_b200(1), k27, Algorithm::tree, Protocol::simple).bandwidth ==
        doctest::Approx(16 * 45 * 0.92 * correction / 2));
  CHECK(of(dgx_b200(2), k27, Algorithm::tree, Protocol::simple).bandwidth ==
        doctest::Approx(8 * 82.8 * 0.85 * correction / 2));
  CHECK(of(dgx_b200(2), {2, 28, 3}, Algorithm::tree, Protocol::simple).bandwidth ==
        doctest::Approx(8 * 42.8 * 0.85 * correction / 2));
}

TEST_CASE("NVLSTree's network step takes 14 us to 2.28.8 and 20.9 us from 2.28.9; 2.29.2 corrects it on Blackwell") {
  CHECK(of(dgx_h100(2), {2, 28, 8}, Algorithm::nvls_tree, Protocol::simple).latency == doctest::Approx(25 + 2 * 14.0));
  CHECK(of(dgx_h100(2), {2, 28, 9}, Algorithm::nvls_tree, Protocol::simple).latency == doctest::Approx(25 + 2 * 20.9));
  const auto rate = [](NcclVersion version, CpuArchitecture cpu) {
    NcclCommunicator box = dgx_b200(2);
    box.cpu = cpu;
    return of(box, version, Algorithm::nvls_tree, Protocol::simple).bandwidth;
  };
  CHECK(rate({2, 29, 2}, CpuArchitecture::x86) == doctest::Approx(0.8 * rate({2, 28, 9}, CpuArchitecture::x86)));
  CHECK(rate({2, 29, 2}, CpuArchitecture::arm) == rate({2, 28, 9}, CpuArchitecture::arm));
}

TEST_CASE("A tree's rate is corrected from 64 B up to 256 MB") {
  const auto rate = [](std::int64_t bytes) {
    return of(dgx_h100(1), {2, 30, 7}, Algorithm::tree, Protocol::ll, NcclFunction::all_reduce, bytes).bandwidth;
  };
  const double plain = rate(8);
  CHECK(rate(63) == plain);
  CHECK(rate(64 << 12) == doctest::Approx(0.4 * plain));
  CHECK(rate((64 << 13) - 1) == doctest::Approx(0.4 * plain));
  CHECK(rate(64LL << 23) == plain);
  CHECK(
      of(dgx_h100(1), {2, 30, 7}, Algorithm::tree, Protocol::simple, NcclFunction::all_reduce, 64LL << 23).bandwidth ==
      doctest::Approx(12 * 30 * 0.92 / 2));
}
