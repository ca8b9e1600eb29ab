#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/bill/bill.hpp"
#include "models/experiments/experiment.hpp"
#include "models/experiments/scenario/sweep/plan.hpp"
#include "models/library/library.hpp"
#include "sim/error.hpp"
#include "topologies/generators/overrides.hpp"

namespace athanor {

class JsonValue;
class Problems;
class TraceCache;

/// Why a case is simulated in less detail than its scenario asks for.
struct Budget {
  NetworkSettings asked;        ///< what the scenario says
  double seconds = 0;           ///< that all cases together may take
  double asked_seconds = 0;     ///< that this one is expected to take as it was asked for
  double expected_seconds = 0;  ///< and as it is simulated
};

/// One experiment on one platform.
struct Case {
  std::string name;
  std::size_t place = 0;  ///< among the file's cases, from 0
  Platform platform;
  std::shared_ptr<const ClusterConfig> cluster_config;  ///< that the cluster was made from
  PriceList prices;                                     ///< of the cluster's parts, as far as the scenario says them
  std::vector<std::uint64_t> seeds;                     ///< of repetitions; empty: one run, with the platform's
  std::shared_ptr<const Experiment> experiment;
  std::optional<Budget> budget = {};          ///< that took detail from it; none: it is as it was asked for
  std::shared_ptr<const JsonValue> text;      ///< as it was read, its patch applied; only with an open plan or resolved
  std::shared_ptr<const JsonValue> resolved;  ///< with its defaults filled in; only when asked for

  /// Its experiment, if it is of this kind; else null.
  template <class Kind>
  const Kind* as() const {
    return dynamic_cast<const Kind*>(experiment.get());
  }
};

/// What the makers of the case's cluster and its experiment warn of.
std::vector<std::string> warnings_of(const Case& scenario_case);

/// A scenario file, ready to run.
struct Scenario {
  std::string path;
  std::string name;
  std::string hash;                    ///< of the file's text
  bool has_cases = false;              ///< else it is itself the only case
  std::vector<Case> cases;             ///< at least one
  std::shared_ptr<TraceCache> traces;  ///< that it was read with
  std::vector<SweepAxis> sweep;        ///< what `athanor sweep` varies; all else simulates the file as it stands
};

/// What the command line puts above the file.
struct ScenarioChanges {
  std::vector<std::string> settings;  ///< "/pointer=value"; win over cases too
  std::vector<std::string> cases;     ///< names of those to keep; empty: all
  std::optional<std::size_t> only;    ///< reads this one of the file's cases; the others are not looked at
  std::optional<std::vector<Bytes>> sizes;
  std::optional<std::uint64_t> seed;
  std::vector<LinkScaling> links;      ///< of all clusters
  std::shared_ptr<TraceCache> traces;  ///< of another reading, so that none is read twice; null: its own
  /// A training's plan is to be searched: what is wrong with the one that stands there is Training::plan_fault.
  bool open_plan = false;
  bool resolve = false;  ///< makes Case::resolved
};

/// Reads scenarios, and keeps what the next one may need, too: presets, a few clusters, algorithms and traces from
/// files. For one thread.
class ScenarioReader {
 public:
  explicit ScenarioReader(const Library& library);
  ~ScenarioReader();
  ScenarioReader(const ScenarioReader&) = delete;
  ScenarioReader& operator=(const ScenarioReader&) = delete;

  /// Reads a scenario and builds its clusters. All that is wrong with it is added to `problems`, and then the result
  /// is not to be used. Throws FileError for the file itself, UsageError for settings and case names that do not fit.
  Scenario read(const std::string& path, const ScenarioChanges& changes, Problems& problems);
  /// As if `text` stood in the file of this path.
  Scenario read_text(std::string text, const std::string& path, const ScenarioChanges& changes, Problems& problems);

 private:
  struct Caches;
  const Library& library_;
  std::unique_ptr<Caches> caches_;
};

/// The same of one file alone.
Scenario read_scenario(const std::string& path, const Library& library, const ScenarioChanges& changes,
                       Problems& problems);

/// Throws ScenarioError with all that is wrong with it, and as ScenarioReader::read.
Scenario read_scenario(const std::string& path, const Library& library, const ScenarioChanges& changes = {});

/// A scenario that reads to the same results, whatever becomes of defaults and calibrated profiles: with the changes
/// applied, every case whole, optional keys written out as far as they have an effect, and profiles in place of their
/// names. Presets of hardware and files keep their names. Throws as read_scenario.
JsonValue resolved_scenario(const std::string& path, const Library& library, ScenarioChanges changes);

/// The JSON Schema (draft-07) of what read_scenario accepts.
JsonValue scenario_schema(const Library& library);

}  // namespace athanor
