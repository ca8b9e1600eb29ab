#include <string>

#include <doctest/doctest.h>

#include "models/nccl/tuning/choice.hpp"
#include "sim/error.hpp"
#include "tests/models/nccl/nccl_systems.hpp"

using namespace athanor;
using namespace athanor::testing;

namespace {

using Algorithm = NcclAlgorithm;
using Protocol = NcclProtocol;

std::string obstacle(const NcclCommunicator& communicator, const NcclCall& call, Algorithm algorithm,
                     Protocol protocol = Protocol::simple) {
  return nccl_obstacle(communicator, call, algorithm, protocol);
}

std::string obstacle(const NcclCommunicator& communicator, Algorithm algorithm, Protocol protocol = Protocol::simple) {
  return obstacle(communicator, all_reduce_of(1048576), algorithm, protocol);
}

NcclCall typed(NcclType type, NcclOperation operation) {
  NcclCall call = all_reduce_of(1048576);
  call.type = type;
  call.operation = operation;
  return call;
}

bool mentions(const NcclChoice& choice, const std::string& text) {
  for (const std::string& each : choice.reasons) {
    if (each.find(text) != std::string::npos) { return true; }
  }
  return false;
}

}  // namespace

TEST_CASE("Each collective has NCCL's algorithms, and these their protocols") {
  const NcclCommunicator box = with_sharp(dgx_h100(2));
  for (const NcclFunction function : {NcclFunction::broadcast, NcclFunction::reduce}) {
    for (std::size_t i = 0; i < kNcclAlgorithms; ++i) {
      const bool ring = static_cast<Algorithm>(i) == Algorithm::ring;
      CHECK(obstacle(box, call_of(function, 8), static_cast<Algorithm>(i)).empty() == ring);
    }
  }
  CHECK(obstacle(box, call_of(NcclFunction::all_gather, 8), Algorithm::tree) == "Tree has no AllGather in NCCL 2.30");
  CHECK(obstacle(box, call_of(NcclFunction::all_gather, 8), Algorithm::nvls_tree) != "");
  CHECK(obstacle(box, call_of(NcclFunction::all_gather, 8), Algorithm::nvls) == "");
  CHECK(obstacle(box, Algorithm::pat) == "PAT has no AllReduce in NCCL 2.30");
  CHECK(obstacle(box, Algorithm::nvls, Protocol::ll) == "NVLS knows Simple alone");
  CHECK(obstacle(box, Algorithm::tree, Protocol::ll) == "");
}

TEST_CASE("NVLS needs Hopper, multicast, two GPUs of a node, and its variable") {
  CHECK(obstacle(dgx_h100(1), Algorithm::nvls) == "");
  CHECK(obstacle(with_variable(dgx_h100(1), "NCCL_NVLS_ENABLE", "0"), Algorithm::nvls) ==
        "NCCL_NVLS_ENABLE=0 turns it off");
  NcclCommunicator old = dgx_h100(1);
  old.least_capability = 80;
  CHECK(obstacle(old, Algorithm::nvls) == "NVLS needs Hopper or newer GPUs");
  NcclCommunicator plain = dgx_h100(1);
  plain.multicast = false;
  CHECK(obstacle(plain, Algorithm::nvls) == "no NVLink multicast here");
  NcclCommunicator alone = lone_h100(4);
  alone.graphs.nvls = found_graph(NcclPattern::nvls, 2, 40, 40);
  CHECK(obstacle(alone, Algorithm::nvls_tree) == "NVLS needs two GPUs of a node");
  NcclCommunicator narrow = dgx_h100(1);
  narrow.graphs.nvls = found_graph(NcclPattern::nvls, 1, 40, 40);
  CHECK(obstacle(narrow, Algorithm::nvls) == "NVLS needs two channels");
  CHECK(obstacle(with_version(narrow, {2, 27, 5}), Algorithm::nvls) == "");
}

