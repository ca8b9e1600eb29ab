#include "models/nccl/tuning/tables.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/nccl/tuning/older_tables.hpp"
#include "models/nccl/tuning/rates.hpp"

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

// Rows LL, LL128, Simple. From 64 B to 512 MiB in powers of two.
constexpr std::array<std::array<double, 24>, kNcclProtocols> kTreeCorrection{
    {{1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
      0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
      0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0, 1.0},
     {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
      0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9}}};

/// NCCL 2.29.2 and later.
NcclTuningTables newest() {
  NcclTuningTables tables;
  tables.since = {2, 29, 2};
  tables.from = 29;
  tables.through = 30;
  tables.tree_correction = kTreeCorrection;
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
  tables.from = tables.through = 28;
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
  tables.from = 25;
  tables.through = 27;
  tables.ring_ll128[3] = {73.4, 73.4, 73.4};
  tables.tree_ll128[3] = {73.4, 73.4, 58.0};
  tables.tree[3] = {77.4, 82.8, 72.0};
  tables.nvls_rate = NcclTuningTables::NvlsRate::five_sixths;
  tables.ll128_mixed = false;
  return tables;
}

/// The source at b6475625, of 2.20.3; 2.19 and what follows it to 2.24 are nearer to it than to others.
NcclTuningTables of_2_20() {
  NcclTuningTables tables = of_2_27();
  tables.since = {2, 19, 0};
  tables.from = tables.through = 20;
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
  NcclTuningTables tables = of_2_20();
  tables.since = {2, 18, 0};
  tables.from = tables.through = 18;
  tables.halves_tree_chunks = true;
  tables.direct_serial = 0.5;
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

std::vector<NcclTuningTables> tables_by_version() {
  const auto older = older_nccl_tables(of_2_18());
  std::vector<NcclTuningTables> tables(older.begin(), older.end());
  for (const auto& make : {of_2_18, of_2_20, of_2_27, of_2_28_3, of_2_28_9, newest}) { tables.push_back(make()); }
  return tables;
}

const std::vector<NcclTuningTables>& all_tables() {
  static const std::vector<NcclTuningTables> tables = tables_by_version();
  return tables;
}

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
  const bool known =
      version.major == tables.since.major && version.minor >= tables.from && version.minor <= tables.through;
  if (known) { return ""; }
  if (tables.since == all_tables().back().since) {
    return fmt::format("NCCL {} is newer than what is known; its tables are taken to be those of {}.{}", text(version),
                       tables.since.major, tables.through);
  }
  return fmt::format("NCCL {} is tuned with the tables of {}.{}, the nearest that are known", text(version),
                     tables.since.major, version.minor < tables.from ? tables.from : tables.through);
}

std::optional<Bytes> nccl_tree_threshold(const NcclCommunicator& communicator) {
  const auto& asked = communicator.environment.tree_threshold;
  if (asked) { return *asked; }
  constexpr double kRing = 5000;  // bytes a us of each channel over NVLink, and of all of them otherwise
  constexpr double kRingStep = 6;
  constexpr double kTreeStep = 4;
  constexpr double kTreeNetworkStep = 15;
  const bool nvlink = communicator.graphs.ring.type_intra <= NcclPath::nvb;
  const double ring = kRing * (nvlink ? compute_channels(communicator) : 1);
  const double tree = nvlink ? ring * 3 / 4 * (communicator.nodes == 2 ? 2 : 1) : ring * 2 / 3;
  const std::uint32_t followers = communicator.ranks / communicator.nodes - 1;
  const double ring_latency = kRingStep * (communicator.ranks - 1);
  const double tree_latency = kTreeNetworkStep * floor_log2(communicator.nodes) + kTreeStep * followers;
  if (communicator.nodes < 2 || ring_latency <= tree_latency) { return Bytes::zero(); }
  if (tree > ring) { return {}; }
  return Bytes{static_cast<std::int64_t>(ring * tree / (ring - tree) * (ring_latency - tree_latency))};
}

