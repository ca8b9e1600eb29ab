#include "models/nccl/tuning/older_tables.hpp"

#include <limits>

namespace athanor {

namespace {

constexpr auto kTree = static_cast<std::size_t>(NcclAlgorithm::tree);
constexpr auto kRing = static_cast<std::size_t>(NcclAlgorithm::ring);
constexpr auto kDirect = static_cast<std::size_t>(NcclAlgorithm::collnet_direct);
constexpr auto kChain = static_cast<std::size_t>(NcclAlgorithm::collnet_chain);
constexpr auto kNvls = static_cast<std::size_t>(NcclAlgorithm::nvls);
constexpr auto kSimple = static_cast<std::size_t>(NcclProtocol::simple);
constexpr auto kLl128 = static_cast<std::size_t>(NcclProtocol::ll128);

/// The source at 5d3ab08b, of 2.17.1. That of 2.13 has the same figures of rings and trees, and no NVLS.
NcclTuningTables of_2_17(NcclTuningTables tables) {
  tables.since = {2, 17, 0};
  tables.from = tables.through = 17;
  tables.base = {{{4.4, 4.4, 0}, {3.6, 10.0, 8.4}, {4.4, 4.4, 0}, {4.4, 4.4, 0}, {0, 0, 40}, {0, 0, 0}, {0, 0, 0}}};
  tables.nvlink[kTree] = {0.52, 1.25, 28};
  tables.nvlink[kRing] = {0.47, 1.9, 3.4};
  tables.pcie[kTree][kSimple] = 28;
  tables.network[kTree][kSimple] = 28;
  tables.network[kRing][kSimple] = 9.6;
  tables.nvlink[kChain][kSimple] = 8.0;
  tables.network[kNvls][kSimple] = 0;
  tables.tree_ll128 = tables.ring_ll128;
  tables.tree[2] = tables.tree[3] = {38.7, 41.4, 33.0};
  tables.most = {0, 235, 370, 370};
  tables.plateau = {1.9, 1.9, 1.5, 1.5};
  tables.plateau_by_ranks = true;
  tables.lone_tree_share = 1;
  tables.ll_step_between_nodes = 1.8;
  tables.pays_posts = false;
  tables.nic_latency = NcclTuningTables::NicLatency::instead;
  tables.direct_hopper_share = 1;
  tables.chain_share = 0.75;
  tables.chain_pays_network = false;
  tables.has_nvls_tree = false;
  tables.nvls_rate = NcclTuningTables::NvlsRate::rings;
  tables.gathers_by_ring_only = false;
  tables.ll128_over_third_gpu = false;
  return tables;
}

NcclTuningTables of_2_13(NcclTuningTables tables) {
  tables.since = {2, 12, 0};
  tables.from = 12;
  tables.through = 16;
  tables.ampere_is_a100 = true;
  tables.most = {0, 235, 0, 0};
  tables.plateau = {1.9, 1.9, 1.9, 1.9};
  tables.has_nvls = false;
  tables.gathers_by_ring_only = true;
  tables.ll128_capabilities = {70, 80};
  return tables;
}

/// The source of 2.8 as microsoft/msccl took it over (0d1af8e2).
NcclTuningTables of_2_8(NcclTuningTables tables) {
  tables.since = {2, 8, 0};
  tables.from = tables.through = 8;
  tables.ll128_channel = {18.8, 12.0, 18.3, 15.2, 16.9};
  tables.tree[1] = {24.0, 22.5, 16.0};
  tables.tree_ll128_share = 0.915;
  tables.nvlink[kDirect][kSimple] = 4.0;
  tables.pcie[kDirect][kSimple] = 5.5;
  tables.direct_serial = 0;
  tables.nic_latency = NcclTuningTables::NicLatency::none;
  tables.ring_pays_every_node = false;
  tables.tree_correction[kLl128] = {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7,  0.6,  0.6,
                                    0.6, 0.5, 0.6, 0.6, 0.7, 0.7, 0.8, 0.9, 0.9, 0.92, 0.92, 1.0};
  return tables;
}

/// The source at 01afd20a, of 2.7.5.
NcclTuningTables of_2_7(NcclTuningTables tables) {
  tables.since = {2, 5, 0};
  tables.from = tables.through = 7;
  tables.ll128_channel = {18.8, 12.0, 18.3, 15.2, 16.7};
  tables.nvlink[kTree][kLl128] = 1.2;
  tables.network[kTree][kSimple] = 50;
  constexpr double kAny = std::numeric_limits<double>::infinity();
  for (std::size_t generation = 0; generation < tables.ll.size(); ++generation) {
    tables.ll.at(generation) = tables.tree.at(generation) = {kAny, kAny, kAny};
  }
  tables.tree_share = 0.9;
  tables.tree_most = {110, 80};
  tables.ampere_ll128_tree_most = {130, 105};
  tables.corrected = 22;
  tables.tree_correction[kLl128][21] = 1.0;
  tables.tree_correction[kSimple] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
                                     0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0};
  return tables;
}

/// 2.4 has no estimates: its protocols are told apart by those of 2.7, but LL128, which it does not have.
NcclTuningTables of_2_4(NcclTuningTables tables) {
  tables.since = {2, 4, 0};
  tables.from = tables.through = 4;
  tables.by_threshold = true;
  return tables;
}

}  // namespace

std::array<NcclTuningTables, 5> older_nccl_tables(const NcclTuningTables& of_2_18) {
  const NcclTuningTables seventeen = of_2_17(of_2_18);
  const NcclTuningTables thirteen = of_2_13(seventeen);
  const NcclTuningTables eight = of_2_8(thirteen);
  const NcclTuningTables seven = of_2_7(eight);
  return {of_2_4(seven), seven, eight, thirteen, seventeen};
}

}  // namespace athanor
