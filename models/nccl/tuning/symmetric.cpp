#include "models/nccl/tuning/symmetric.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace athanor {

namespace {

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr std::uint32_t kMostBlocks = 64;

/// Bytes that cross the links of a GPU, of R ranks with B bytes each (of a rank's block, for gathers).
enum class Traffic : std::uint8_t { flagged, two_shots, multicast_shots, blocks };

struct Kernel {
  std::string_view name;
  NcclFunction function;
  Traffic traffic;
  bool flagged;    ///< low latency: flags beside the data
  bool multicast;  ///< by NVSwitches
};
constexpr std::array<Kernel, 11> kKernels{
    {{"AllReduce_AGxLL_R", NcclFunction::all_reduce, Traffic::flagged, true, false},
     {"AllReduce_AGxLLMC_R", NcclFunction::all_reduce, Traffic::flagged, true, true},
     {"AllReduce_RSxLD_AGxST", NcclFunction::all_reduce, Traffic::two_shots, false, false},
     {"AllReduce_RSxLDMC_AGxSTMC", NcclFunction::all_reduce, Traffic::multicast_shots, false, true},
     {"AllGather_LL", NcclFunction::all_gather, Traffic::flagged, true, false},
     {"AllGather_LLMC", NcclFunction::all_gather, Traffic::flagged, true, true},
     {"AllGather_ST", NcclFunction::all_gather, Traffic::blocks, false, false},
     {"AllGather_STMC", NcclFunction::all_gather, Traffic::blocks, false, true},
     {"ReduceScatter_LL", NcclFunction::reduce_scatter, Traffic::flagged, true, false},
     {"ReduceScatter_LD", NcclFunction::reduce_scatter, Traffic::blocks, false, false},
     {"ReduceScatter_LDMC", NcclFunction::reduce_scatter, Traffic::blocks, false, true}}};

/// GB/s in 2^30 bytes, and us.
struct Constants {
  double latency = 0;
  double per_block = 0;
  double peak = 0;
};

Constants constants_of(const Kernel& kernel, bool blackwell) {
  const bool reduces_all = kernel.function == NcclFunction::all_reduce;
  const bool shots = kernel.traffic == Traffic::multicast_shots;
  if (!blackwell) { return {kernel.flagged ? 4.5 : 7.8, reduces_all ? 65.0 : 44.0, shots ? 480.0 : 320.0}; }
  const double flagged = kernel.function == NcclFunction::all_gather ? 8.5 : 11;
  return {kernel.flagged ? flagged : reduces_all ? 19.5 : 13, 55, shots ? 1000.0 : 600.0};
}

double bus_bytes(const Kernel& kernel, double ranks, double bytes) {
  switch (kernel.traffic) {
    case Traffic::flagged: return ranks * bytes * 9;
    case Traffic::two_shots: return 2 * bytes * (ranks - 1) / ranks;
    case Traffic::multicast_shots: return bytes / ranks + bytes;
    case Traffic::blocks: break;
  }
  return (ranks - 1) * bytes;
}

/// How much more of its traffic a block moves where switches copy or add up.
double block_gain(const Kernel& kernel, double ranks) {
  if (!kernel.multicast) { return 1; }
  if (kernel.flagged) { return 1.1; }
  return kernel.traffic == Traffic::multicast_shots ? ranks : 0.55 * ranks;
}

/// Nearly the lesser of x and `ceiling`, over a bend of width `bend`.
double soft_minimum(double x, double ceiling, double bend) {
  return ceiling - bend * std::log1p(std::expm1(ceiling / bend) * std::exp(-x / bend));
}

/// Nearly the greater of x and 0.
double soft_positive(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double time_of(const Kernel& kernel, const Constants& constants, double ranks, double bytes, std::uint32_t blocks) {
  const double wanted = blocks * constants.per_block * block_gain(kernel, ranks);
  const double rate = soft_minimum(wanted, constants.peak, constants.per_block);
  return constants.latency + soft_positive(bus_bytes(kernel, ranks, bytes) / (rate * kGigabyte) * 1e6 - 1);
}

std::uint32_t most_blocks(const Kernel& kernel, const NcclCommunicator& communicator) {
  if (!kernel.multicast || kernel.flagged) { return kMostBlocks; }
  const std::uint32_t all = communicator.least_capability >= 100 ? 32 : 16;
  return std::max(1U, (all + communicator.ranks - 1) / communicator.ranks);
}

std::string obstacle(const Kernel& kernel, const NcclCommunicator& communicator, const NcclCall& call) {
  if (communicator.version < NcclVersion{2, 27, 0}) { return "symmetric kernels begin with NCCL 2.27"; }
  if (communicator.nodes > 1) { return "only kernels of one node are modelled"; }
  if (communicator.least_capability < 90) { return "symmetric kernels need Hopper or newer GPUs"; }
  if (!communicator.peers.all_nvlink) { return "symmetric kernels need NVLink between all GPUs"; }
  if (kernel.multicast && !communicator.multicast) { return "no NVLink multicast here"; }
  const bool reduces = call.function != NcclFunction::all_gather;
  return reduces && call.operation != NcclOperation::sum ? "symmetric kernels only add" : "";
}

NcclSymmetricEstimate estimate_of(const Kernel& kernel, const NcclCommunicator& communicator, const NcclCall& call) {
  const Constants constants = constants_of(kernel, communicator.least_capability >= 100);
  const double ranks = communicator.ranks;
  const auto whole = static_cast<double>(call.bytes.count());
  const double bytes = call.function == NcclFunction::all_reduce ? whole : whole / ranks;
  const std::uint32_t most = most_blocks(kernel, communicator);
  const double best = time_of(kernel, constants, ranks, bytes, most);
  NcclSymmetricEstimate estimate{std::string(kernel.name), 1, 0, obstacle(kernel, communicator, call)};
  while (estimate.blocks < most && time_of(kernel, constants, ranks, bytes, estimate.blocks) > 1.025 * best) {
    ++estimate.blocks;
  }
  estimate.time = time_of(kernel, constants, ranks, bytes, estimate.blocks);
  return estimate;
}

}  // namespace

std::vector<NcclSymmetricEstimate> nccl_symmetric_estimates(const NcclCommunicator& communicator,
                                                            const NcclCall& call) {
  std::vector<NcclSymmetricEstimate> estimates;
  for (const Kernel& kernel : kKernels) {
    if (kernel.function == call.function) { estimates.push_back(estimate_of(kernel, communicator, call)); }
  }
  return estimates;
}

}  // namespace athanor
