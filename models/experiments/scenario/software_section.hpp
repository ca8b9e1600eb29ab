#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "models/library/library.hpp"
#include "models/mpi/library.hpp"
#include "models/software/nccl.hpp"
#include "models/software/software_pool.hpp"
#include "models/training/compute_pool.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct CaseParts;
struct Platform;

/// The pool that prices stacks nobody has calibrated.
constexpr std::string_view kDefaultPool = "nccl";
/// The one that computes where no compute profile is named.
constexpr std::string_view kStepPool = "steps";

/// How many processes drive the GPUs of a node.
enum class Launch : std::uint8_t { process_per_gpu, process_per_node };

/// What a stack consists of: a library of MPI that chooses algorithms, whose costs a profile has; or NCCL's without a
/// profile of its own, whose figures are those that a pool expects of its parts.
struct SoftwareSection {
  std::optional<MpiLibrary> mpi;  ///< then nothing below counts
  std::string pool{kDefaultPool};
  std::optional<NcclVersion> version;  ///< none: the newest known
  std::string transport;               ///< of transports(), between nodes; "": as the nodes' NICs are
  Launch launch = Launch::process_per_gpu;
};
void visit(Fields& fields, SoftwareSection& section);

/// A pool of the library's, or the file of this name. Throws FileError, ScenarioError.
SoftwarePool read_pool(const Library& library, const std::string& name);

/// Pools, each read once.
class PoolCache {
 public:
  /// One of the library's, or the file of this name, seen from the scenario. Throws as read_pool().
  std::shared_ptr<const SoftwarePool> pool(const Library& library, const FileReader& files, const std::string& name);
  /// How far predictions of the library's pool were off; null: there is none, or nothing was held out.
  std::shared_ptr<const std::vector<PredictionError>> errors(const Library& library);
  /// What measured steps of training tell; null: the library has no such pool. Throws as read_pool().
  std::shared_ptr<const ComputePool> steps(const Library& library);

 private:
  std::shared_ptr<const ComputePool> steps_;
  std::map<std::string, std::shared_ptr<const SoftwarePool>> pools_;
};

/// Whether the scenario asks for what NCCL would not do by itself: schedules that are not NCCL's, or cut otherwise.
enum class Schedules : std::uint8_t { of_nccl, of_the_user };

/// Reports what a library of MPI in "software" does not go with, on such a platform; where no "profile" says what it
/// costs, the ideal one says so. Requires one.
void check_mpi(const Platform& own, CaseParts& parts);

/// Gives the case's platform the profile that a pool expects of its parts, as seen by ranks that are `own` platform:
/// where "software" asks for it, and where a scenario of NVIDIA's or AMD's GPUs has no "profile", NCCL's schedules, and
/// a machine that NCCL runs on; elsewhere the ideal profile says why it is that. Reports what "software" does not go
/// with. Requires no library of MPI in it.
void price_by_pool(const Platform& own, std::uint32_t ranks, Schedules schedules, CaseParts& parts);

}  // namespace athanor
