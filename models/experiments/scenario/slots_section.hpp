#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/engines/engine.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Cluster;

/// Those keys of a network's "aggregation" that say how programmable switches hold packets.
struct SlotsSection {
  std::optional<std::uint32_t> slots;
  std::optional<Ratio> loss;
  std::optional<Time> timeout;
  std::optional<std::uint32_t> window;
  std::optional<Bytes> payload;
  std::optional<Bytes> header;
  std::optional<std::vector<std::uint32_t>> servers;  ///< numbers of endpoints
  std::string first;                                  ///< of the keys that are there; "": none is
  SourceLocation place;                               ///< where the key `first` stands
  SourceLocation servers_place;
};

/// What does not go together with the engine is reported.
void visit(Fields& fields, const EngineModel& engine, SlotsSection& section);

/// Who uses the network.
struct SlotUsers {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;  ///< of each job; they are the first endpoints
  std::uint32_t jobs = 1;
  bool choose = false;  ///< has the scenario several algorithms?
  bool cuts = false;    ///< does the scenario say how many channels, or how large chunks or slices are?
};

/// Fills in slots and servers of `aggregation`, where its engine adds up packet by packet: always where it needs
/// servers, else where the section says something. Servers are on the endpoints behind all ranks where none are named;
/// none where these are not enough. What is wrong is added to `problems`.
void resolve(const SlotsSection& section, const Cluster& cluster, const SlotUsers& users, EngineDeployment& aggregation,
             Problems& problems);

}  // namespace athanor
