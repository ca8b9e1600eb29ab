#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/catalog.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "tools/measure/backend.hpp"

namespace athanor {

/// What `athanor measure` is asked for. Every combination of types, reductions, ranks and sizes is a point; at each
/// point all subjects are measured in turns.
struct MeasureRequest {
  using Imports = std::map<std::string, std::shared_ptr<const Algorithm>>;

  CollectiveKind kind = CollectiveKind::all_reduce;
  /// Of the catalog, of a backend's libraries, or keys of `imports`; "all": all of the catalog that fit.
  std::vector<std::string> algorithms;
  Imports imports;  ///< algorithms that were read from files, by the word that names them; outlive what is planned
  std::vector<std::uint32_t> ranks;
  std::vector<Bytes> sizes;
  std::vector<DataType> types;
  std::vector<Reduction> reductions;
  std::vector<bool> in_place;  ///< false, true or both; empty: both where an algorithm can
  std::uint32_t root = 0;
  std::uint32_t channels = 1;
  std::optional<Bytes> chunk;
  std::uint32_t slices = 1;
  std::uint32_t group = 0;
  Dimensions dimensions{};
  std::uint32_t rings = 0;
  std::optional<std::uint32_t> slots;
  std::uint32_t warm_up = 5;
  std::uint32_t iterations = 20;
  std::chrono::nanoseconds time_limit = std::chrono::minutes{1};
};

/// One way to carry out the collective of a point.
struct Subject {
  Backend* backend = nullptr;
  const Algorithm* algorithm = nullptr;  ///< null: the backend's library `name`
  std::string name;
  bool in_place = false;
};

/// What is measured under equal conditions.
struct MeasuredPoint {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::uint32_t ranks = 1;
  Bytes size;
  std::vector<Subject> subjects;
};

/// The collective that a subject of a point carries out, and how its payload is cut.
Collective collective_of(const MeasureRequest& request, const MeasuredPoint& point, bool in_place);
Layout layout_of(const MeasureRequest& request, DataType type);

/// All points in the order of measuring, each with at least one subject. `note` is told, once for each, which
/// algorithms "all" leaves out and why.
///
/// Throws ScenarioError for an algorithm that is unknown or does not fit though it was named, with those that fit, and
/// UsageError for ranks that a backend cannot have and sizes that are no whole number of elements.
std::vector<MeasuredPoint> plan(const MeasureRequest& request, const std::vector<Backend*>& backends,
                                const std::function<void(const std::string&)>& note);

/// Inputs, outputs and scratch of all agents: the least that a run of the schedule keeps in memory.
Bytes memory_of(const Schedule& schedule, DataType type);

}  // namespace athanor
