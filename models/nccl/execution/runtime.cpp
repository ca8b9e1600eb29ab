#include "models/nccl/execution/runtime.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "models/nccl/machine/search.hpp"
#include "models/nccl/tuning/peer_work.hpp"
#include "models/nccl/tuning/work.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::array kProtocols{NcclProtocol::ll, NcclProtocol::ll128, NcclProtocol::simple};
constexpr std::string_view kRounds = "rounds";
constexpr std::string_view kRoundsByRail = "rounds_by_rail";

/// Which of the two NCCL takes, of those that the request lets it take: messages leave by their receivers' rails where
/// these are (PXN).
std::string_view rounds_name(const NcclCommunicator& communicator, const NcclRequest& request) {
  constexpr std::uint32_t kMostByRail = 8;  // ranks of a node that the schedule takes
  const auto by_rail = [](const Algorithm* each) { return each->name == kRoundsByRail; };
  const bool may = std::any_of(request.algorithms.begin(), request.algorithms.end(), by_rail);
  const bool rails = communicator.peers.rails && communicator.most_local_ranks <= kMostByRail;
  return may && rails ? kRoundsByRail : kRounds;
}

/// Whether some of the request's messages go to another node.
bool leaves_nodes(const NcclCommunicator& communicator, const NcclRequest& request) {
  if (communicator.nodes == 1 || request.kind != CollectiveKind::send_receive) { return communicator.nodes > 1; }
  const std::uint32_t receiver = (request.root + 1) % request.ranks;
  return request.root / communicator.most_local_ranks != receiver / communicator.most_local_ranks;
}

struct NamedAlgorithm {
  NcclAlgorithm algorithm;
  std::string_view name;
  std::optional<bool> one_node;  ///< none: on any number
};
constexpr std::array<NamedAlgorithm, 8> kNames{{{NcclAlgorithm::tree, "node_chain_tree", {}},
                                                {NcclAlgorithm::ring, "ring", {}},
                                                {NcclAlgorithm::collnet_direct, "collnet_direct", {}},
                                                {NcclAlgorithm::collnet_chain, "collnet_chain", {}},
                                                {NcclAlgorithm::nvls, "nvls", true},
                                                {NcclAlgorithm::nvls, "nvls_sharp", false},
                                                {NcclAlgorithm::nvls_tree, "nvls_tree", {}},
                                                {NcclAlgorithm::pat, "pat", {}}}};

/// Those of NCCL's algorithms that the request lets it take.
std::vector<NcclAlgorithm> allowed(const NcclRequest& request) {
  std::vector<NcclAlgorithm> result;
  for (const Algorithm* each : request.algorithms) {
    if (const auto known = nccl_algorithm_of(each->name)) { result.push_back(*known); }
  }
  return result;
}

/// NCCL_ALGO as if only these had been named.
NcclCommunicator restricted(const NcclCommunicator& communicator, const NcclCall& call,
                            const std::vector<NcclAlgorithm>& algorithms) {
  NcclCommunicator result = communicator;
  auto& enabled = result.environment.algorithms.at(static_cast<std::size_t>(call.function));
  for (std::size_t i = 0; i < enabled.size(); ++i) {
    const bool named = std::count(algorithms.begin(), algorithms.end(), static_cast<NcclAlgorithm>(i)) > 0;
    if (!named) { enabled.at(i) = NcclEnable::off; }
  }
  return result;
}

NcclCommunicator for_request(const NcclCommunicator& communicator, const NcclCall& call, const NcclRequest& request) {
  NcclCommunicator result = restricted(communicator, call, allowed(request));
  if (!request.protocol) { return result; }
  const std::optional<NcclProtocol> asked = nccl_protocol(*request.protocol);
  auto& enabled = result.environment.protocols.at(static_cast<std::size_t>(call.function));
  for (std::size_t i = 0; i < enabled.size(); ++i) {
    enabled.at(i) = asked == static_cast<NcclProtocol>(i) ? NcclEnable::on : NcclEnable::off;
  }
  return result;
}

/// The places of a chain at which the first and the second child of its node in a tree attach.
std::array<std::uint32_t, 2> heads_of(NcclPattern pattern) {
  switch (pattern) {
    case NcclPattern::balanced_tree: return {1, 0};
    case NcclPattern::split_tree: return {1, 1};
    case NcclPattern::tree:
    case NcclPattern::ring:
    case NcclPattern::nvls:
    case NcclPattern::collnet_direct: break;
  }
  return {0, 0};
}

