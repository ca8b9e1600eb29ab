#include "tools/explain/explain_nccl.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/execution/choice.hpp"
#include "models/nccl/execution/runtime.hpp"
#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/work.hpp"
#include "models/software/profile.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

std::string version_text(NcclVersion version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

const Algorithm* find_in(const RunRequest& request, std::string_view catalog_name) {
  for (const Algorithm* each : request.algorithms) {
    if (each->name == catalog_name) { return each; }
  }
  return nullptr;
}

/// One protocol of an algorithm that has it.
ExplainedCandidate candidate_of(const RunRequest& request, const NcclEstimate& estimate,
                                const SimulateCandidate& simulate) {
  ExplainedCandidate candidate;
  const bool one_node = request.nccl->communicator().nodes == 1;
  const Algorithm* const algorithm = find_in(request, catalog_name(estimate.algorithm, one_node));
  if (!estimate.disabled.empty()) {
    candidate.obstacle = estimate.disabled;
  } else if (algorithm == nullptr) {
    candidate.obstacle = "the scenario does not name it";
  } else {
    candidate = simulate(*algorithm, std::string(name(estimate.protocol)));
  }
  candidate.algorithm = name(estimate.algorithm);
  candidate.protocol = name(estimate.protocol);
  if (estimate.disabled.empty()) { candidate.predicted = estimate.time; }
  return candidate;
}

/// The protocols of one algorithm; a single line for all where they share an obstacle.
std::vector<ExplainedCandidate> protocols_of(const RunRequest& request, const std::vector<NcclEstimate>& estimates,
                                             NcclFunction function, const SimulateCandidate& simulate) {
  const NcclCommunicator& communicator = request.nccl->communicator();
  const NcclAlgorithm algorithm = estimates.front().algorithm;
  if (!nccl_has(communicator, function, algorithm, NcclProtocol::simple)) {
    return {{std::string(name(algorithm)), "", {}, {}, estimates.back().disabled, false}};
  }
  std::vector<ExplainedCandidate> result;
  for (const NcclEstimate& each : estimates) {
    if (nccl_has(communicator, function, algorithm, each.protocol)) {
      result.push_back(candidate_of(request, each, simulate));
    }
  }
  const auto same = [&](const ExplainedCandidate& each) { return each.obstacle == result.front().obstacle; };
  if (!result.front().obstacle.empty() && std::all_of(result.begin(), result.end(), same)) {
    result.resize(1);
    result.front().protocol.clear();
  }
  return result;
}

std::string choosing_text(NcclChoosing choosing) {
  switch (choosing) {
    case NcclChoosing::tuner: return "algorithm and protocol are NCCL's choice";
    case NcclChoosing::algorithm: return "the algorithm is NCCL's choice, the protocol that of least simulated time";
    case NcclChoosing::fastest: break;
  }
  return "of all that can run, what takes least simulated time is taken";
}

void add_faster(Explanation& explanation) {
  const auto& all = explanation.candidates;
  const auto chosen = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.chosen; });
  if (chosen == all.end() || !chosen->simulated) { return; }
  for (const ExplainedCandidate& each : all) {
    if (!each.simulated || *each.simulated >= *chosen->simulated) { continue; }
    explanation.reasons.push_back(
        fmt::format("{} with {} would take {:.0f} % less here", each.algorithm, each.protocol,
                    100 * (1 - microseconds(*each.simulated) / microseconds(*chosen->simulated))));
    return;
  }
}

/// What of NCCL's was chosen, of the explanation's candidates.
std::optional<std::pair<NcclAlgorithm, NcclProtocol>> chosen_of(const Explanation& explanation) {
  for (const ExplainedCandidate& each : explanation.candidates) {
    const auto algorithm = nccl_algorithm(each.algorithm);
    const auto protocol = nccl_protocol(each.protocol);
    if (each.chosen && algorithm && protocol) { return std::pair(*algorithm, *protocol); }
  }
  return {};
}

std::string part_text(const NcclWork::Part& part) {
  return fmt::format("{} in chunks of {}", to_string(part.bytes), to_string(part.chunk));
}

std::vector<std::string> work_lines(const NcclWork& work) {
  std::vector<std::string> lines{
      fmt::format("{} channel{} of {} threads, {} slice{} to a chunk, {} messages of a connection "
                  "under way at most",
                  work.channels, work.channels == 1 ? "" : "s", work.threads, work.slices, work.slices == 1 ? "" : "s",
                  work.slots)};
  const auto same = [&](const NcclWork::Part& part) {
    return part.bytes == work.first.bytes && part.chunk == work.first.chunk;
  };
  const bool equal = (work.channels < 2 || same(work.last)) && (work.channels < 3 || same(work.middle));
  std::string parts = (equal ? "each has " : "the first has ") + part_text(work.first);
  if (!equal && work.channels > 2) {
    parts += fmt::format(", each of the next {} {}", work.channels - 2, part_text(work.middle));
  }
  if (!equal) { parts += ", the last " + part_text(work.last); }
  lines.push_back(std::move(parts));
  return lines;
}

