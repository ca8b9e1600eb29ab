#include "models/nccl/tuning/estimates.hpp"

#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

/// Calls of one group that a block works on together, but with Ring, which takes them one by one.
constexpr std::uint32_t kBatch = 8;

/// Trees are slower in the middle than the formulas say: measured, for 64 B to 256 MB, and to 512 MB for NVLSTree.
double correction(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  if (const RcclTuningModel* const rccl = rccl_tuning_model(communicator)) {
    return rccl_correction(*rccl, communicator, call, algorithm, protocol);
  }
  const std::int64_t lines = call.bytes.count() / 64;
  if (call.function != NcclFunction::all_reduce || lines < 1) { return 1; }
  const std::uint32_t index = floor_log2(static_cast<std::uint64_t>(lines));
  const bool tree = algorithm == Algorithm::tree && index < 23;
  const bool nvls_tree = algorithm == Algorithm::nvls_tree && index < 24 && communicator.least_capability >= 100 &&
                         communicator.cpu == CpuArchitecture::x86 &&
                         nccl_tuning_tables(communicator.version).corrects_nvls_tree;
  return tree || nvls_tree ? nccl_tree_correction(protocol, index) : 1;
}

/// Rings between nodes stay at their latency's plateau for longer.
double plateau(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  if (rccl_tuning_model(communicator) != nullptr) { return 1; }
  if (algorithm != Algorithm::ring || protocol != Protocol::simple || communicator.nodes == 1) { return 1; }
  const std::int64_t parts = std::int64_t{compute_channels(communicator)} * communicator.ranks;
  if (call.function != NcclFunction::all_reduce || call.bytes.count() / parts < 64) { return 1; }
  return communicator.least_capability < 80 ? 1.9 : 1.4;
}

/// Long sums in 8 bits lose too much to be taken while another way is left.
double reluctance(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm) {
  const bool short_floats = call.type == NcclType::float8_e4m3 || call.type == NcclType::float8_e5m2;
  return short_floats && algorithm == Algorithm::ring && communicator.ranks > 8 ? 1024 : 1;
}

}  // namespace

NcclEstimate nccl_estimate(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                           NcclProtocol protocol) {
  require(communicator.nodes >= 1 && communicator.ranks >= communicator.nodes, "{} ranks on {} nodes",
          communicator.ranks, communicator.nodes);
  NcclEstimate estimate{algorithm, protocol, 0, 0, 0, nccl_obstacle(communicator, call, algorithm, protocol)};
  if (communicator.ranks == 1 || !nccl_has(communicator, call.function, algorithm, protocol)) { return estimate; }
  const std::uint32_t waits = algorithm == Algorithm::ring ? call.pipelined : (call.pipelined + kBatch - 1) / kBatch;
  estimate.latency = nccl_latency(communicator, call.function, algorithm, protocol) *
                     plateau(communicator, call, algorithm, protocol) * waits;
  estimate.bandwidth =
      nccl_rate(communicator, call.function, algorithm, protocol) * correction(communicator, call, algorithm, protocol);
  if (estimate.bandwidth <= 0) {
    if (estimate.disabled.empty()) { estimate.disabled = "NCCL gives it no bandwidth here"; }
    return estimate;
  }
  estimate.time = (estimate.latency + static_cast<double>(call.bytes.count()) / (1000 * estimate.bandwidth)) *
                  reluctance(communicator, call, algorithm);
  return estimate;
}

std::vector<NcclEstimate> nccl_estimates(const NcclCommunicator& communicator, const NcclCall& call) {
  std::vector<NcclEstimate> estimates;
  for (std::size_t algorithm = 0; algorithm < kNcclAlgorithms; ++algorithm) {
    for (std::size_t protocol = 0; protocol < kNcclProtocols; ++protocol) {
      estimates.push_back(nccl_estimate(communicator, call, static_cast<NcclAlgorithm>(algorithm),
                                        static_cast<NcclProtocol>(protocol)));
    }
  }
  return estimates;
}

}  // namespace athanor