TEST_CASE("NVLS combines the types of NVSwitches") {
  const NcclCommunicator box = dgx_h100(1);
  CHECK(obstacle(box, typed(NcclType::bfloat16, NcclOperation::maximum), Algorithm::nvls) == "");
  CHECK(obstacle(box, typed(NcclType::float32, NcclOperation::sum), Algorithm::nvls) == "");
  for (const NcclCall& call :
       {typed(NcclType::float32, NcclOperation::maximum), typed(NcclType::int8, NcclOperation::sum),
        typed(NcclType::float16, NcclOperation::product), typed(NcclType::float8_e4m3, NcclOperation::sum),
        typed(NcclType::float16, NcclOperation::average)}) {
    CHECK(obstacle(box, call, Algorithm::nvls) == "NVSwitches cannot combine this type so");
  }
  NcclCall gather = call_of(NcclFunction::all_gather, 8);
  gather.type = NcclType::int8;
  CHECK(obstacle(box, gather, Algorithm::nvls) == "");
}

TEST_CASE("NVLSTree is for several nodes, NVLS between nodes for CollNet") {
  CHECK(obstacle(dgx_h100(1), Algorithm::nvls_tree) == "NVLSTree is for several nodes");
  CHECK(obstacle(dgx_h100(2), Algorithm::nvls_tree) == "");
  CHECK(obstacle(dgx_h100(2), Algorithm::nvls) ==
        "between nodes NVLS needs CollNet: CollNet is off; NCCL_COLLNET_ENABLE=1 turns it on");
  CHECK(obstacle(with_sharp(dgx_h100(2)), Algorithm::nvls) == "");
}

TEST_CASE("CollNet needs its variable, its plugin, two nodes and a type that switches add up") {
  const NcclCommunicator box = with_sharp(dgx_h100(4));
  CHECK(obstacle(box, Algorithm::collnet_direct) == "");
  CHECK(obstacle(box, Algorithm::collnet_chain) == "");
  CHECK(obstacle(with_variable(box, "NCCL_COLLNET_ENABLE", "0"), Algorithm::collnet_chain) ==
        "CollNet is off; NCCL_COLLNET_ENABLE=1 turns it on");
  NcclCommunicator without = box;
  without.collnet.present = false;
  CHECK(obstacle(without, Algorithm::collnet_chain) == "no plugin for CollNet is there");
  CHECK(obstacle(with_sharp(dgx_h100(1)), Algorithm::collnet_chain) == "CollNet begins at 2 nodes");
  CHECK(obstacle(with_variable(box, "NCCL_COLLNET_NODE_THRESHOLD", "5"), Algorithm::collnet_chain) ==
        "CollNet begins at 5 nodes");
  CHECK(obstacle(box, typed(NcclType::float32, NcclOperation::average), Algorithm::collnet_chain) ==
        "the network's switches cannot combine this type so");
  NcclCommunicator first = box;
  first.collnet.short_types = false;
  CHECK(obstacle(box, typed(NcclType::bfloat16, NcclOperation::sum), Algorithm::collnet_chain) == "");
  CHECK(obstacle(first, typed(NcclType::bfloat16, NcclOperation::sum), Algorithm::collnet_chain) != "");
}

TEST_CASE("CollNet stops at eight ranks of a node, CollNetDirect needs NVSwitches") {
  NcclCommunicator sixteen = with_sharp(dgx_h100(4));
  sixteen.ranks = 64;
  sixteen.most_local_ranks = 16;
  CHECK(obstacle(sixteen, Algorithm::collnet_direct) == "CollnetDirect is for 8 ranks of a node at most");
  CHECK(obstacle(sixteen, Algorithm::collnet_chain) == "CollnetChain is for 8 ranks of a node at most");
  NcclCommunicator mesh = with_sharp(dgx_h100(4));
  mesh.nvswitch = false;
  CHECK(obstacle(mesh, Algorithm::collnet_direct) == "CollnetDirect needs NVSwitches");
  CHECK(obstacle(mesh, Algorithm::collnet_chain) == "");
}