/// Only rings swap their ways in odd nodes.
Shared<ChannelOrders> chain_orders(ChannelGraph chains) {
  chains.cross_nic = 0;
  return chains.count() > 0 ? Shared<ChannelOrders>(ring_orders(chains)) : Shared<ChannelOrders>();
}

/// The places of a node at which channels of a graph leave it; none: all of `ranks` do.
std::vector<std::uint32_t> heads_of(const ChannelGraph& graph, std::uint32_t ranks) {
  std::vector<std::uint32_t> heads;
  for (const NcclChannel& channel : graph.channels) {
    if (!channel.gpus.empty()) { heads.push_back(channel.gpus.front()); }
  }
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  if (heads.size() == ranks) { heads.clear(); }
  return heads;
}

/// None where NCCL would end with an error: the reason.
std::optional<NcclChoice> try_to_choose(const NcclCommunicator& communicator, const NcclCall& call,
                                        std::string& mistake) {
  try {
    return nccl_choose(communicator, call);
  } catch (const SimulationError& error) { mistake = error.what(); }
  return {};
}

}  // namespace

NcclRuntime::NcclRuntime(NcclCommunicator communicator) : communicator_(std::move(communicator)) {
  if (communicator_.graphs.ring.count() > 0) { ring_orders_ = ring_orders(communicator_.graphs.ring); }
  tree_orders_ = chain_orders(communicator_.graphs.tree);
  chain_orders_ = chain_orders(communicator_.graphs.collnet_chain);
}

std::optional<NcclChoice> NcclRuntime::choice(const NcclRequest& request) const {
  const std::optional<NcclCall> call = nccl_call(request);
  if (!call) { return {}; }
  return nccl_choose(for_request(communicator_, *call, request), *call);
}

NcclOffer NcclRuntime::offer(const NcclRequest& request, const Algorithm& algorithm) const {
  const std::optional<NcclCall> call = nccl_call(request);
  if (!call) { return offer_rounds(request, algorithm); }
  const std::optional<NcclAlgorithm> wanted = nccl_algorithm_of(algorithm.name);
  if (!wanted || catalog_name(*wanted, communicator_.nodes == 1) != algorithm.name) {
    return {{}, "NCCL has no such algorithm here"};
  }
  const NcclCommunicator communicator = for_request(communicator_, *call, request);
  const NcclCosts& costs = request.costs;
  if (costs.choosing != NcclChoosing::fastest) {
    std::string mistake;
    const std::optional<NcclChoice> chosen = try_to_choose(communicator, *call, mistake);
    if (!chosen) { return {{}, std::move(mistake)}; }
    const NcclChoice& choice = *chosen;
    if (choice.algorithm != *wanted) { return {{}, fmt::format("NCCL takes {}", name(choice.algorithm)), true}; }
    if (costs.choosing == NcclChoosing::tuner) { return {{protocol(communicator, *call, choice, costs)}, "", false}; }
  }
  return offer_all(communicator, *call, *wanted, costs);
}

NcclOffer NcclRuntime::offer_all(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                                 const NcclCosts& costs) const {
  NcclOffer offer;
  for (const NcclProtocol each : kProtocols) {
    const std::string obstacle = nccl_obstacle(communicator, call, algorithm, each);
    if (!obstacle.empty()) {
      offer.reason = obstacle;
      continue;
    }
    offer.protocols.push_back(protocol(communicator, call, nccl_choice_of(communicator, call, algorithm, each), costs));
  }
  return offer;
}

Protocol NcclRuntime::protocol(const NcclCommunicator& communicator, const NcclCall& call, const NcclChoice& choice,
                               const NcclCosts& costs) const {
  const NcclWork work = nccl_work(communicator, call, choice);
  const NcclRun run{.algorithm = choice.algorithm,
                    .protocol = choice.protocol,
                    .slots = work.slots,
                    .payload = call.bytes,
                    .ranks = communicator.ranks,
                    .nodes = communicator.nodes};
  Protocol result = protocol_of(run, layout_of(communicator, choice.algorithm, work), costs);
  result.algorithms = {std::string(catalog_name(choice.algorithm, communicator_.nodes == 1))};
  return result;
}

