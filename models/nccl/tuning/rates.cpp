#include "models/nccl/tuning/rates.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "models/nccl/tuning/tables.hpp"

namespace athanor {

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;
using Tables = NcclTuningTables;

/// One entry of NCCL's tables, and what all of its formulas need.
struct Case {
  const NcclCommunicator& communicator;
  const Tables& tables;
  NcclFunction function;
  Algorithm algorithm;
  Protocol protocol;
  const ChannelGraph& graph;

  double ranks() const { return communicator.ranks; }
  double nodes() const { return communicator.nodes; }
  double per_node() const { return communicator.ranks_per_node(); }
  double channels() const { return graph.count(); }
  bool all_reduces() const { return function == NcclFunction::all_reduce; }
  bool gathers() const { return function == NcclFunction::all_gather || function == NcclFunction::reduce_scatter; }
  bool in_network() const { return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain; }
  double steps() const { return all_reduces() ? 2 * (ranks() - 1) : gathers() ? ranks() - 1 : ranks(); }

  std::size_t generation() const {
    return tables.ampere_is_a100 && communicator.least_capability != 80 ? 0 : nccl_generation(communicator);
  }
  std::size_t span() const { return std::min<std::size_t>(communicator.nodes, 3) - 1; }
  double cap(const NcclCaps& caps) const { return caps.at(generation()).at(span()); }
  /// On one node GPUs limit LL, between nodes the CPU, whose thread looks for flags.
  double ll_cap() const {
    const bool amd = communicator.vendor == CpuVendor::amd || communicator.vendor == CpuVendor::mixed;
    return tables.ll.at(communicator.nodes == 1 ? generation() : amd ? 1 : 0).at(span());
  }
  double latency_of(const NcclLatencies& latencies, Algorithm of) const {
    return latencies.at(static_cast<std::size_t>(of)).at(static_cast<std::size_t>(protocol));
  }
};

Case case_of(const NcclCommunicator& communicator, NcclFunction function, Algorithm algorithm, Protocol protocol) {
  const Tables& tables = tuning_tables(communicator);
  const bool as_ring = algorithm == Algorithm::nvls && tables.nvls_rate == Tables::NvlsRate::rings;
  return {communicator, tables,   function,
          algorithm,    protocol, graph_of(communicator, as_ring ? Algorithm::ring : algorithm)};
}

/// From 2.28 on: NVLink's share against the network's.
double nvls_rate_by_efficiency(const Case& c) {
  double within = c.graph.speed_intra * c.tables.nvls_efficiency.at(c.generation()) * (c.channels() - 1) / c.channels();
  within *= c.all_reduces() ? 2 : (c.per_node() - 1) / c.per_node();
  const bool tree = c.algorithm == Algorithm::nvls_tree;
  const double across = c.graph.speed_inter * (tree && c.nodes() <= 2 ? 2 : 1);
  const double cap = tree ? c.cap(c.tables.nvls_tree) : std::numeric_limits<double>::max();
  return std::min({within, across, cap});
}

double nvls_channel_rate(const Case& c) {
  switch (c.tables.nvls_rate) {
    case Tables::NvlsRate::efficiency: return nvls_rate_by_efficiency(c);
    case Tables::NvlsRate::rings:
    case Tables::NvlsRate::share_of_nodes: return c.nodes() <= 2 ? c.graph.speed_intra : c.graph.speed_inter;
    case Tables::NvlsRate::five_sixths: break;
  }
  if (c.algorithm == Algorithm::nvls_tree) {
    return std::min(c.graph.speed_intra, c.nodes() > 2 ? c.graph.speed_inter / 2 : c.graph.speed_inter);
  }
  if (c.all_reduces() || !c.tables.nvls_gathers_over_network) {
    return std::min(c.graph.speed_intra, c.graph.speed_inter);
  }
  return std::min(c.graph.speed_intra * (c.per_node() - 1) / c.per_node(), c.graph.speed_inter * 0.9);
}

double channel_rate(const Case& c) {
  if (c.algorithm == Algorithm::nvls || c.algorithm == Algorithm::nvls_tree) { return nvls_channel_rate(c); }
  return c.nodes() <= 2 || c.in_network() ? c.graph.speed_intra : c.graph.speed_inter;
}

double ll128_cap(const Case& c, const NcclCaps& caps) {
  const double own = c.tables.ll128_channel.at(static_cast<std::size_t>(c.function));
  return own > 0 ? own : c.cap(caps);
}

double ring_rate(const Case& c, double bus) {
  const bool across = c.nodes() > 1 || c.all_reduces() || c.function == NcclFunction::reduce;
  switch (c.protocol) {
    case Protocol::ll: return std::min(c.ll_cap(), bus * (across ? c.tables.ring_ll_across : c.tables.ring_ll_within));
    case Protocol::ll128:
      return std::min(bus * (c.per_node() < 2 ? c.tables.ring_ll128_alone : 0.92),
                      c.channels() * ll128_cap(c, c.tables.ring_ll128));
    case Protocol::simple: break;
  }
  return bus;
}

/// Of all channels together.
double most_of_trees(const Case& c) {
  const std::size_t far = c.nodes() > 2 ? 1 : 0;
  const bool ampere = c.generation() == 1 && c.protocol == Protocol::ll128;
  const double most = (ampere ? c.tables.ampere_ll128_tree_most : c.tables.tree_most).at(far);
  return most > 0 ? most : std::numeric_limits<double>::max();
}

double tree_rate(const Case& c, double bus) {
  if (c.all_reduces()) {
    bus = std::min({bus * c.tables.tree_share, c.channels() * c.cap(c.tables.tree), most_of_trees(c)});
  }
  if (c.protocol == Protocol::ll) { bus = std::min(bus / 3.8, c.ll_cap()); }
  if (c.protocol == Protocol::ll128) {
    constexpr double kWithin = 7.0 / 9.0;
    const double cap = ll128_cap(c, c.tables.tree_ll128) * (c.tables.tree_most[0] > 0 ? kWithin : 1);
    bus = std::min(bus * (c.nodes() == 1 ? kWithin : c.tables.tree_ll128_share), c.channels() * cap);
  }
  return c.graph.pattern == NcclPattern::tree ? bus * c.tables.lone_tree_share : bus;
}

double direct_rate(const Case& c, double bus) {
  if (c.gathers() && c.tables.collnet_gathers_by_share) {
    const double weight = (c.per_node() - 1) / 7;
    return c.per_node() * c.graph.speed_intra * (weight * 0.85 + (1 - weight) * 0.95);
  }
  if (c.gathers()) { return c.per_node() * std::min(c.graph.speed_intra, c.graph.speed_inter * 0.9); }
  double gpus_per_nic = c.per_node() / c.channels();
  gpus_per_nic -= (gpus_per_nic - 1) / 2;
  return bus / gpus_per_nic * (c.communicator.least_capability >= 90 ? c.tables.direct_hopper_share : 1);
}

/// RCCL has shares in place of formulas; on one node LL is faster where one rank sends to all or gets from all.
double rccl_bus_rate(const Case& c, const RcclTuningModel& model) {
  const auto& shares = model.share.at(c.nodes() <= 2 ? 0 : 1);
  const double bus = c.channels() * channel_rate(c) * c.latency_of(shares, c.algorithm);
  const bool rooted = c.function == NcclFunction::broadcast || c.function == NcclFunction::reduce;
  const bool favoured = rooted && c.algorithm == Algorithm::ring && c.protocol == Protocol::ll && c.nodes() == 1;
  return favoured ? bus * 1.65 : bus;
}

double bus_rate(const Case& c) {
  if (const RcclTuningModel* const rccl = rccl_tuning_model(c.communicator)) { return rccl_bus_rate(c, *rccl); }
  double bus = c.channels() * channel_rate(c);
  const double most = c.tables.most.at(c.generation());
  if (most > 0) { bus = std::min(bus, most); }
  switch (c.algorithm) {
    case Algorithm::ring: return ring_rate(c, bus);
    case Algorithm::tree: return tree_rate(c, bus);
    case Algorithm::collnet_direct: return direct_rate(c, bus);
    case Algorithm::pat: return bus * 0.75;
    case Algorithm::collnet_chain: return bus * c.tables.chain_share;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: break;
  }
  return bus;
}

/// GB/s of the call's bytes for each GB/s on the bus.
double share_of_bus(const Case& c) {
  const bool nvls = c.algorithm == Algorithm::nvls || c.algorithm == Algorithm::nvls_tree;
  if (c.algorithm == Algorithm::ring) { return c.ranks() / c.steps(); }
  if (nvls && c.tables.nvls_rate == Tables::NvlsRate::rings) { return 0.75; }
  if (c.gathers()) { return nvls && c.tables.nvls_gathers_at_five_sixths ? 5.0 / 6.0 : 1; }
  if (!nvls) { return 0.5; }
  switch (c.tables.nvls_rate) {
    case Tables::NvlsRate::efficiency: return c.ranks() / c.steps();
    case Tables::NvlsRate::five_sixths: return 5.0 / 6.0;
    case Tables::NvlsRate::rings:
    case Tables::NvlsRate::share_of_nodes: break;
  }
  return c.algorithm == Algorithm::nvls ? 5.0 / 6.0 : 0.7 * c.nodes() / (2 * (std::max(c.nodes(), 2.0) - 1));
}

/// Of a step within a node, over NVLink alone or not. On POWER a tree's Simple step over PCIe counts as a ring's.
double step_within(const Case& c, Algorithm algorithm) {
  const double stretch = c.nodes() > 1 && c.protocol == Protocol::ll ? c.tables.ll_step_between_nodes : 1;
  if (c.graph.type_intra == NcclPath::nvl) { return stretch * c.latency_of(c.tables.nvlink, algorithm); }
  const bool power = c.communicator.cpu == CpuArchitecture::power;
  const bool as_ring = power && algorithm == Algorithm::tree && c.protocol == Protocol::simple;
  return stretch * c.latency_of(c.tables.pcie, as_ring ? Algorithm::ring : algorithm);
}

/// Of a step between nodes: that of the NIC comes once more with Simple, which flushes what has arrived.
double step_across(const Case& c) {
  const bool as_tree = c.tables.lone_ranks_pay_tree && c.communicator.ranks == c.communicator.nodes;
  const double step = c.latency_of(c.tables.network, as_tree ? Algorithm::tree : c.algorithm);
  switch (c.tables.nic_latency) {
    case Tables::NicLatency::beside: return step + c.graph.latency_inter * (c.protocol == Protocol::simple ? 2 : 1);
    case Tables::NicLatency::instead: return c.graph.latency_inter > 0 ? c.graph.latency_inter : step;
    case Tables::NicLatency::none: break;
  }
  return step;
}

/// To post one message, in us.
double network_overhead(const NcclCommunicator& communicator) {
  if (communicator.environment.network_overhead) { return *communicator.environment.network_overhead; }
  return communicator.cpu == CpuArchitecture::x86 && communicator.vendor == CpuVendor::amd ? 2.0 : 1.0;
}

double rooted_ring_latency(const Case& c) {
  const auto step = [&](Algorithm algorithm) {
    return c.nodes() > 1 ? c.latency_of(c.tables.network, algorithm) : step_within(c, algorithm);
  };
  if (c.graph.same_channels) { return step(Algorithm::ring); }
  return c.steps() * step(c.protocol == Protocol::simple ? Algorithm::tree : Algorithm::ring);
}

double ring_latency(const Case& c) {
  if (!c.all_reduces() && !c.gathers()) { return rooted_ring_latency(c); }
  double within = step_within(c, c.algorithm);
  if (c.nodes() == 1) { return c.steps() * within; }
  if (c.tables.pays_posts) {
    within = std::max(within, network_overhead(c.communicator) * (c.protocol == Protocol::simple ? 3 : 1));
  }
  const double crossed = !c.all_reduces()                ? c.nodes() - 1
                         : c.tables.ring_pays_every_node ? 2 * c.nodes()
                                                         : 2 * (c.nodes() - 1);
  return (c.steps() - crossed) * within + crossed * step_across(c);
}

/// Ranks of a node after its first, as NCCL counts them: whole ones.
double followers(const Case& c) {
  const std::uint32_t whole = c.communicator.ranks / c.communicator.nodes;
  return whole - 1;
}

double steps_latency(const Case& c) {
  const double within = step_within(c, c.algorithm);
  const double across = step_across(c);
  const double levels = floor_log2(c.communicator.nodes);
  switch (c.algorithm) {
    case Algorithm::tree: return c.all_reduces() ? 2 * (followers(c) * within + levels * across) : 0;
    case Algorithm::ring: return ring_latency(c);
    case Algorithm::collnet_direct:
      return 2 * (std::min(1.0, followers(c)) * within + followers(c) * c.tables.direct_serial) + across;
    case Algorithm::collnet_chain: return 2 * followers(c) * within + (c.tables.chain_pays_network ? across : 0);
    case Algorithm::nvls: return within + (c.nodes() > 1 ? across : 0);
    case Algorithm::nvls_tree:
      return within + 2 * (c.tables.nvls_tree_pays_every_node ? c.nodes() - 1 : levels) * across;
    case Algorithm::pat: break;
  }
  return levels * (across / 3.5) + c.ranks() * 2.8;
}

}  // namespace