TEST_CASE("Gathers in the network need a plugin that has them and a NIC for every GPU") {
  NcclCommunicator box = with_sharp(dgx_h100(2));
  const NcclCall gather = call_of(NcclFunction::all_gather, 1048576);
  const NcclCall scatter = call_of(NcclFunction::reduce_scatter, 1048576);
  CHECK(obstacle(box, gather, Algorithm::collnet_direct) == "");
  box.collnet.gathers = false;
  CHECK(obstacle(box, gather, Algorithm::collnet_direct) == "CollNet's plugin has no AllGather");
  CHECK(obstacle(box, scatter, Algorithm::collnet_direct) == "");
  box.collnet.scatters = false;
  CHECK(obstacle(box, scatter, Algorithm::nvls) == "CollNet's plugin has no ReduceScatter");
  box = with_sharp(dgx_h100(2));
  box.collnet.heads = 4;
  CHECK(obstacle(box, gather, Algorithm::nvls) == "8 ranks of a node share 4 NICs with CollNet");
}

TEST_CASE("PAT is for one GPU on each node") {
  const NcclCall gather = call_of(NcclFunction::all_gather, 1048576);
  CHECK(obstacle(lone_h100(4), gather, Algorithm::pat) == "");
  CHECK(obstacle(dgx_h100(4), gather, Algorithm::pat) ==
        "PAT is for one GPU on each node and a network driven by the CPU");
  CHECK(obstacle(with_variable(lone_h100(4), "NCCL_PAT_ENABLE", "0"), gather, Algorithm::pat) ==
        "NCCL_PAT_ENABLE=0 turns it off");
  CHECK(obstacle(with_variable(dgx_h100(4), "NCCL_PAT_ENABLE", "1"), gather, Algorithm::pat) == "");
  NcclCommunicator offloaded = lone_h100(4);
  offloaded.host_network = false;
  CHECK(obstacle(offloaded, gather, Algorithm::pat) != "");
  NcclCall mean = call_of(NcclFunction::reduce_scatter, 1048576);
  mean.operation = NcclOperation::average;
  CHECK(obstacle(lone_h100(4), mean, Algorithm::pat) == "PAT cannot scale while it reduces");
}

TEST_CASE("PAT's prediction has a logarithm and a linear part") {
  const NcclEstimate pat =
      nccl_estimate(lone_h100(16), call_of(NcclFunction::all_gather, 1048576), Algorithm::pat, Protocol::simple);
  CHECK(pat.latency == doctest::Approx(8 + 4 * 14 / 3.5 + 16 * 2.8));
  CHECK(pat.bandwidth == doctest::Approx(2 * 24 * 0.75));
}

TEST_CASE("LL128 is for NVLink within a node, near NICs, and equal GPUs") {
  const auto ll128 = [](const NcclCommunicator& communicator) {
    return obstacle(communicator, Algorithm::ring, Protocol::ll128);
  };
  CHECK(ll128(dgx_a100(2)) == "");
  CHECK(ll128(pcie_box()) == "LL128 is for GPUs of a node that NVLink joins");
  NcclCommunicator far = dgx_a100(2);
  far.graphs.ring.type_inter = NcclPath::pxn;
  CHECK(ll128(far) == "LL128 reaches NICs up to PXB, and the path is PXN");
  far = dgx_h100(2);
  far.graphs.ring.type_inter = NcclPath::pxn;
  CHECK(ll128(far) == "");
  CHECK(ll128(with_variable(far, "NCCL_LL128_C2C", "0")) == "LL128 reaches NICs up to PXB, and the path is PXN");
  far.graphs.ring.type_inter = NcclPath::phb;
  CHECK(ll128(far) == "LL128 reaches NICs up to PXN, and the path is PHB");
  NcclCommunicator mixed = dgx_h100(2);
  mixed.greatest_capability = 100;
  CHECK(ll128(mixed) == "");
  CHECK(ll128(with_version(mixed, {2, 27, 5})) == "LL128 is not used between different GPUs");
  mixed.least_capability = 80;
  CHECK(ll128(mixed) == "LL128 is not used between different GPUs");
  NcclCommunicator pascal = dgx_a100(1);
  pascal.least_capability = pascal.greatest_capability = 60;
  CHECK(ll128(pascal) == "LL128 is not used on GPUs of compute capability 6.0");
  NcclCommunicator ada = dgx_a100(1);
  ada.least_capability = ada.greatest_capability = 89;
  CHECK(ll128(ada) == "");
  CHECK(ll128(with_version(ada, {2, 21, 5})) == "LL128 is not used on GPUs of compute capability 8.9");
}

