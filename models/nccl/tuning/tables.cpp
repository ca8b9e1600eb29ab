#include "models/nccl/tuning/tables.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace athanor {

namespace {

// Rows are Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT; columns LL, LL128, Simple.
constexpr NcclLatencies kBase{
    {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {8.0, 8.0, 8.0}}};
constexpr NcclLatencies kNvlink{
    {{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}};
constexpr NcclLatencies kPcie{
    {{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 0}, {0, 0, 0}, {0, 0, 4.0}}};
constexpr NcclLatencies kNetwork{
    {{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}};

/// NCCL 2.29.2 and later.
NcclTuningTables newest() {
  NcclTuningTables tables;
  tables.since = {2, 29, 2};
  tables.through = 30;
  tables.base = kBase;
  tables.nvlink = kNvlink;
  tables.pcie = kPcie;
  tables.network = kNetwork;
  tables.ll = {{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
  tables.ring_ll128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 36.7}, {40, 40, 40}}};
  tables.tree_ll128 = {{{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
  tables.tree = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
  tables.nvls_tree = {{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
  tables.nvls_efficiency = {0, 0, 0.85, 0.74};
  return tables;
}

constexpr auto kTree = static_cast<std::size_t>(NcclAlgorithm::tree);
constexpr auto kDirect = static_cast<std::size_t>(NcclAlgorithm::collnet_direct);
constexpr auto kChain = static_cast<std::size_t>(NcclAlgorithm::collnet_chain);
constexpr auto kNvls = static_cast<std::size_t>(NcclAlgorithm::nvls);
constexpr auto kNvlsTree = static_cast<std::size_t>(NcclAlgorithm::nvls_tree);
constexpr auto kSimple = static_cast<std::size_t>(NcclProtocol::simple);

NcclTuningTables of_2_28_9() {
  NcclTuningTables tables = newest();
  tables.since = {2, 28, 9};
  tables.through = 28;
  tables.corrects_nvls_tree = false;
  return tables;
}

NcclTuningTables of_2_28_3() {
  NcclTuningTables tables = of_2_28_9();
  tables.since = {2, 28, 3};
  tables.network[kNvlsTree][kSimple] = 14;
  return tables;
}

NcclTuningTables of_2_27() {
  NcclTuningTables tables = of_2_28_3();
  // Its constants are those of 2.25 and 2.26 too.
  tables.since = {2, 25, 0};
  tables.through = 27;
  tables.ring_ll128[3] = {73.4, 73.4, 73.4};
  tables.tree_ll128[3] = {73.4, 73.4, 58.0};
  tables.tree[3] = {77.4, 82.8, 72.0};
  tables.nvls_rate = NcclTuningTables::NvlsRate::five_sixths;
  tables.ll128_mixed = false;
  return tables;
}

/// The source at the commit b6475625 of early 2024: 2.21.
NcclTuningTables of_2_21() {
  NcclTuningTables tables = of_2_27();
  tables.since = {2, 21, 0};
  tables.through = 21;
  tables.base[kTree][kSimple] = 0;
  for (NcclLatencies* const steps : {&tables.nvlink, &tables.pcie, &tables.network}) { (*steps)[kTree][kSimple] = 28; }
  tables.nvlink[kNvls][kSimple] = tables.nvlink[kNvlsTree][kSimple] = 23;
  // It knows no Blackwell: such GPUs count as Hopper.
  tables.ll[2] = tables.ll[1];
  for (NcclCaps* const caps : {&tables.ll, &tables.ring_ll128, &tables.tree_ll128, &tables.tree}) {
    (*caps)[3] = (*caps)[2];
  }
  tables.ring_ll_across = 0.25;
  tables.ring_ll_within = 1.0 / 3.0;
  tables.ring_ll128_alone = 0.7;
  tables.ring_pays_every_node = true;
  tables.lone_ranks_pay_tree = false;
  tables.has_pat = false;
  tables.nvls_gathers_over_network = false;
  tables.nvls_gathers_at_five_sixths = true;
  tables.collnet_gathers_by_share = true;
  tables.ll128_capabilities = {70, 80, 90};
  return tables;
}

NcclTuningTables of_2_18() {
  NcclTuningTables tables = of_2_21();
  tables.since = {2, 18, 0};
  tables.through = 18;
  tables.base[kDirect] = tables.base[kChain] = {6.8, 14.0, 0};
  tables.base[kNvls][kSimple] = tables.base[kNvlsTree][kSimple] = 23;
  tables.nvlink[kTree][kSimple] = 4.0;
  tables.pcie[kTree][kSimple] = 6.0;
  tables.network[kTree][kSimple] = 14.0;
  tables.nvlink[kNvls][kSimple] = tables.nvlink[kNvlsTree][kSimple] = 0;
  tables.network[kNvls][kSimple] = 18;
  tables.network[kNvlsTree][kSimple] = 19;
  tables.nvlink[kDirect][kSimple] = tables.pcie[kDirect][kSimple] = tables.pcie[kChain][kSimple] = 8.0;
  tables.network[kDirect][kSimple] = 10.7;
  tables.nvlink[kChain][kSimple] = 4.75;
  tables.network[kChain][kSimple] = 14.0;
  tables.nvls_rate = NcclTuningTables::NvlsRate::share_of_nodes;
  tables.nvls_tree_pays_every_node = true;
  tables.gathers_by_ring_only = true;
  return tables;
}

const std::array<NcclTuningTables, 6>& all_tables() {
  static const std::array<NcclTuningTables, 6> tables{of_2_18(),   of_2_21(),   of_2_27(),
                                                      of_2_28_3(), of_2_28_9(), newest()};
  return tables;
}

// Rows LL, LL128, Simple. From 64 B to 512 MiB in powers of two.
constexpr std::array<std::array<double, 24>, kNcclProtocols> kTreeCorrection{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};

}  // namespace

const NcclTuningTables& nccl_tuning_tables(NcclVersion version) {
  const NcclTuningTables* found = &all_tables().front();
  for (const NcclTuningTables& each : all_tables()) {
    if (each.since <= version) { found = &each; }
  }
  return *found;
}

std::string nccl_version_note(NcclVersion version) {
  const NcclTuningTables& tables = nccl_tuning_tables(version);
  const auto text = [](NcclVersion of) { return fmt::format("{}.{}.{}", of.major, of.minor, of.patch); };
  if (version < all_tables().front().since) {
    return fmt::format("NCCL {} is older than what is known; its tables are taken to be those of {}", text(version),
                       text(tables.since));
  }
  if (version.minor <= tables.through && version.major == tables.since.major) { return ""; }
  if (tables.since == all_tables().back().since) {
    return fmt::format("NCCL {} is newer than what is known; its tables are taken to be those of {}.{}", text(version),
                       tables.since.major, tables.through);
  }
  return fmt::format("NCCL {} is tuned with the tables of {}.{}, the nearest that are known", text(version),
                     tables.since.major, tables.through);
}

double nccl_tree_correction(NcclProtocol protocol, std::uint32_t index) {
  return kTreeCorrection.at(static_cast<std::size_t>(protocol)).at(index);
}

}  // namespace athanor
