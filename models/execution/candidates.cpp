#include "models/execution/candidates.hpp"

#include <algorithm>
#include <utility>

#include "models/software/profile.hpp"
#include "sim/check.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

NcclRequest nccl_request(const RunRequest& request) {
  return {.kind = request.collective.kind,
          .ranks = request.collective.ranks,
          .root = request.collective.root,
          .payload = payload(request),
          .type = request.type,
          .reduction = request.reduction,
          .algorithms = request.algorithms,
          .protocol = request.overrides.protocol,
          .costs = *request.profile.nccl};
}

namespace {

/// The profile's ways to move data, or those that NCCL makes of it; of engines in the network their own.
std::vector<Protocol> protocols_of(const RunRequest& request, const Algorithm& algorithm,
                                   const std::vector<const Algorithm*>& allowed, Candidates& candidates) {
  const bool has_modes = aggregates(algorithm) && request.aggregation != nullptr;
  if (!request.profile.nccl) {
    return has_modes ? engine_protocols(request.aggregation->engine, request.profile) : request.profile.protocols;
  }
  require(request.nccl != nullptr, "a profile with \"nccl\" needs what NCCL has found on the cluster");
  NcclRequest asked = nccl_request(request);
  asked.algorithms = allowed;
  NcclOffer offer = request.nccl->offer(asked, algorithm);
  if (offer.protocols.empty()) { candidates.reason = std::move(offer.reason); }
  candidates.passed_over = offer.passed_over;
  if (!has_modes || offer.protocols.empty()) { return std::move(offer.protocols); }
  const std::size_t heads = offer.protocols.front().library->of_bytes.as<EngineTreeShape>().heads.size();
  const auto operations = heads == 0 ? request.cluster.endpoints_per_node : static_cast<std::uint32_t>(heads);
  return engine_protocols(request.aggregation->engine, offer.protocols, std::max(1U, operations));
}

}  // namespace

Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm) {
  return candidates_of(request, algorithm, request.algorithms);
}

Candidates candidates_of(const RunRequest& request, const Algorithm& algorithm,
                         const std::vector<const Algorithm*>& allowed) {
  Candidates candidates;
  for (const Protocol& protocol : protocols_of(request, algorithm, allowed, candidates)) {
    const bool asked = !request.overrides.protocol || *request.overrides.protocol == protocol.name;
    if (!asked || payload(request) < protocol.from || payload(request) > protocol.to) { continue; }
    std::variant<Candidate, Refusal> laid_out = lay_out(request, algorithm, protocol);
    if (auto* const candidate = std::get_if<Candidate>(&laid_out)) {
      candidates.fitting.push_back(std::move(*candidate));
    } else {
      candidates.reason = std::move(std::get<Refusal>(laid_out).reason);
    }
  }
  return candidates;
}

}  // namespace athanor