TEST_CASE("CUDA 11.8 keeps two H100 from LL128") {
  NcclCommunicator pair = dgx_h100(1);
  pair.ranks = pair.most_local_ranks = 2;
  pair.cuda_11_8 = true;
  CHECK(obstacle(pair, Algorithm::ring, Protocol::ll128) == "CUDA 11.8 breaks LL128 between two H100");
  CHECK(obstacle(pair, Algorithm::tree, Protocol::ll128) == "");
}

TEST_CASE("Long rings of eight-bit floats are the last choice") {
  NcclCall call = all_reduce_of(1048576);
  call.type = NcclType::float8_e4m3;
  const double plain = nccl_estimate(dgx_h100(2), all_reduce_of(1048576), Algorithm::ring, Protocol::ll).time;
  CHECK(nccl_estimate(dgx_h100(2), call, Algorithm::ring, Protocol::ll).time == 1024 * plain);
  CHECK(nccl_choose(dgx_h100(2), call).algorithm == Algorithm::tree);
  CHECK(nccl_estimate(dgx_h100(1), call, Algorithm::ring, Protocol::ll).time ==
        nccl_estimate(dgx_h100(1), all_reduce_of(1048576), Algorithm::ring, Protocol::ll).time);
}

TEST_CASE("The call of one rank is a copy that Ring makes") {
  NcclCommunicator one = dgx_h100(1);
  one.ranks = one.most_local_ranks = 1;
  const NcclChoice choice = nccl_choose(one, all_reduce_of(1048576));
  CHECK(choice.algorithm == Algorithm::ring);
  CHECK(choice.protocol == Protocol::simple);
  CHECK(choice.time == 0);
}

TEST_CASE("What NCCL_ALGO forces and cannot run ends the call, and before 2.24 falls back to Ring") {
  const NcclCommunicator forced = with_variable(dgx_a100(2), "NCCL_ALGO", "NVLS");
  CHECK_THROWS_WITH_AS(
      nccl_choose(forced, all_reduce_of(8)),
      doctest::Contains("no algorithm/protocol available for function AllReduce with datatype ncclFloat32"),
      SimulationError);
  const NcclChoice old = nccl_choose(with_version(forced, {2, 21, 5}), all_reduce_of(8));
  CHECK(old.algorithm == Algorithm::ring);
  CHECK(mentions(old, "NCCL before 2.24 falls back to Ring"));
  CHECK(mentions(old, "NCCL_ALGO allows NVLS, which cannot run: the search found no channel for it"));
}

TEST_CASE("A forced algorithm that cannot run is named where another one is allowed") {
  const NcclChoice choice = nccl_choose(with_variable(dgx_h100(2), "NCCL_ALGO", "Ring,NVLS"), all_reduce_of(67108864));
  CHECK(choice.algorithm == Algorithm::ring);
  CHECK(mentions(choice, "NCCL_ALGO allows NVLS, which cannot run: between nodes NVLS needs CollNet"));
  CHECK_FALSE(
      mentions(nccl_choose(with_variable(dgx_h100(2), "NCCL_ALGO", "^Tree"), all_reduce_of(8)), "NCCL_ALGO allows"));
}

TEST_CASE("NCCL_ALGO=NVLS for all functions breaks those that NVLS does not have") {
  const NcclCommunicator forced = with_variable(dgx_h100(1), "NCCL_ALGO", "NVLS");
  CHECK(nccl_choose(forced, all_reduce_of(8)).algorithm == Algorithm::nvls);
  CHECK_THROWS_AS(nccl_choose(forced, call_of(NcclFunction::broadcast, 8)), SimulationError);
}

