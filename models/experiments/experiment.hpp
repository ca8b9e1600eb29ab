#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/experiments/record.hpp"
#include "models/network/network_settings.hpp"
#include "models/network/work_count.hpp"

namespace athanor {

struct Cluster;
struct EngineDeployment;
struct Profile;
struct SimulationOptions;

/// What an experiment runs on: a cluster, how data travels over it, and what software costs there.
struct Platform {
  std::shared_ptr<const Cluster> cluster;  ///< shared by cases whose "cluster", routing and seed are the same
  NetworkSettings network;                 ///< how data travels
  std::shared_ptr<const EngineDeployment> aggregation;  ///< engines of the network's switches; null: they have none
  std::shared_ptr<const Profile> profile;               ///< of a platform that has been read: never null
  std::uint64_t seed = 1;                               ///< of routing's choices and of what experiments draw

  /// Whether ranks share one machine: its memory, or its GPUs.
  bool shares_machine() const;
};

/// The same with another seed, by which routing chooses anew.
Platform with_seed(const Platform& platform, std::uint64_t seed);

/// The same seen by ranks on some of its endpoints: they are all there are.
Platform on_endpoints(const Platform& platform, const std::vector<std::uint32_t>& endpoints);

/// The same for ranks on its first endpoints.
Platform on_first_endpoints(const Platform& platform, std::uint32_t ranks);

/// Where full buffers stop who fills them (packets under PFC or credits): whether routes may wait for each other in a
/// circle, in a sentence; "": they do not.
std::string circle_warning(const Platform& platform);

class Timeline;
struct Reference;

/// How experiments are run, which changes no result.
struct RunOptions {
  bool classes = true;           ///< simulate one of each class of equal agents (exact)
  bool repeat_loops = true;      ///< multiply loops that repeat (exact)
  std::uint32_t threads = 1;     ///< of one simulation, at most; no more are used than the machine has processors
  bool ports = false;            ///< Record::ports
  bool flows = false;            ///< Record::flows
  bool per_job = false;          ///< Record::per_job
  Timeline* timeline = nullptr;  ///< draws what is simulated; null: nothing does
  std::stop_token stop = {};     ///< ends a simulation that is under way
};

/// Of a platform, with these options.
SimulationOptions simulation_options(const Platform& platform, const RunOptions& options);

/// One run of an experiment.
struct Run {
  const Platform& platform;
  Bytes size;  ///< one of Experiment::sizes()
  const RunOptions& options;
  const Record& head;  ///< what every record of the run begins with
};

/// How runs of one row with different seeds become one.
struct RepetitionSummary {
  std::string_view shown;  ///< of the runs, in a row: "time, algbw and busbw are those of the median"
  /// That of the median, with percentiles. Requires at least one.
  Record (*row_of)(std::vector<Record> repetitions);
};

/// What not every kind of experiment can do.
enum class Ability : std::uint8_t {
  timeline,  ///< draw what happened when
  flows,     ///< list messages
  per_job,   ///< list the jobs of a workload
  ports,     ///< count what ports carry
  memory,    ///< say whether it fits into memory
};

/// Keys of a scenario that have no effect in a case.
struct IdleKeys {
  std::vector<const char*> keys;  ///< JSON pointers
  const char* why;                ///< they do nothing
  const char* instead;            ///< what to do
};

/// What is simulated on a platform: one of the kinds that experiment_kinds() lists, read from a scenario and ready.
class Experiment {
 public:
  virtual ~Experiment() = default;

  /// The key of a scenario that asks for it: "training".
  virtual std::string_view subject() const = 0;
  /// What it chooses first: "all_reduce", "incast", the name of a model.
  virtual std::string variant() const = 0;
  /// Endpoints that take part: in each of several jobs.
  virtual std::uint32_t ranks() const = 0;
  /// How many jobs run at the same time; 0: it does not speak of jobs.
  virtual std::uint32_t jobs() const { return 0; }
  /// One after the other; a single 0 where nothing has a size.
  virtual std::span<const Bytes> sizes() const = 0;
  /// The key of its section that says them.
  virtual std::string_view sizes_key() const { return "sizes"; }
  /// "all_reduce of 1 MiB": what progress and errors call one run.
  virtual std::string label(Bytes size) const = 0;

  /// Simulates one size. A record for each row of the table: several where it is told to report every algorithm.
  /// Throws SimulationError; Interrupted where the options' stop was asked for.
  virtual std::vector<Record> run(const Run& run) const = 0;
  /// What run() has to do, counted in advance. Throws SimulationError("no-route").
  virtual WorkCount work(const Platform& platform, Bytes size, const RunOptions& options) const = 0;
  /// Null: it runs with one seed, and a scenario that has "seeds" is refused.
  virtual const RepetitionSummary* repetitions() const { return nullptr; }

  /// The columns of its table. `seeds`: there are repetitions.
  virtual std::vector<const Column*> columns(bool seeds) const = 0;
  /// Columns that CSV always has, also where no record has a value.
  virtual std::vector<const Column*> csv_columns() const { return {}; }
  /// Lines above its table, each with its label: {"training", "Llama-3.1-8B on ..."}; "profile" where it has software.
  virtual std::vector<std::pair<std::string, std::string>> description(const Platform& platform) const = 0;
  /// "4 jobs of 8 ranks".
  virtual std::string participants() const;
  /// Lines below its table, each with '#' and line end.
  virtual std::string footer(const std::vector<Record>& records) const;
  /// What a user should know before it runs, beside warnings_of(platform).
  virtual std::vector<std::string> warnings(const Platform& platform) const;

  /// "": it can; else why it cannot, and what to do instead.
  virtual std::string refusal(const Platform& platform, Ability ability) const = 0;
  /// Whether it fits into the memory of its devices, as far as anybody knows.
  virtual bool fits_memory() const { return true; }
  /// What results are held against; none: nothing was measured.
  virtual std::optional<Reference> reference() const;

  /// Whether collectives run in it, whose software costs something and that engines and NCCL carry out.
  virtual bool has_collectives() const = 0;
  /// Whether switches may reduce for it, as far as its settings tell.
  virtual bool may_use_switches(const Platform& /*platform*/) const { return true; }
  /// Of its own section, and of others, those that do nothing in it.
  virtual std::vector<IdleKeys> idle_keys(const Platform& platform) const = 0;
  /// Keys that have nothing to act on, as JSON pointers, which are no mistake where they stand: others vary.
  virtual std::vector<std::string> keys_at_rest() const { return {}; }
  /// Throws UsageError where sizes that the command line asked for do not fit.
  virtual void check_asked_sizes() const = 0;
};

}  // namespace athanor
