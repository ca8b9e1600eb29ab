#include "models/nccl/tuning/choice.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

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
  const NcclTuningTables& tables = nccl_tuning_tables(communicator.version);
  const bool tree = algorithm == Algorithm::tree && index < tables.corrected;
  const bool nvls_tree = algorithm == Algorithm::nvls_tree && index < 24 && communicator.least_capability >= 100 &&
                         communicator.cpu == CpuArchitecture::x86 && tables.corrects_nvls_tree;
  return tree || nvls_tree ? tables.tree_correction.at(static_cast<std::size_t>(protocol)).at(index) : 1;
}

/// Rings between nodes stay at their latency's plateau for longer.
double plateau(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  if (rccl_tuning_model(communicator) != nullptr) { return 1; }
  if (algorithm != Algorithm::ring || protocol != Protocol::simple || communicator.nodes == 1) { return 1; }
  const NcclTuningTables& tables = nccl_tuning_tables(communicator.version);
  const std::int64_t parts = std::int64_t{compute_channels(communicator)} * communicator.ranks;
  const bool is_long = tables.plateau_by_ranks ? call.bytes.count() >= std::int64_t{4096} * communicator.ranks
                                               : call.bytes.count() / parts >= 64;
  if (call.function != NcclFunction::all_reduce || !is_long) { return 1; }
  return tables.plateau.at(nccl_generation(communicator));
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

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr std::int64_t kWarp = 32;
constexpr std::uint32_t kMostThreads = 640;

std::string label(const NcclEstimate& estimate) {
  return fmt::format("{} with {}", name(estimate.algorithm), name(estimate.protocol));
}

std::uint32_t most_threads(const NcclCommunicator& communicator, Algorithm algorithm, Protocol protocol) {
  const NcclEnvironment& environment = communicator.environment;
  const bool in_switches = algorithm != Algorithm::ring && algorithm != Algorithm::tree && algorithm != Algorithm::pat;
  if (in_switches) { return kMostThreads; }
  if (protocol == Protocol::ll128) { return environment.ll128_threads.value_or(kMostThreads); }
  const ChannelGraph& ring = communicator.graphs.ring;
  // A ring no faster than one PCIe 3 slot does with half.
  const bool slow =
      algorithm == Algorithm::ring && protocol == Protocol::simple && ring.speed_intra * ring.count() <= 12;
  return environment.threads.value_or(slow ? 256 : 512);
}

/// Bytes that make one more thread worth while.
std::int64_t thread_threshold(const NcclCommunicator& communicator, Algorithm algorithm, Protocol protocol) {
  if (algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain) { return 512; }
  if (protocol == Protocol::simple) { return 64; }
  return protocol == Protocol::ll && algorithm == Algorithm::ring ? 8 * std::int64_t{communicator.ranks} : 8;
}

/// Work for which a grid of blocks and threads is needed.
struct Grid {
  std::int64_t channels = 1;
  std::int64_t threads = kMostThreads;
};

/// CollNetDirect drops to 16 channels one by one, then to 8 by the rule for 8, and so on; half way its threshold
/// halves.
Grid direct_grid(std::int64_t bytes, Grid grid, std::int64_t threshold) {
  bool drop = true;
  for (std::int64_t target = 16; target >= 1 && drop; target /= 2) {
    while ((drop = bytes < grid.channels * grid.threads * threshold) && grid.channels > target) {
      if (grid.channels == target + target / 2) { threshold /= 2; }
      --grid.channels;
    }
  }
  return grid;
}

Grid dropped_grid(std::int64_t bytes, Grid grid, std::int64_t threshold) {
  while (bytes < grid.channels * grid.threads * threshold && grid.channels >= 2) { --grid.channels; }
  while (bytes < grid.channels * grid.threads * threshold && grid.threads % 128 == 0) { grid.threads /= 2; }
  return grid;
}

std::uint32_t nvls_channels(const NcclCommunicator& communicator, Algorithm algorithm) {
  const std::uint32_t channels = nvls_sizes(communicator).channels;
  const bool over_network = algorithm == Algorithm::nvls && communicator.nodes > 1;
  return over_network ? std::min(channels, compute_channels(communicator)) : channels;
}

Grid grid_of(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  Grid grid{compute_channels(communicator), most_threads(communicator, algorithm, protocol)};
  const std::int64_t threshold = thread_threshold(communicator, algorithm, protocol);
  switch (algorithm) {
    case Algorithm::nvls:
    case Algorithm::nvls_tree: grid.channels = nvls_channels(communicator, algorithm); return grid;
    case Algorithm::collnet_direct:
      return direct_grid(call.bytes.count(), grid, threshold * std::max(1U, communicator.collnet.heads));
    case Algorithm::tree:
    case Algorithm::ring:
    case Algorithm::collnet_chain:
    case Algorithm::pat: break;
  }
  return dropped_grid(call.bytes.count(), grid, threshold);
}

/// Of a block in the end: a warp more that synchronises with Ring, all that there are with Tree and PAT.
std::int64_t launched_threads(Algorithm algorithm, Protocol protocol, std::int64_t threads) {
  if (algorithm == Algorithm::tree || algorithm == Algorithm::pat) { return kMostThreads; }
  if (algorithm == Algorithm::ring && protocol == Protocol::simple) { threads += kWarp; }
  return std::max<std::int64_t>(threads, 3 * kWarp);
}

std::optional<NcclEstimate> best_of(const std::vector<NcclEstimate>& estimates) {
  std::optional<NcclEstimate> best;
  for (const NcclEstimate& each : estimates) {
    if (each.disabled.empty() && (!best || each.time < best->time)) { best = each; }
  }
  return best;
}

NcclChoice choice_from(const NcclCommunicator& communicator, const NcclCall& call, const NcclEstimate& estimate) {
  const Grid grid = grid_of(communicator, call, estimate.algorithm, estimate.protocol);
  NcclChoice choice;
  choice.algorithm = estimate.algorithm;
  choice.protocol = estimate.protocol;
  choice.channels = static_cast<std::uint32_t>(grid.channels);
  choice.threads = static_cast<std::uint32_t>(launched_threads(estimate.algorithm, estimate.protocol, grid.threads));
  choice.latency = estimate.latency;
  choice.bandwidth = estimate.bandwidth;
  choice.time = estimate.time;
  return choice;
}

void add_runner_up(const std::vector<NcclEstimate>& estimates, NcclChoice& choice) {
  std::vector<NcclEstimate> others;
  for (const NcclEstimate& each : estimates) {
    const bool chosen = each.algorithm == choice.algorithm && each.protocol == choice.protocol;
    if (!chosen) { others.push_back(each); }
  }
  const auto second = best_of(others);
  choice.reasons.push_back(second ? fmt::format("{:.1f} us by NCCL's model, before {} at {:.1f} us", choice.time,
                                                label(*second), second->time)
                                  : fmt::format("nothing else is left; {:.1f} us by NCCL's model", choice.time));
}

/// Algorithms that NCCL_ALGO names and that cannot run.
void add_asked(const NcclCommunicator& communicator, const NcclCall& call, NcclChoice& choice) {
  const auto& asked = communicator.environment.algorithms.at(static_cast<std::size_t>(call.function));
  for (std::size_t i = 0; i < kNcclAlgorithms; ++i) {
    const auto algorithm = static_cast<Algorithm>(i);
    if (asked.at(i) != NcclEnable::on || algorithm == choice.algorithm) { continue; }
    const std::string why = nccl_obstacle(communicator, call, algorithm, Protocol::simple);
    if (!why.empty() && !why.starts_with("NCCL_PROTO")) {
      choice.reasons.push_back(fmt::format("NCCL_ALGO allows {}, which cannot run: {}", name(algorithm), why));
    }
  }
}

/// LL128 that NCCL_PROTO switched on where NCCL would not.
void add_unsafe(const NcclCommunicator& communicator, const NcclCall& call, NcclChoice& choice) {
  if (choice.protocol != Protocol::ll128) { return; }
  NcclCommunicator unset = communicator;
  unset.environment.protocols = {};
  const std::string why = nccl_obstacle(unset, call, choice.algorithm, Protocol::ll128);
  if (!why.empty()) {
    choice.reasons.push_back(fmt::format("NCCL_PROTO switches LL128 on where it may corrupt data: {}", why));
  }
}

void add_version(const NcclCommunicator& communicator, NcclChoice& choice) {
  if (rccl_tuning_model(communicator) != nullptr) { return; }
  if (communicator.rccl) {
    choice.reasons.push_back(fmt::format("RCCL's model of {} is not known; NCCL's tables stand in",
                                         communicator.architecture.empty() ? "these GPUs" : communicator.architecture));
  }
  std::string note = nccl_version_note(communicator.version);
  if (!note.empty()) { choice.reasons.push_back(std::move(note)); }
}

/// Before 2.24 Ring with all protocols is left when nothing else is.
NcclEstimate fallback(const NcclCommunicator& communicator, const NcclCall& call) {
  std::vector<NcclEstimate> rings;
  for (std::size_t i = 0; i < kNcclProtocols; ++i) {
    rings.push_back(nccl_estimate(communicator, call, Algorithm::ring, static_cast<Protocol>(i)));
    rings.back().disabled.clear();
  }
  return *best_of(rings);
}

/// RCCL's protocol for sizes like this, where nobody asked for one. None: that of the estimate.
std::optional<NcclEstimate> rccl_instead(const NcclCommunicator& communicator, const NcclCall& call,
                                         const NcclEstimate& best) {
  const RcclTuningModel* const model = rccl_tuning_model(communicator);
  const auto& enabled = communicator.environment.protocols.at(static_cast<std::size_t>(call.function));
  const auto unset = std::count(enabled.begin(), enabled.end(), NcclEnable::unset);
  if (model == nullptr || unset != std::ssize(enabled)) { return {}; }
  const bool ll128 = nccl_obstacle(communicator, call, best.algorithm, Protocol::ll128).empty();
  const std::optional<Protocol> taken = rccl_protocol(*model, communicator, call, ll128);
  if (!taken || *taken == best.protocol) { return {}; }
  return nccl_estimate(communicator, call, best.algorithm, *taken);
}

std::string variable_text(const NcclCommunicator& communicator, const char* variable) {
  const auto found = communicator.environment.given.find(variable);
  return found == communicator.environment.given.end() ? "" : fmt::format(" {} is {}.", variable, found->second);
}

[[noreturn]] void refuse(const NcclCommunicator& communicator, const NcclCall& call,
                         const std::vector<NcclEstimate>& estimates) {
  std::string whys;
  for (const NcclEstimate& each : estimates) {
    if (each.disabled.starts_with("NCCL_") || !nccl_has(communicator, call.function, each.algorithm, each.protocol)) {
      continue;
    }
    whys += fmt::format(" {}: {}.", label(each), each.disabled);
  }
  throw SimulationError("nccl-invalid-usage",
                        fmt::format("no algorithm/protocol available for function {} with datatype {}: NCCL ends with "
                                    "ncclInvalidUsage.{}{}{} Allow Ring, which always runs",
                                    name(call.function), name(call.type), variable_text(communicator, "NCCL_ALGO"),
                                    variable_text(communicator, "NCCL_PROTO"), whys));
}

}  // namespace