TEST_CASE("NCCL_PROTO switches LL128 on even where NCCL would not, which is said") {
  const NcclChoice choice = nccl_choose(with_variable(pcie_box(), "NCCL_PROTO", "^LL"), all_reduce_of(8));
  CHECK(choice.protocol != Protocol::ll);
  const NcclChoice forced = nccl_choose(with_variable(pcie_box(), "NCCL_PROTO", "LL128"), all_reduce_of(1048576));
  CHECK(forced.protocol == Protocol::ll128);
  CHECK(mentions(forced, "where it may corrupt data"));
  CHECK_FALSE(mentions(nccl_choose(with_variable(dgx_h100(1), "NCCL_PROTO", "LL128"), all_reduce_of(8)), "corrupt"));
}

TEST_CASE("Pipelined calls pay Ring's latency each and others' once for eight") {
  NcclCall call = all_reduce_of(8);
  call.pipelined = 9;
  const auto latency = [](const NcclCall& of, Algorithm algorithm) {
    return nccl_estimate(dgx_h100(1), of, algorithm, Protocol::ll).latency;
  };
  CHECK(latency(call, Algorithm::ring) == 9 * latency(all_reduce_of(8), Algorithm::ring));
  CHECK(latency(call, Algorithm::tree) == 2 * latency(all_reduce_of(8), Algorithm::tree));
}

TEST_CASE("The NIC's latency is paid once by LL and twice by Simple, and the CPU's vendor posts slower") {
  NcclCommunicator slow = dgx_h100(2);
  slow.graphs.ring.latency_inter = 10;
  const auto latency = [](const NcclCommunicator& communicator, Protocol protocol) {
    return nccl_estimate(communicator, all_reduce_of(8), Algorithm::ring, protocol).latency;
  };
  CHECK(latency(slow, Protocol::ll) - latency(dgx_h100(2), Protocol::ll) == doctest::Approx(2 * 10));
  CHECK(latency(slow, Protocol::simple) - latency(dgx_h100(2), Protocol::simple) == doctest::Approx(2 * 2 * 10));
  NcclCommunicator amd = dgx_h100(2);
  amd.vendor = CpuVendor::amd;
  CHECK(latency(amd, Protocol::ll) - latency(dgx_h100(2), Protocol::ll) == doctest::Approx(28 * 1.0));
  CHECK(latency(with_variable(amd, "NCCL_NET_OVERHEAD", "3000"), Protocol::ll) ==
        doctest::Approx(6.6 + 28 * 3 + 2 * 2.7));
}

TEST_CASE("Rooted rings pay one step where channels are the same, otherwise every rank's") {
  NcclCommunicator box = dgx_h100(2);
  const NcclCall call = call_of(NcclFunction::broadcast, 8);
  const auto latency = [&](Protocol protocol) { return nccl_estimate(box, call, Algorithm::ring, protocol).latency; };
  CHECK(latency(Protocol::ll) == doctest::Approx(6.6 + 2.7));
  box.graphs.ring.same_channels = false;
  CHECK(latency(Protocol::ll) == doctest::Approx(6.6 + 16 * 2.7));
  CHECK(latency(Protocol::simple) == doctest::Approx(8.4 + 16 * 14.0));
}

TEST_CASE("Where every node has one GPU a network step of a ring costs what a tree's does") {
  const NcclEstimate ring = nccl_estimate(lone_h100(4), all_reduce_of(8), Algorithm::ring, Protocol::ll);
  CHECK(ring.latency == doctest::Approx(6.6 + 6 * 5.0));
  const NcclEstimate old =
      nccl_estimate(with_version(lone_h100(4), {2, 21, 5}), all_reduce_of(8), Algorithm::ring, Protocol::ll);
  CHECK(old.latency == doctest::Approx(6.6 + 8 * 2.7 - 2 * 1.0));
}

TEST_CASE("On POWER a tree's Simple step over PCIe costs what a ring's does") {
  NcclCommunicator power = pcie_box();
  const auto latency = [&] {
    return nccl_estimate(power, all_reduce_of(8), Algorithm::tree, Protocol::simple).latency;
  };
  CHECK(latency() == doctest::Approx(8.4 + 2 * 7 * 4.0));
  power.cpu = CpuArchitecture::power;
  CHECK(latency() == doctest::Approx(8.4 + 2 * 7 * 5.7));
}