std::size_t nccl_generation(const NcclCommunicator& communicator) {
  const std::uint32_t capability = communicator.least_capability;
  return capability >= 100 ? 3 : capability >= 90 ? 2 : capability >= 80 ? 1 : 0;
}

std::uint32_t floor_log2(std::uint64_t value) { return static_cast<std::uint32_t>(std::bit_width(value)) - 1; }

const ChannelGraph& graph_of(const NcclCommunicator& communicator, NcclAlgorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring: return communicator.graphs.ring;
    case Algorithm::collnet_direct: return communicator.graphs.collnet_direct;
    case Algorithm::collnet_chain: return communicator.graphs.collnet_chain;
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return communicator.graphs.nvls;
    case Algorithm::tree:
    case Algorithm::pat: break;
  }
  return communicator.graphs.tree;
}

bool nccl_has(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
              NcclProtocol protocol) {
  const Tables& tables = tuning_tables(communicator);
  if (algorithm == Algorithm::ring) { return true; }
  if (algorithm != Algorithm::tree && protocol != Protocol::simple) { return false; }
  switch (function) {
    case NcclFunction::broadcast:
    case NcclFunction::reduce: return false;
    case NcclFunction::all_reduce: return algorithm != Algorithm::pat;
    case NcclFunction::all_gather:
    case NcclFunction::reduce_scatter: break;
  }
  if (tables.gathers_by_ring_only) { return false; }
  return algorithm == Algorithm::nvls || algorithm == Algorithm::collnet_direct ||
         (algorithm == Algorithm::pat && tables.has_pat);
}

double nccl_rate(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
                 NcclProtocol protocol) {
  const Case c = case_of(communicator, function, algorithm, protocol);
  if (c.graph.channels.empty()) { return 0; }
  return bus_rate(c) * share_of_bus(c);
}

double nccl_latency(const NcclCommunicator& communicator, NcclFunction function, NcclAlgorithm algorithm,
                    NcclProtocol protocol) {
  const Case c = case_of(communicator, function, algorithm, protocol);
  return c.latency_of(c.tables.base, algorithm) + steps_latency(c);
}

}  // namespace athanor
