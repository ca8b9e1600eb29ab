#include "models/engines/catalog.hpp"

namespace athanor {

// NVIDIA SHARP in InfiniBand switches. Aggregation nodes add up in a fixed order, so that results are reproducible.
//
// Of an aggregation node no document says how long it takes. 460 ns for every message to or from one follow from one
// published figure, the 2.83 us of 8 bytes over 128 hosts (COMHPC 2016): four such messages, two tiers of switches of
// 90 ns and the software of a host, whose cost the same paper's 6.01 us of seven host messages gives. All generations
// are given that figure, since nothing newer says otherwise.

namespace {

using namespace literals;

constexpr Time kNode = 460_ns;

/// Waves of at most one transaction's payload, of which several are under way.
Protocol low_latency(Bytes payload, Bandwidth reduce_rate) {
  Protocol mode;
  mode.name = "LLT";
  mode.chunk = payload;
  mode.slots = 64;
  mode.aggregation.latency = kNode;
  mode.aggregation.outstanding = 8;
  mode.aggregation.reduce_rate = reduce_rate;
  return mode;
}

/// Packets are added up as they come, at line rate. Of the two paths the faster one at each size is taken.
Protocol streaming() {
  Protocol mode;
  mode.name = "SAT";
  mode.start = 5_us;
  mode.chunk = 64_KiB;
  mode.slots = 8;
  // A packet of 2048 bytes has headers and checks of 82: local route 8, global route 40, base transport 12, SHARP's
  // own 16, CRCs 6.
  mode.aggregation.payload = {2048, 2048 + 82};
  mode.aggregation.latency = kNode;
  mode.aggregation.grain = 2_KiB;
  mode.aggregation.streaming = true;
  return mode;
}

constexpr Bytes kStreamingLimit{1'073'741'792};

std::vector<DataType> first_types() {
  return {DataType::float16, DataType::float32, DataType::float64, DataType::int32, DataType::int64};
}

std::vector<DataType> later_types() {
  std::vector<DataType> types = first_types();
  types.push_back(DataType::bfloat16);
  types.push_back(DataType::int8);
  return types;
}

/// An average is a sum that hosts divide.
std::vector<Reduction> hardware_reductions() {
  return {Reduction::sum, Reduction::minimum, Reduction::maximum, Reduction::average};
}

}  // namespace

EngineModel sharp_v1_engine() {
  EngineModel engine;
  engine.name = "sharp_v1";
  engine.summary = "SHARP in EDR switches (Switch-IB 2): reductions of 256 bytes, low latency only";
  engine.limits.trees = 63;
  engine.limits.streams = 0;
  engine.limits.types = first_types();
  engine.limits.reductions = hardware_reductions();
  // All that an aggregation node takes and gives goes through one port of its own, of 12.5 GB/s: a reduction takes the
  // inputs and then the results, in packets of 256 bytes and 48 of headers: 12.5 GB/s * 256 / 304 / 2.
  engine.modes = {low_latency(256_B, Bandwidth{5'263'000'000})};
  engine.source =
      "Graham et al., Scalable Hierarchical Aggregation Protocol (SHArP), COMHPC 2016; NVIDIA SHARP Rev 2.6.1, "
      "Collective Library (payload of one transaction: 256 B on Switch-IB 2)";
  engine.assumed =
      "460 ns per message to or from a node (from the paper's 8-byte figure); eight transactions under way; inputs and "
      "results share one internal port of 12.5 GB/s; 63 trees as with Quantum";
  return engine;
}

EngineModel sharp_v2_engine() {
  EngineModel engine;
  engine.name = "sharp_v2";
  engine.summary = "SHARP in HDR switches (Quantum): low latency, and streaming of one tree at a time in a switch";
  engine.limits.trees = 63;
  engine.limits.streams = 63;
  engine.limits.streams_per_switch = 1;
  engine.limits.message = kStreamingLimit;
  engine.limits.types = first_types();
  engine.limits.reductions = hardware_reductions();
  engine.modes = {low_latency(2_KiB, 25_GBps), streaming()};
  engine.modes.front().to = 16_KiB;  // beyond it libraries stream or leave it to hosts
  engine.source =
      "NVIDIA SHARP Rev 3.13.0, General Information (63 low latency and 63 streaming trees in a subnet, one active "
      "streaming tree per switch); Rev 2.6.1, Collective Library (2048 B per transaction; at most 1,073,741,792 B per "
      "streaming operation); Graham et al., SHARP Streaming-Aggregation Hardware Design and Evaluation, ISC 2020 (95 % "
      "of network bandwidth)";
  engine.assumed =
      "460 ns per message to or from a node, as in sharp_v1; eight transactions under way, taken in at the rate of one "
      "port; packets of 2048 B with 82 B of headers; 5 us more to begin a streaming operation than one of low latency, "
      "as the two paths differ in "
      "NVIDIA's table of 128 hosts; low latency up to 16 KiB";
  return engine;
}

EngineModel sharp_v3_engine() {
  EngineModel engine = sharp_v2_engine();
  engine.name = "sharp_v3";
  engine.summary = "SHARP in NDR switches (Quantum-2): one streaming tree per port, many tenants";
  engine.limits.trees = 511;
  engine.limits.streams = 511;
  engine.limits.streams_per_switch = UINT32_MAX;
  engine.limits.streams_per_port = 1;
  engine.limits.types = later_types();
  engine.modes.front().aggregation.reduce_rate = 50_GBps;
  engine.source =
      "NVIDIA SHARP Rev 3.13.0, General Information (511 low latency and 511 streaming trees in a subnet, one active "
      "streaming tree per port); Rev 3.5.0, Collective Library (16-bit bfloat and 8-bit integer)";
  return engine;
}

EngineModel sharp_v4_engine() {
  EngineModel engine = sharp_v3_engine();
  engine.name = "sharp_v4";
  engine.modes.front().aggregation.reduce_rate = 100_GBps;
  engine.summary = "SHARP in XDR switches (Quantum-X800): as sharp_v3, as far as public documents go";
  engine.source =
      "NVIDIA SHARP Rev 3.13.0, General Information (Quantum-3 is supported; no limits of its own are given)";
  engine.assumed = "everything but the rate of the links: limits, types and costs of sharp_v3";
  return engine;
}

// NACA, a reference architecture of operators: hosts hand a collective to a NIC that offloads it, the switches next to
// hosts and those above add up, and a controller places trees. So it is a composition: SHARP's kind of engine in every
// switch, over RoCE packets, with the NIC's costs in place of the host's.

using namespace literals;

EngineModel naca_engine() {
  EngineModel engine = sharp_v3_engine();
  engine.name = "naca";
  engine.summary = "NACA: engines in Ethernet switches under a controller, behind NICs that offload";
  engine.exclusive = false;
  for (Protocol& mode : engine.modes) { mode.aggregation.payload = {1024, 1024 + 82}; }
  engine.source =
      "no public text of the architecture was found; nearest: draft-yao-tsvwg-cco-requirement-and-analysis (China "
      "Mobile and others) and draft-lou-rtgwg-sinc (Huawei and China Mobile), IETF";
  engine.assumed =
      "engines with the limits and costs of sharp_v3, shared by jobs, over RoCE packets of 1,024 B with 82 B of "
      "headers; "
      "combine it with \"offload\" for its NICs";
  return engine;
}

}  // namespace athanor