NcclChoice nccl_choice_of(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                          NcclProtocol protocol) {
  return choice_from(communicator, call, nccl_estimate(communicator, call, algorithm, protocol));
}

NcclChoice nccl_choose(const NcclCommunicator& communicator, const NcclCall& call) {
  const std::vector<NcclEstimate> estimates = nccl_estimates(communicator, call);
  std::optional<NcclEstimate> best = best_of(estimates);
  const bool falls_back = !best;
  if (falls_back && communicator.version >= NcclVersion{2, 24, 0}) { refuse(communicator, call, estimates); }
  if (falls_back) { best = fallback(communicator, call); }
  const std::optional<NcclEstimate> instead = falls_back ? std::nullopt : rccl_instead(communicator, call, *best);
  NcclChoice choice = choice_from(communicator, call, instead.value_or(*best));
  if (instead) {
    choice.reasons.push_back(fmt::format("RCCL takes {} for sizes like this, where {} is predicted to take {:.1f} us",
                                         name(choice.protocol), label(*best), best->time));
  }
  if (falls_back) {
    choice.reasons.emplace_back(
        "nothing that NCCL_ALGO and NCCL_PROTO allow can run, and NCCL before 2.24 falls back to Ring");
  } else {
    add_runner_up(estimates, choice);
    add_unsafe(communicator, call, choice);
  }
  add_asked(communicator, call, choice);
  add_version(communicator, choice);
  return choice;
}

}  // namespace athanor
