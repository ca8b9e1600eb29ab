#include <algorithm>

#include <fmt/core.h>

#include "models/execution/work_of_collective.hpp"
#include "models/experiments/collective.hpp"
#include "models/experiments/mpi.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/nccl/tuning/tables.hpp"
#include "models/software/profile.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

Collective CollectiveSetup::collective(Bytes size) const {
  return {.kind = kind,
          .ranks = ranks,
          .count = Elements{size / size_of(type)},
          .root = root,
          .in_place = in_place,
          .sizes = exchange};
}

RunRequest CollectiveSetup::request(const Platform& platform, Bytes size, const SimulationOptions& options) const {
  RunRequest request{.cluster = *platform.cluster,
                     .profile = nccl ? platform.profile->on_nodes(nccl->communicator().nodes) : *platform.profile,
                     .collective = collective(size),
                     .element_size = size_of(type),
                     .algorithms = algorithms,
                     .overrides = overrides,
                     .options = options,
                     .seed = platform.seed,
                     .aggregation = platform.aggregation,
                     .type = type,
                     .reduction = reduction,
                     .nccl = nccl,
                     .calls = calls};
  if (mpi) { follow_mpi(*mpi, request); }
  return request;
}

std::vector<RunRequest> CollectiveSetup::requests(const Platform& platform, Bytes size,
                                                  const SimulationOptions& options) const {
  const RunRequest together = request(platform, size, options);
  if (!each_algorithm) { return {together}; }
  std::vector<RunRequest> requests;
  for (const Algorithm* algorithm : algorithms) {
    if (why_not(together, *algorithm)) { continue; }
    requests.push_back(together);
    requests.back().algorithms = {algorithm};
  }
  return requests;
}

Measurement::Wanted CollectiveSetup::measured_like(std::string_view algorithm) const {
  return {.kind = kind,
          .ranks = ranks,
          .algorithm = algorithm,
          .in_place = in_place,
          .type = type,
          .reduction = reduces(kind) ? std::optional(reduction) : std::nullopt};
}

namespace {

/// Of the row that the first size is held against: elements of another type, another reduction.
std::vector<std::string> differences_of(const CollectiveSetup& setup) {
  const Measurement& measurement = setup.verification->measurement;
  std::vector<std::string> differences;
  for (const Bytes size : setup.sizes) {
    const Measurement::Row* row = measurement.find(setup.measured_like(""), size);
    if (row == nullptr) { continue; }
    if (row->type && *row->type != setup.type) {
      differences.push_back(fmt::format("{} was measured with {}, and is simulated with {}: write \"type\": \"{}\"",
                                        measurement.id, name(*row->type), name(setup.type), name(*row->type)));
    }
    if (reduces(setup.kind) && !is_of(*row, setup.reduction)) {
      differences.push_back(fmt::format("{} was measured with the reduction {}, and is simulated with {}",
                                        measurement.id, row->reduction, name(setup.reduction)));
    }
    break;
  }
  return differences;
}

}  // namespace

WorkCount CollectiveExperiment::work(const Platform& platform, Bytes size, const RunOptions& options) const {
  WorkCount work;
  for (const RunRequest& request : setup_.requests(platform, size, simulation_options(platform, options))) {
    work += work_of(request);
  }
  return work;
}

std::optional<Reference> CollectiveExperiment::reference() const {
  if (!setup_.verification) { return std::nullopt; }
  const Verification& verification = *setup_.verification;
  return Reference{.table = &verification.measurement,
                   .rows = setup_.measured_like(""),
                   .max_error = verification.max_error,
                   .max_median_error = verification.max_median_error,
                   .from = verification.from,
                   .to = verification.to,
                   .differences = differences_of(setup_)};
}

namespace {

/// NCCL_COLLNET_ENABLE without a switch that adds up; "": CollNet is not asked for, or its plugin is there.
std::string missing_plugin(const NcclCommunicator& communicator) {
  const bool asked = communicator.environment.collnet && communicator.nodes > 1;
  if (!asked || communicator.collnet.present) { return ""; }
  return "NCCL_COLLNET_ENABLE: no switch of the network adds up (\"aggregation\" of \"network\"), so that NCCL finds "
         "no plugin for it and goes on without CollNet";
}

}  // namespace

std::vector<std::string> nccl_warnings(const Profile& profile,
                                       const std::vector<std::shared_ptr<const NcclRuntime>>& runtimes) {
  std::vector<std::string> warnings;
  const auto add = [&](std::string warning) {
    const bool known = warning.empty() || std::count(warnings.begin(), warnings.end(), warning) > 0;
    if (!known) { warnings.push_back(std::move(warning)); }
  };
  for (const auto& runtime : runtimes) {
    if (!runtime) { continue; }
    if (!profile.nccl->rccl) { add(nccl_version_note(runtime->communicator().version)); }
    for (const NcclNote& note : runtime->communicator().environment.notes) {
      add(fmt::format("{}: {}", note.variable, note.text));
    }
    add(missing_plugin(runtime->communicator()));
  }
  return warnings;
}

void leave_to_nccl(CollectiveSetup& setup) {
  if (setup.algorithms.size() != algorithms_of(setup.kind).size()) { return; }
  std::vector<const Algorithm*> known = setup.algorithms;
  const bool one_node = setup.nccl->communicator().nodes == 1;
  std::erase_if(known, [&](const Algorithm* each) { return !is_nccls(*each, one_node); });
  if (!known.empty()) { setup.algorithms = std::move(known); }
}

}  // namespace athanor
