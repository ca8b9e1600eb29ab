#include <algorithm>
#include <string>

#include <fmt/core.h>

#include "models/nccl/tuning/choice.hpp"
#include "models/nccl/tuning/rates.hpp"
#include "models/nccl/tuning/tables.hpp"

namespace athanor {

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

constexpr std::uint32_t kDirectRanks = 8;  ///< of a node with CollNet
constexpr std::uint32_t kNvlsRanks = 32;   ///< of a node for gathers with NVLS

bool is_nvls(Algorithm algorithm) { return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree; }

std::string missing_entry(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm,
                          Protocol protocol) {
  if (nccl_has(communicator, call.function, algorithm, protocol)) { return ""; }
  if (nccl_has(communicator, call.function, algorithm, Protocol::simple)) {
    return fmt::format("{} knows Simple alone", name(algorithm));
  }
  return fmt::format("{} has no {} in NCCL {}.{}", name(algorithm), name(call.function), communicator.version.major,
                     communicator.version.minor);
}

/// The in-network types of SHARP's plugin: sums, minima and maxima of 4 and 8 bytes and of half.
bool collnet_adds(const CollNetPlugin& plugin, NcclType type, NcclOperation operation) {
  if (operation != NcclOperation::sum && operation != NcclOperation::minimum && operation != NcclOperation::maximum) {
    return false;
  }
  switch (type) {
    case NcclType::int8:
    case NcclType::uint8:
    case NcclType::bfloat16: return plugin.short_types;
    case NcclType::float8_e4m3:
    case NcclType::float8_e5m2: return false;
    case NcclType::int32:
    case NcclType::uint32:
    case NcclType::int64:
    case NcclType::uint64:
    case NcclType::float16:
    case NcclType::float32:
    case NcclType::float64: break;
  }
  return true;
}

bool nvlink_adds(NcclType type, NcclOperation operation) {
  const bool orders = operation == NcclOperation::minimum || operation == NcclOperation::maximum;
  if (!orders && operation != NcclOperation::sum) { return false; }
  switch (type) {
    case NcclType::int32:
    case NcclType::uint32:
    case NcclType::int64:
    case NcclType::uint64:
    case NcclType::float16:
    case NcclType::bfloat16: return true;
    case NcclType::float32:
    case NcclType::float64: return !orders;
    case NcclType::int8:
    case NcclType::uint8:
    case NcclType::float8_e4m3:
    case NcclType::float8_e5m2: break;
  }
  return false;
}

bool reduces(NcclFunction function) {
  return function != NcclFunction::all_gather && function != NcclFunction::broadcast;
}

/// CollNet as a whole: on, there, and worth while.
std::string collnet_obstacle(const NcclCommunicator& communicator, const NcclCall& call) {
  const NcclEnvironment& environment = communicator.environment;
  if (!environment.collnet) { return "CollNet is off; NCCL_COLLNET_ENABLE=1 turns it on"; }
  if (!communicator.collnet.present) { return "no plugin for CollNet is there"; }
  const std::uint32_t least = std::max(environment.collnet_nodes, 2U);
  if (communicator.nodes < least) { return fmt::format("CollNet begins at {} nodes", least); }
  if (reduces(call.function) && !collnet_adds(communicator.collnet, call.type, call.operation)) {
    return "the network's switches cannot combine this type so";
  }
  return "";
}

/// All-gather and reduce-scatter in the network need one NIC for each GPU, and a plugin that has them.
std::string gather_obstacle(const NcclCommunicator& communicator, const NcclCall& call) {
  const CollNetPlugin& plugin = communicator.collnet;
  if (call.function == NcclFunction::all_reduce || communicator.nodes == 1) { return ""; }
  if (!(call.function == NcclFunction::all_gather ? plugin.gathers : plugin.scatters)) {
    return fmt::format("CollNet's plugin has no {}", name(call.function));
  }
  if (communicator.most_local_ranks > plugin.heads) {
    return fmt::format("{} ranks of a node share {} NICs with CollNet", communicator.most_local_ranks, plugin.heads);
  }
  return "";
}

std::string collnet_algorithm_obstacle(const NcclCommunicator& communicator, const NcclCall& call,
                                       Algorithm algorithm) {
  std::string why = collnet_obstacle(communicator, call);
  if (!why.empty()) { return why; }
  if (communicator.most_local_ranks > kDirectRanks) {
    return fmt::format("{} is for {} ranks of a node at most", name(algorithm), kDirectRanks);
  }
  if (algorithm == Algorithm::collnet_direct && !communicator.nvswitch) { return "CollnetDirect needs NVSwitches"; }
  return gather_obstacle(communicator, call);
}

std::string nvls_machine_obstacle(const NcclCommunicator& communicator, Algorithm algorithm) {
  const NcclTuningTables& tables = nccl_tuning_tables(communicator.version);
  if (!tables.has_nvls) { return "NVLS came with NCCL 2.17"; }
  if (algorithm == Algorithm::nvls_tree && !tables.has_nvls_tree) { return "NVLSTree came with NCCL 2.18"; }
  if (!communicator.environment.nvls) { return "NCCL_NVLS_ENABLE=0 turns it off"; }
  if (communicator.least_capability < 90) { return "NVLS needs Hopper or newer GPUs"; }
  if (!communicator.multicast) { return "no NVLink multicast here"; }
  if (communicator.most_local_ranks < 2) { return "NVLS needs two GPUs of a node"; }
  if (algorithm == Algorithm::nvls_tree && communicator.nodes == 1) { return "NVLSTree is for several nodes"; }
  const bool counts = tables.nvls_rate == NcclTuningTables::NvlsRate::efficiency;
  if (counts && communicator.graphs.nvls.count() < 2) { return "NVLS needs two channels"; }
  return "";
}

std::string nvls_obstacle(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm) {
  std::string why = nvls_machine_obstacle(communicator, algorithm);
  if (!why.empty()) { return why; }
  if (reduces(call.function) && !nvlink_adds(call.type, call.operation)) {
    return "NVSwitches cannot combine this type so";
  }
  if (call.function != NcclFunction::all_reduce && communicator.most_local_ranks > kNvlsRanks) {
    return fmt::format("NVLS gathers from {} ranks of a node at most", kNvlsRanks);
  }
  if (algorithm == Algorithm::nvls_tree || communicator.nodes == 1) { return ""; }
  why = collnet_obstacle(communicator, call);
  return why.empty() ? gather_obstacle(communicator, call) : "between nodes NVLS needs CollNet: " + why;
}

std::string pat_obstacle(const NcclCommunicator& communicator, const NcclCall& call) {
  if (communicator.rccl && !communicator.environment.pat.value_or(false)) {
    return "RCCL uses PAT where NCCL_PAT_ENABLE=1 asks for it";
  }
  if (communicator.least_capability < 60) { return "PAT needs GPUs of compute capability 6.0"; }
  const bool alone = communicator.ranks == communicator.nodes && communicator.host_network;
  if (!communicator.environment.pat.value_or(alone)) {
    return communicator.environment.pat ? "NCCL_PAT_ENABLE=0 turns it off"
                                        : "PAT is for one GPU on each node and a network driven by the CPU";
  }
  const bool scales = call.operation == NcclOperation::average || call.operation == NcclOperation::premultiplied_sum;
  return call.function == NcclFunction::reduce_scatter && scales ? "PAT cannot scale while it reduces" : "";
}

/// Of RCCL, which knows it on GPUs that it has a model of.
std::string rccl_ll128_obstacle(const NcclCommunicator& communicator, Algorithm algorithm) {
  const ChannelGraph& graph = graph_of(communicator, algorithm);
  if (graph.type_intra > NcclPath::nvl) { return "LL128 is for GPUs of a node that xGMI joins"; }
  if (communicator.nodes == 1 || graph.type_inter <= NcclPath::pxb) { return ""; }
  return fmt::format("LL128 reaches NICs up to {}, and the path is {}", name(NcclPath::pxb), name(graph.type_inter));
}

std::string ll128_obstacle(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm) {
  if (rccl_tuning_model(communicator) != nullptr) { return rccl_ll128_obstacle(communicator, algorithm); }
  const NcclTuningTables& tables = nccl_tuning_tables(communicator.version);
  const ChannelGraph& graph = graph_of(communicator, algorithm);
  const std::uint32_t least = communicator.least_capability;
  const bool hopper = least >= 90;
  const bool mixed = least != communicator.greatest_capability;
  const auto& known = tables.ll128_capabilities;
  if (tables.by_threshold) { return "LL128 came with NCCL 2.5"; }
  if (graph.type_intra > (tables.ll128_over_third_gpu ? NcclPath::nvb : NcclPath::nvl)) {
    return "LL128 is for GPUs of a node that NVLink joins";
  }
  const NcclPath farthest = hopper && communicator.environment.ll128_over_c2c ? NcclPath::pxn : NcclPath::pxb;
  if (communicator.nodes > 1 && graph.type_inter > farthest) {
    return fmt::format("LL128 reaches NICs up to {}, and the path is {}", name(farthest), name(graph.type_inter));
  }
  if (least < 70 || (!known.empty() && std::find(known.begin(), known.end(), least) == known.end())) {
    return fmt::format("LL128 is not used on GPUs of compute capability {}.{}", least / 10, least % 10);
  }
  if (mixed && !(hopper && tables.ll128_mixed)) { return "LL128 is not used between different GPUs"; }
  const bool pair = communicator.ranks == 2 && algorithm == Algorithm::ring && least == 90;
  if (pair && communicator.cuda_11_8 && call.function == NcclFunction::all_reduce) {
    return "CUDA 11.8 breaks LL128 between two H100";
  }
  return "";
}

std::string masked(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm, Protocol protocol) {
  const auto function = static_cast<std::size_t>(call.function);
  const NcclEnvironment& environment = communicator.environment;
  if (environment.algorithms.at(function).at(static_cast<std::size_t>(algorithm)) == NcclEnable::off) {
    return "NCCL_ALGO leaves it out";
  }
  const NcclEnable enable = environment.protocols.at(function).at(static_cast<std::size_t>(protocol));
  if (enable == NcclEnable::off) { return "NCCL_PROTO leaves it out"; }
  const bool asked = enable == NcclEnable::on;
  return protocol == Protocol::ll128 && !asked ? ll128_obstacle(communicator, call, algorithm) : "";
}

/// NCCL 2.4: an all-reduce goes by trees up to a size, and by rings beyond; where one is ruled out, by the other.
std::string threshold_obstacle(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm) {
  const NcclTuningTables& tables = nccl_tuning_tables(communicator.version);
  if (!tables.by_threshold || call.function != NcclFunction::all_reduce) { return ""; }
  const std::optional<Bytes> threshold = nccl_tree_threshold(communicator);
  const bool tree = !threshold || call.bytes <= *threshold;
  const Algorithm taken = tree ? Algorithm::tree : Algorithm::ring;
  const auto& enabled = communicator.environment.algorithms.at(static_cast<std::size_t>(call.function));
  if (algorithm == taken || enabled.at(static_cast<std::size_t>(taken)) == NcclEnable::off) { return ""; }
  if (!threshold) { return "NCCL 2.4 goes by trees here, whatever the size; NCCL_TREE_THRESHOLD says otherwise"; }
  return fmt::format("NCCL 2.4 goes by trees here up to {} bytes; NCCL_TREE_THRESHOLD says otherwise",
                     threshold->count());
}

std::string own_obstacle(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm,
                         Protocol protocol) {
  const bool tree = algorithm == Algorithm::tree && protocol == Protocol::simple;
  if (tree && communicator.nodes == 1 && rccl_tuning_model(communicator) != nullptr) {
    return "RCCL leaves Tree with Simple out on one node";
  }
  if (graph_of(communicator, algorithm).channels.empty()) { return "the search found no channel for it"; }
  if (is_nvls(algorithm)) { return nvls_obstacle(communicator, call, algorithm); }
  if (algorithm == Algorithm::pat) { return pat_obstacle(communicator, call); }
  if (algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain) {
    return collnet_algorithm_obstacle(communicator, call, algorithm);
  }
  return "";
}

}  // namespace

std::string nccl_obstacle(const NcclCommunicator& communicator, const NcclCall& call, NcclAlgorithm algorithm,
                          NcclProtocol protocol) {
  if (communicator.ranks == 1) {
    const bool copies = algorithm == Algorithm::ring && protocol == Protocol::simple;
    return copies ? "" : "one rank alone copies";
  }
  std::string why = missing_entry(communicator, call, algorithm, protocol);
  if (why.empty()) { why = own_obstacle(communicator, call, algorithm, protocol); }
  if (why.empty()) { why = threshold_obstacle(communicator, call, algorithm); }
  return why.empty() ? masked(communicator, call, algorithm, protocol) : why;
}

}  // namespace athanor