std::string path_of(const NcclChannel& channel) {
  std::string text = channel.in ? fmt::format("NIC {} > ", *channel.in) : "";
  text += fmt::format("GPU {}", joined(channel.gpus, " "));
  return channel.out ? text + fmt::format(" > NIC {}", *channel.out) : text;
}

std::string graph_line(const ChannelGraph& graph, bool one_node) {
  std::string within = fmt::format("{} found, of {:g} GB/s within a node ({})", graph.count(), graph.speed_intra,
                                   name(graph.type_intra));
  if (one_node) { return within; }
  return within + fmt::format(" and {:g} GB/s between nodes ({})", graph.speed_inter, name(graph.type_inter));
}

/// Of algorithms whose channels name no more than the GPU that reduces for the others.
std::string heads_line(const ChannelGraph& graph) {
  std::vector<std::uint32_t> heads;
  for (const NcclChannel& channel : graph.channels) {
    if (!channel.gpus.empty()) { heads.push_back(channel.gpus.front()); }
  }
  return fmt::format("heads    GPU {}", joined(heads, " "));
}

}  // namespace

std::vector<ExplainedWay> ways_of(const ChannelGraph& graph) {
  std::vector<ExplainedWay> ways;
  for (std::uint32_t first = 0; first < graph.channels.size();) {
    const NcclChannel& channel = graph.channels[first];
    std::uint32_t end = first + 1;
    while (end < graph.channels.size() && graph.channels[end] == channel) { ++end; }
    ways.push_back({first, end - 1, {channel.gpus.begin(), channel.gpus.end()}, channel.in, channel.out});
    first = end;
  }
  return ways;
}

std::vector<std::string> channel_lines(const ChannelGraph& graph) {
  if (graph.pattern == NcclPattern::nvls || graph.pattern == NcclPattern::collnet_direct) {
    return {heads_line(graph)};
  }
  std::vector<std::string> lines;
  for (const ExplainedWay& way : ways_of(graph)) {
    const std::string which =
        way.first == way.last ? fmt::format("{}", way.first) : fmt::format("{} to {}", way.first, way.last);
    lines.push_back(fmt::format("{:<8} {}", which, path_of(graph.channels[way.first])));
  }
  return lines;
}

std::vector<ExplainedCandidate> nccl_candidates(const RunRequest& request, const Explanation& explanation,
                                                const SimulateCandidate& simulate) {
  const std::optional<NcclCall> call = nccl_call(nccl_request(request));
  const std::vector<NcclEstimate> estimates = nccl_estimates(request.nccl->communicator(), *call);
  std::vector<ExplainedCandidate> result;
  for (std::size_t i = 0; i < estimates.size(); i += kNcclProtocols) {
    const auto begin = estimates.begin() + static_cast<std::ptrdiff_t>(i);
    const std::vector<NcclEstimate> of_one(begin, begin + static_cast<std::ptrdiff_t>(kNcclProtocols));
    const bool one_node = request.nccl->communicator().nodes == 1;
    const bool runs = catalog_name(of_one.front().algorithm, one_node) == explanation.algorithm;
    for (ExplainedCandidate& each : protocols_of(request, of_one, call->function, simulate)) {
      each.chosen = runs && each.protocol == explanation.protocol;
      result.push_back(std::move(each));
    }
  }
  return result;
}

void explain_nccl(const RunRequest& request, Explanation& explanation) {
  const NcclCommunicator& communicator = request.nccl->communicator();
  explanation.library = fmt::format("NCCL {}", version_text(communicator.version));
  for (const auto& [variable, text] : communicator.environment.given) {
    explanation.library += fmt::format(" {}={}", variable, text);
  }
  const auto chosen = chosen_of(explanation);
  const std::optional<NcclCall> call = nccl_call(nccl_request(request));
  if (!chosen || !call) { return; }
  explanation.reasons.push_back(choosing_text(request.profile.nccl->choosing));
  if (const auto choice = request.nccl->choice(nccl_request(request))) {
    explanation.reasons.push_back(
        fmt::format("NCCL takes {} with {}", name(choice->algorithm), name(choice->protocol)));
    explanation.reasons.insert(explanation.reasons.end(), choice->reasons.begin(), choice->reasons.end());
  }
  add_faster(explanation);
  const auto [algorithm, protocol] = *chosen;
  explanation.work =
      work_lines(nccl_work(communicator, *call, nccl_choice_of(communicator, *call, algorithm, protocol)));
  const ChannelGraph& graph = graph_of(communicator, algorithm);
  explanation.channels = channel_lines(graph);
  explanation.ways = ways_of(graph);
  explanation.channels.insert(explanation.channels.begin(), graph_line(graph, communicator.nodes == 1));
}

}  // namespace athanor