/// How the call is cut, who follows whom in a node, who speaks with other nodes, and by which NICs.
LibraryLayout NcclRuntime::layout_of(const NcclCommunicator& communicator, NcclAlgorithm algorithm,
                                     const NcclWork& work) const {
  constexpr Elements kLeastSlice{32'768};  // a thirty-second of the largest slice: what is less is not divided
  Layout layout{.channels = work.channels, .chunk = Elements{work.chunk.count()}, .slices = work.slices};
  if (work.slices > 1) { layout.least_slice = kLeastSlice; }
  const ChannelGraphs& graphs = communicator.graphs;
  const auto heads = [&](const ChannelGraph& graph) {
    return EngineTreeShape{.heads = heads_of(graph, communicator.most_local_ranks), .outstanding = kNcclBufferSteps};
  };
  switch (algorithm) {
    case NcclAlgorithm::tree:
      layout.orders = tree_orders_;
      layout.shape = ChainTreeShape{heads_of(graphs.tree.pattern)};
      return {std::move(layout), communicator.nics.tree};
    case NcclAlgorithm::collnet_chain:
      layout.orders = chain_orders_;
      layout.shape = heads(graphs.collnet_chain);
      return {std::move(layout), communicator.nics.collnet_chain};
    case NcclAlgorithm::collnet_direct:
      layout.shape = heads(graphs.collnet_direct);
      return {std::move(layout), communicator.nics.collnet_direct};
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      layout.shape = heads(graphs.nvls);
      return {std::move(layout), communicator.nics.nvls};
    case NcclAlgorithm::pat:
      layout.shape = AggregatedTreeShape{kNcclBufferSteps};
      return {std::move(layout), communicator.nics.ring};
    case NcclAlgorithm::ring: break;
  }
  layout.orders = ring_orders_;
  return {std::move(layout), communicator.nics.ring};
}

NcclOffer NcclRuntime::offer_rounds(const NcclRequest& request, const Algorithm& algorithm) const {
  if (request.kind == CollectiveKind::barrier) {
    return {{}, "NCCL has no barrier; programs do an all-reduce of one element in its place"};
  }
  if (algorithm.name != kRounds && algorithm.name != kRoundsByRail) {
    return {{}, "NCCL sends and receives in rounds"};
  }
  if (algorithm.name == kRoundsByRail && !communicator_.peers.rails) {
    return {{},
            "NCCL sends by rails where every GPU of a node has a NIC that the others reach over NVLink to it (PXN)"};
  }
  if (algorithm.name != rounds_name(communicator_, request)) { return {{}, "NCCL sends by rails here (PXN)", true}; }
  const std::uint32_t peers = request.kind == CollectiveKind::send_receive ? 1 : request.ranks;
  const Bytes message = request.payload / peers;
  const bool leaves = leaves_nodes(communicator_, request);
  const NcclPeerWork work = nccl_peer_work(communicator_, message, leaves);
  const NcclRun run{.peers = peers_at_once(communicator_, peers, work.parts),
                    .protocol = work.protocol,
                    .slots = work.slots,
                    .payload = request.payload,
                    .ranks = request.ranks,
                    .nodes = leaves ? communicator_.nodes : 1};
  PeerRoundShape rounds{.parts = work.parts};
  if (request.kind == CollectiveKind::all_to_all_v) {
    const NcclParts parts = nccl_parts(communicator_);
    rounds.parts = parts.most;
    rounds.parts_by_size = {Elements{parts.small.count()}, Elements{parts.large.count()}, parts.least};
  }
  const Layout layout{
      .channels = peer_channels(communicator_), .chunk = Elements{work.chunk.count()}, .shape = std::move(rounds)};
  Protocol protocol = protocol_of(run, {layout, communicator_.nics.peers}, request.costs);
  protocol.algorithms = {algorithm.name};
  protocol.start += request.costs.peer_start * peers;
  return {{std::move(protocol)}, "", false};
}

std::string_view catalog_name(NcclAlgorithm algorithm, bool one_node) {
  for (const NamedAlgorithm& each : kNames) {
    if (each.algorithm == algorithm && each.one_node.value_or(one_node) == one_node) { return each.name; }
  }
  require(false, "every algorithm of NCCL has a name");
  return "";
}

std::optional<NcclAlgorithm> nccl_algorithm_of(std::string_view catalog_name) {
  for (const NamedAlgorithm& each : kNames) {
    if (each.name == catalog_name) { return each.algorithm; }
  }
  return {};
}

bool is_nccls(const Algorithm& algorithm, bool one_node) {
  if (!nccl_function(algorithm.kind)) {
    return algorithm.name == kRounds || (algorithm.name == kRoundsByRail && !one_node);
  }
  const std::optional<NcclAlgorithm> known = nccl_algorithm_of(algorithm.name);
  return known && catalog_name(*known, one_node) == algorithm.name;
}

std::optional<NcclCall> nccl_call(const NcclRequest& request) {
  const std::optional<NcclFunction> function = nccl_function(request.kind);
  if (!function) { return {}; }
  return NcclCall{.function = *function,
                  .bytes = request.payload,
                  .type = nccl_type(request.type),
                  .operation = nccl_operation(request.reduction)};
}

}  // namespace athanor
