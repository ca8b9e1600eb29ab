#include "models/nccl/tuning/rccl.hpp"

#include <algorithm>

#include "models/nccl/tuning/rates.hpp"

namespace athanor {

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
