#include <string>

#include <doctest/doctest.h>

#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

/// Nodes of eight MI300X on a full mesh of xGMI: 28 channels of 12 GB/s on one, 32 of 10.5 between several.
NcclCommunicator mi300x(std::uint32_t nodes) {
  NcclCommunicator communicator;
  communicator.version = {2, 27, 0};
  communicator.rccl = true;
  communicator.architecture = "gfx942";
  communicator.ranks = 8 * nodes;
  communicator.nodes = nodes;
  communicator.most_local_ranks = 8;
  communicator.least_capability = communicator.greatest_capability = 80;
  communicator.graphs.ring = found_graph(NcclPattern::ring, nodes == 1 ? 28 : 32, nodes == 1 ? 12 : 10.5, 10.5);
  communicator.graphs.tree = communicator.graphs.ring;
  communicator.graphs.tree.pattern = NcclPattern::balanced_tree;
  return communicator;
}

NcclEstimate all_reduce(const NcclCommunicator& communicator, std::int64_t bytes, NcclAlgorithm algorithm,
                        NcclProtocol protocol) {
  return nccl_estimate(communicator, all_reduce_of(bytes), algorithm, protocol);
}

std::string taken(const NcclCommunicator& communicator, NcclFunction function, std::int64_t bytes) {
  const NcclChoice choice = nccl_choose(communicator, call_of(function, bytes));
  return std::string(name(choice.algorithm)) + " " + std::string(name(choice.protocol));
}

constexpr auto kRing = NcclAlgorithm::ring;
constexpr auto kTree = NcclAlgorithm::tree;
constexpr auto kLl = NcclProtocol::ll;
constexpr auto kLl128 = NcclProtocol::ll128;
constexpr auto kSimple = NcclProtocol::simple;

}  // namespace

TEST_CASE("RCCL's tables of MI300X: latencies by step and shares of the channels' rate") {
  const NcclCommunicator one = mi300x(1);
  // 14 steps of 0.8 us after 12 us; 28 channels of 12 GB/s, of which LL has 0.08 and the vector 8/14.
  const NcclEstimate ll = all_reduce(one, 1 << 20, kRing, kLl);
  CHECK(ll.latency == doctest::Approx(12 + 14 * 0.8));
  CHECK(ll.bandwidth == doctest::Approx(28 * 12 * 0.08 * 8 / 14));
  CHECK(ll.time == doctest::Approx(ll.latency + (1 << 20) / (1000 * ll.bandwidth)));
  const NcclEstimate simple = all_reduce(one, 1 << 20, kRing, kSimple);
  CHECK(simple.latency == doctest::Approx(17 + 14 * 2.1));
  CHECK(simple.bandwidth == doctest::Approx(28.0 * 12 * 8 / 14));
  // 2 nodes: 28 steps within and 2 between at 320 us, which keep Simple for the largest sizes.
  const NcclEstimate across = all_reduce(mi300x(2), std::int64_t{1} << 32, kRing, kSimple);
  CHECK(across.latency == doctest::Approx(17 + 28 * 3.0 + 2 * 320));
  CHECK(across.bandwidth == doctest::Approx(32 * 10.5 * 16 / 30));
  // A tree's correction holds for the vector of 4 MiB: index 16.
  const NcclEstimate tree = all_reduce(mi300x(4), 4 << 20, kTree, kSimple);
  CHECK(tree.latency == doctest::Approx(17 + 2 * (7 * 2.3 + 2 * 25.0)));
  CHECK(tree.bandwidth == doctest::Approx(32 * 10.5 * 0.59 * 0.5 * 1.0));
}

TEST_CASE("RCCL corrects rings between nodes, and the last factor stays for what is larger") {
  const RcclTuningModel& model = *rccl_tuning_model(mi300x(2));
  const auto factor = [&](const NcclCommunicator& communicator, std::int64_t bytes, NcclAlgorithm algorithm,
                          NcclProtocol protocol) {
    return rccl_correction(model, communicator, all_reduce_of(bytes), algorithm, protocol);
  };
  CHECK(factor(mi300x(2), 64 << 11, kRing, kLl) == 1.0);
  CHECK(factor(mi300x(2), 64 << 12, kRing, kLl) == 0.2);
  CHECK(factor(mi300x(2), std::int64_t{64} << 23, kRing, kSimple) == 0.8);
  CHECK(factor(mi300x(2), std::int64_t{64} << 40, kRing, kSimple) == 1.0);
  CHECK(factor(mi300x(1), 64 << 12, kRing, kLl) == 1.0);
  CHECK(factor(mi300x(1), 0, kTree, kLl) == 0.1);
  CHECK(factor(mi300x(1), 64 << 13, kTree, kLl128) == 0.9);
}

