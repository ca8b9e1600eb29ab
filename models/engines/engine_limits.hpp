#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/schedule/reduction.hpp"
#include "sim/units.hpp"

namespace athanor {

/// Where an engine of the network sits.
enum class EnginePlace : std::uint8_t {
  every_switch,  ///< in switches of all tiers
  leaf,          ///< in, or beside, the switches next to hosts alone
  nvswitch,      ///< in the NVSwitches of a node; no aggregation manager
  nic,           ///< in the NICs; no aggregation manager
};

/// What engines of one kind can do, as their documents say; what those do not limit is at its maximum.
struct EngineLimits {
  EnginePlace place = EnginePlace::every_switch;
  std::vector<std::string> switches =
      {};                               ///< names, with * and ?, of those that have an engine; empty: all of the place
  std::uint32_t children = UINT32_MAX;  ///< of one node of a tree: ranks and other nodes
  std::uint32_t trees = UINT32_MAX;     ///< of low latency, in the whole fabric
  std::uint32_t streams = UINT32_MAX;   ///< streaming trees, in the whole fabric
  std::uint32_t streams_per_switch = UINT32_MAX;  ///< streaming trees that may be active in one switch
  std::uint32_t streams_per_port = UINT32_MAX;    ///< streaming trees over one port between switches, or to a host
  std::uint32_t workers = UINT32_MAX;             ///< of one job
  std::uint32_t jobs_per_switch = UINT32_MAX;     ///< jobs that hold memory of one switch
  Bytes message = Bytes::max();                   ///< of one operation
  std::vector<DataType> types = {};               ///< that it adds; empty: all
  std::vector<Reduction> reductions = {};         ///< empty: all
};

}  // namespace athanor
