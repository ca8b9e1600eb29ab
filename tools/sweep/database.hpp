#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/experiments/scenario/sweep/plan.hpp"
#include "tools/cli/manifest.hpp"
#include "tools/sweep/sqlite.hpp"

namespace athanor {

/// What came of one point of a sweep.
struct SweepOutcome {
  std::uint64_t point = 0;
  std::vector<std::string> results;  ///< one JSON object each, as in `athanor run --json`
  std::vector<std::string> warnings;
  std::string error;   ///< of a point that failed: one JSON object, as in "error" of --json; "": it did not
  std::string host;    ///< that simulated it
  double seconds = 0;  ///< that it took there
  std::vector<Manifest::Input> inputs = {};  ///< files that its worker had not reported before
};

/// What a sweep is: the same text means the same results.
struct SweepIdentity {
  std::string scenario;       ///< path, as it was named
  std::string scenario_hash;  ///< of its text
  std::string scenario_text;
  std::string version;  ///< of athanor, with the commit
  std::string changes;  ///< JSON of what the command line changed beside the axes
  SweepPlan plan;
  std::string folder;  ///< of the scenario, and of presets and profiles, as canonical paths: what a file in them is
  std::string data;    ///< to the sweep is told by its way from there
};

/// The file of a sweep, in SQLite. Whatever write() has returned for survives the end of the process and of the
/// machine. Nothing in `points` and `results` depends on when, where and in which order points were simulated; that is
/// kept apart, in `executions`. All throw FileError, which names table and row, for what no sweep writes: the file may
/// have been anywhere.
class SweepDatabase {
 public:
  /// Makes the file, without a point, in place of any that is there: that stays until the new one is whole.
  static void create(const std::string& path, const SweepIdentity& identity);
  /// An existing one; `access`: write or read. FileError, too, for what is no sweep, and for one of another format.
  SweepDatabase(const std::string& path, SqliteFile::Access access);

  /// Throws FileError where the file is of another sweep; it names what differs.
  void require_same(const SweepIdentity& identity);
  const SweepPlan& plan() const { return plan_; }
  std::string about(std::string_view key) const;  ///< a value of `sweep`: "scenario", "version", ...; "": there is none

  /// By point: 0 not simulated, 1 simulated, 2 failed.
  enum class State : std::uint8_t { missing, done, failed };
  std::vector<State> states();

  /// The files that points rest on (the scenario, presets, profiles, traces), by path.
  std::vector<Manifest::Input> inputs();
  /// Throws FileError where a file held something else when other points were simulated: one of the same path, or one
  /// that lies where the other lay in the folder of the scenario or of presets and profiles.
  void add_inputs(const std::vector<Manifest::Input>& inputs);

  /// All in one transaction, durably, with their inputs. FileError where a point stands there already.
  void write(const std::vector<SweepOutcome>& outcomes);
  /// So that they are simulated anew.
  void forget_failed();

  /// What was found so far, by point.
  void each(const std::function<void(const SweepOutcome&)>& see);

 private:
  void read_facts();
  std::string part_of_sweep(const std::string& path) const;
  SweepOutcome outcome_of(const SqliteStatement& row) const;

  std::unique_ptr<SqliteFile> file_;
  SweepPlan plan_;
  std::map<std::string, std::string, std::less<>> facts_;  ///< of `sweep`
  std::string folder_;                                     ///< of this process, as in SweepIdentity
  std::string data_;
};

/// Absolute, without links and dots, wherever the file exists.
std::string canonical_path(const std::string& path);

}  // namespace athanor