namespace {

using Corrections = RcclTuningModel::Corrections;

constexpr std::array<double, RcclTuningModel::kSizes> kTreeLines{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0,
                                                                 1.0, 1.0, 0.6, 1.0, 0.9, 1.0, 1.0, 0.1, 0.1,
                                                                 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
constexpr std::array<double, RcclTuningModel::kSizes> kRingLines{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
                                                                 0.1, 0.1, 1.0, 0.2, 1.0, 0.4, 0.4, 0.1, 0.2,
                                                                 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};

// Rows are Tree, Ring, CollNetDirect, CollNetChain, NVLS, NVLSTree, PAT; columns LL, LL128, Simple.
NcclTuningTables tables_of_mi300() {
  NcclTuningTables tables;
  tables.base = {{{12, 12, 17}, {12, 12, 17}, {12, 12, 17}, {12, 12, 17}, {0, 0, 0}, {0, 0, 0}, {8, 8, 8}}};
  tables.nvlink = {{{0.9, 0.9, 2.3}, {0.8, 0.8, 2.1}, {0, 0, 0.9}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  tables.pcie = {{{2.2, 2.2, 5.7}, {2.2, 2.2, 5.7}, {0, 0, 5.7}, {0, 0, 5.7}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  tables.network = {{{10.5, 10.5, 25.0}, {9.5, 9.5, 320.0}, {0, 0, 10.5}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  tables.nvls_rate = NcclTuningTables::NvlsRate::five_sixths;
  return tables;
}

RcclTuningModel gfx942() {
  RcclTuningModel model;
  model.architecture = "gfx942";
  model.tables = tables_of_mi300();
  model.share[0] = {{{0.06, 0.06, 0.11}, {0.08, 0.08, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}};
  model.share[1] = model.share[0];
  model.share[1][0][2] = 0.59;
  model.tree = {kTreeLines, kTreeLines, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
                                         0.1, 0.7, 1.0, 1.0, 1.0, 1.0, 1.0, 0.7, 0.7, 0.5, 0.6, 0.6, 0.6}};
  model.ring = {kRingLines, kRingLines, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
                                         0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 0.8, 1.0, 1.0, 1.0}};
  const auto range = [&](NcclFunction function) -> RcclTuningModel::Ranges& {
    return model.ranges.at(static_cast<std::size_t>(function));
  };
  range(NcclFunction::reduce_scatter) = {{Bytes{0}, Bytes{655'360}}, {Bytes{131'072}, Bytes{3'211'264}}};
  range(NcclFunction::all_gather) = {{Bytes{0}, Bytes{98'304}}, {Bytes{98'304}, Bytes{5'046'272}}};
  range(NcclFunction::all_reduce) = {{Bytes{0}, Bytes{1'048'576}}, {Bytes{1'048'576}, Bytes{9'437'184}}};
  return model;
}

RcclTuningModel gfx950() {
  RcclTuningModel model = gfx942();
  model.architecture = "gfx950";
  model.tree[1] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 1.0, 0.9,
                   1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
  model.tree[2] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
                   0.1, 0.7, 1.0, 0.1, 0.1, 0.1, 0.9, 0.9, 0.7, 0.8, 0.6, 0.6, 0.6};
  model.ring[1][18] = 0.1;
  model.ring[2][24] = 0.8;
  const auto range = [&](NcclFunction function) -> RcclTuningModel::Ranges& {
    return model.ranges.at(static_cast<std::size_t>(function));
  };
  range(NcclFunction::reduce_scatter) = {{Bytes{0}, Bytes{131'071}}, {Bytes{131'071}, Bytes{4'194'304}}};
  range(NcclFunction::all_gather) = {{Bytes{0}, Bytes{7}}, {Bytes{7}, Bytes{8'388'608}}};
  range(NcclFunction::all_reduce) = {{Bytes{0}, Bytes{131'071}}, {Bytes{131'071}, Bytes{17'660'227}}};
  range(NcclFunction::reduce) = {{Bytes{0}, Bytes{16'383}}, {Bytes{16'383}, Bytes{16'777'216}}};
  range(NcclFunction::broadcast) = {{Bytes{0}, Bytes{2'048}}, {Bytes{2'048}, Bytes{16'777'216}}};
  return model;
}

/// What RCCL compares with its ranges.
std::int64_t compared_bytes(const NcclCommunicator& communicator, const NcclCall& call) {
  return call.function == NcclFunction::all_reduce ? call.bytes.count() : call.bytes.count() / communicator.ranks;
}

bool within(std::int64_t bytes, const RcclTuningModel::Range& range) {
  return bytes > range.above.count() && bytes <= range.to.count();
}

/// On one node: LL up to so many bytes of a rank's part.
std::optional<std::int64_t> short_on_one_node(const RcclTuningModel& model, NcclFunction function) {
  const bool newer = model.architecture == "gfx950";
  if (function == NcclFunction::reduce_scatter) { return newer ? 175'488 : 352'128; }
  if (function == NcclFunction::all_gather && newer) { return 88'448; }
  return {};
}

}  // namespace

const RcclTuningModel* rccl_tuning_model(const NcclCommunicator& communicator) {
  static const std::array<RcclTuningModel, 2> models{gfx942(), gfx950()};
  if (!communicator.rccl) { return nullptr; }
  const auto* const found = std::find_if(models.begin(), models.end(), [&](const RcclTuningModel& model) {
    return communicator.architecture == model.architecture;
  });
  return found == models.end() ? nullptr : found;
}

const NcclTuningTables& tuning_tables(const NcclCommunicator& communicator) {
  const RcclTuningModel* const model = rccl_tuning_model(communicator);
  return model != nullptr ? model->tables : nccl_tuning_tables(communicator.version);
}

double rccl_correction(const RcclTuningModel& model, const NcclCommunicator& communicator, const NcclCall& call,
                       NcclAlgorithm algorithm, NcclProtocol protocol) {
  const bool tree = algorithm == NcclAlgorithm::tree;
  const bool ring = algorithm == NcclAlgorithm::ring && communicator.nodes > 1;
  if (!tree && !ring) { return 1; }
  const auto lines = static_cast<std::uint64_t>(std::max<std::int64_t>(1, call.bytes.count() / 64));
  const std::size_t index = std::min<std::size_t>(floor_log2(lines), RcclTuningModel::kSizes - 1);
  return (tree ? model.tree : model.ring).at(static_cast<std::size_t>(protocol)).at(index);
}

std::optional<NcclProtocol> rccl_protocol(const RcclTuningModel& model, const NcclCommunicator& communicator,
                                          const NcclCall& call, bool ll128) {
  const std::int64_t bytes = compared_bytes(communicator, call);
  if (communicator.nodes == 1) {
    const std::optional<std::int64_t> most = short_on_one_node(model, call.function);
    return most && bytes <= *most ? std::optional(NcclProtocol::ll) : std::nullopt;
  }
  RcclTuningModel::Ranges ranges = model.ranges.at(static_cast<std::size_t>(call.function));
  if (ranges.ll.to == Bytes::zero()) { return {}; }
  // All-reduce stays with LL128 for longer beyond two nodes, where its tree is another.
  const bool all_reduces = call.function == NcclFunction::all_reduce;
  if (all_reduces && communicator.nodes > 2) { ranges.ll128.to = Bytes{ranges.ll128.to.count() * 38 / 10}; }
  if (ll128 && within(bytes, ranges.ll128)) { return NcclProtocol::ll128; }
  return within(bytes, ranges.ll) ? NcclProtocol::ll : NcclProtocol::simple;
}

}  // namespace athanor