TEST_CASE("between nodes ranges of sizes decide on RCCL's protocol") {
  const NcclCommunicator two = mi300x(2);
  const auto protocol = [](const NcclCommunicator& communicator, NcclFunction function, std::int64_t bytes,
                           bool ll128 = true) {
    return rccl_protocol(*rccl_tuning_model(communicator), communicator, call_of(function, bytes), ll128);
  };
  constexpr std::int64_t kMebi = 1'048'576;
  CHECK(protocol(two, NcclFunction::all_reduce, kMebi) == kLl);
  CHECK(protocol(two, NcclFunction::all_reduce, kMebi + 1) == kLl128);
  CHECK(protocol(two, NcclFunction::all_reduce, kMebi + 1, false) == kSimple);
  CHECK(protocol(two, NcclFunction::all_reduce, 9'437'184) == kLl128);
  CHECK(protocol(two, NcclFunction::all_reduce, 9'437'185) == kSimple);
  CHECK(protocol(mi300x(4), NcclFunction::all_reduce, 9'437'184 * 38 / 10) == kLl128);
  CHECK(protocol(mi300x(4), NcclFunction::all_reduce, 9'437'184 * 38 / 10 + 1) == kSimple);
  // A rank's part counts, and LL128 is preferred where both would do.
  CHECK(protocol(two, NcclFunction::all_gather, 16 * 98'304) == kLl);
  CHECK(protocol(two, NcclFunction::all_gather, 16 * 98'305) == kLl128);
  CHECK(protocol(two, NcclFunction::reduce_scatter, 16 * 131'072) == kLl);
  CHECK(protocol(two, NcclFunction::reduce_scatter, 16 * 131'073) == kLl128);
  CHECK(protocol(two, NcclFunction::reduce_scatter, 16 * 131'073, false) == kLl);
  CHECK(protocol(two, NcclFunction::reduce_scatter, 16 * 3'211'265) == kSimple);
  CHECK_FALSE(protocol(two, NcclFunction::broadcast, kMebi));
  // On one node short reduce-scatters take LL.
  CHECK(protocol(mi300x(1), NcclFunction::reduce_scatter, 8 * 352'128) == kLl);
  CHECK_FALSE(protocol(mi300x(1), NcclFunction::reduce_scatter, 8 * 352'129));
  CHECK_FALSE(protocol(mi300x(1), NcclFunction::all_reduce, 1));
}

TEST_CASE("MI350X has ranges of its own, for broadcast and reduce too") {
  NcclCommunicator newer = mi300x(2);
  newer.architecture = "gfx950";
  const RcclTuningModel& model = *rccl_tuning_model(newer);
  CHECK(model.architecture == "gfx950");
  const auto protocol = [&](NcclFunction function, std::int64_t bytes) {
    return rccl_protocol(model, newer, call_of(function, bytes), true);
  };
  CHECK(protocol(NcclFunction::broadcast, 16 * 2'048) == kLl);
  CHECK(protocol(NcclFunction::broadcast, 16 * 2'049) == kLl128);
  CHECK(protocol(NcclFunction::reduce, 16 * 16'777'217) == kSimple);
  CHECK(protocol(NcclFunction::all_gather, 16 * 8) == kLl128);
  newer.ranks = 8;
  newer.nodes = 1;
  CHECK(protocol(NcclFunction::all_gather, 8 * 88'448) == kLl);
  CHECK_FALSE(protocol(NcclFunction::all_gather, 8 * 88'449));
}

TEST_CASE("RCCL's choice follows its tables, its ranges and the environment") {
  CHECK(taken(mi300x(1), NcclFunction::all_reduce, 8) == "Ring LL");
  CHECK(taken(mi300x(1), NcclFunction::all_reduce, 256 << 20) == "Ring Simple");
  CHECK(taken(mi300x(2), NcclFunction::all_reduce, 4 << 20).ends_with("LL128"));
  CHECK(taken(mi300x(2), NcclFunction::all_reduce, 64 << 20).ends_with("Simple"));
  const NcclCommunicator asked = with_variable(mi300x(2), "NCCL_PROTO", "Simple");
  CHECK(taken(asked, NcclFunction::all_reduce, 8).ends_with("Simple"));
  const NcclChoice choice = nccl_choose(mi300x(2), all_reduce_of(8));
  CHECK(choice.protocol == kLl);
}

TEST_CASE("RCCL leaves Tree with Simple out on one node, PAT where nobody asks, LL128 where NICs are far") {
  const NcclCall call = all_reduce_of(1 << 20);
  CHECK(nccl_obstacle(mi300x(1), call, kTree, kSimple) == "RCCL leaves Tree with Simple out on one node");
  CHECK(nccl_obstacle(mi300x(2), call, kTree, kSimple).empty());
  NcclCommunicator alone = mi300x(2);
  alone.ranks = 2;
  alone.most_local_ranks = 1;
  const NcclCall gather = call_of(NcclFunction::all_gather, 1 << 20);
  CHECK(nccl_obstacle(alone, gather, NcclAlgorithm::pat, kSimple) ==
        "RCCL uses PAT where NCCL_PAT_ENABLE=1 asks for it");
  CHECK(nccl_obstacle(with_variable(alone, "NCCL_PAT_ENABLE", "1"), gather, NcclAlgorithm::pat, kSimple).empty());
  NcclCommunicator far = mi300x(2);
  far.graphs.ring.type_inter = NcclPath::phb;
  CHECK(nccl_obstacle(far, call, kRing, kLl128) == "LL128 reaches NICs up to PXB, and the path is PHB");
}

TEST_CASE("other GPUs of RCCL's, and NCCL, keep NCCL's tables") {
  NcclCommunicator older = mi300x(1);
  older.architecture = "gfx90a";
  CHECK(rccl_tuning_model(older) == nullptr);
  CHECK(&tuning_tables(older) == &nccl_tuning_tables(older.version));
  CHECK(rccl_tuning_model(dgx_h100(1)) == nullptr);
  NcclCommunicator nccl = mi300x(1);
  nccl.rccl = false;
  CHECK(rccl_tuning_model(nccl) == nullptr);
}
