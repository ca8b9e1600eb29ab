#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/reduction.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

class FileReader;

/// How `athanor measure` was told to run: what every row has in common.
struct MeasurementSettings {
  std::string backend;  ///< "threads", "mpi", "cuda"; "mpi,threads": rows name theirs
  std::uint32_t channels = 1;
  std::optional<Bytes> chunk;  ///< most payload of one chunk; absent: all in one loop
  std::uint32_t slices = 1;
  std::optional<std::uint32_t> slots;          ///< per connection; absent: as few as the schedule needs
  std::uint32_t group = 0;                     ///< ranks per node, as the schedules were told; 0: all
  std::vector<std::uint32_t> dimensions = {};  ///< of tori and meshes; empty: the algorithm's own
  std::uint32_t rings = 0;                     ///< of multi_ring; 0: its own
  std::uint32_t root = 0;
  std::string reduction = "sum";
  std::uint32_t warm_up = 0;
  std::uint32_t iterations = 0;  ///< of each row that does not say otherwise
};
void visit(Fields& fields, MeasurementSettings& settings);

/// Times that somebody measured: tables of one or several collectives on one machine, with their source.
struct Measurement {
  /// What is known of a machine or of software, by key: for people, and for what athanor does not read.
  using Facts = std::vector<std::pair<std::string, std::variant<std::int64_t, std::string>>>;

  std::string id;
  std::string source;
  std::string url;
  std::string date;  ///< "2026-11-21"
  std::string kind;  ///< the program that measured: "athanor measure", "nccl-tests", "osu"
  std::string notes;
  /// Equal for measurements of one machine and for nothing else as far as can be told, without names of hosts:
  /// "AMD EPYC 7B13, 1 x 2 cores, 2 threads"; "" where the file does not say, as for published tables.
  std::string machine;
  std::string hardware;   ///< for people: "2 x 8 A100 SXM4 (DGX A100)", or the machine
  std::string algorithm;  ///< of most rows: the library's choice or what was forced on it: "Ring", "auto"
  bool healthy = true;    ///< false: the source itself says that something was not in order; `notes` says what
  CollectiveKind collective = CollectiveKind::all_reduce;  ///< of the rows that name none
  std::uint32_t ranks = 1;                                 ///< of the rows that name none
  Facts hardware_facts;
  Facts software_facts;
  std::optional<MeasurementSettings> settings;  ///< of files that athanor measured

  /// One time. Reading fills in what the file says once for all rows.
  struct Row {
    Bytes bytes;                         ///< payload as nccl-tests counts it for the collective
    std::optional<double> time_us = {};  ///< the median, or what the program printed; absent: only bandwidths are known
    std::optional<double> min_us = {};   ///< of the fastest iteration
    std::uint32_t ranks = 1;
    std::string algorithm = {};
    CollectiveKind collective = CollectiveKind::all_reduce;
    bool in_place = false;
    std::optional<DataType> type = {};             ///< none: the source does not say
    std::optional<std::uint32_t> iterations = {};  ///< that were timed
    std::string reduction = {};                    ///< "sum", ...; "" where settings or nobody names it
    std::string backend = {};                      ///< "" where settings or nobody names it
    std::uint64_t wrong = 0;                       ///< results that were not what they should be
    std::optional<double> busbw_gbps = {};         ///< as the source printed it
  };
  std::vector<Row> rows;

  /// A simulated collective that is to be compared.
  struct Wanted {
    CollectiveKind kind = CollectiveKind::all_reduce;
    std::uint32_t ranks = 1;
    std::string_view algorithm = {};
    bool in_place = false;
    std::optional<DataType> type = {};        ///< none: any
    std::optional<Reduction> reduction = {};  ///< none: any
  };
  /// What to compare it with: the first row of that collective, size and number of ranks that has a time and, where
  /// such rows are of several algorithms, of the one named (in any case). Rows that were measured as `in_place` says go
  /// before others, then those of its type, then those of its reduction. Sizes between rows are not interpolated.
  const Row* find(const Wanted& wanted, Bytes size) const;
  /// Whether some row is of that collective.
  bool covers(CollectiveKind of_kind) const;
  /// Whether some row is of that collective and so many ranks.
  bool covers(CollectiveKind of_kind, std::uint32_t of_ranks) const;
};

/// Whether it was measured so, or does not say.
bool is_of(const Measurement::Row& row, Reduction reduction);

/// Reads one from a file; everything wrong with it, or that it is no measurement at all, is added to `problems`.
/// Throws FileError.
Measurement read_measurement(const FileReader& files, const std::string& name, Problems& problems);

/// The JSON Schema (draft-07) of what read_measurement accepts.
JsonValue measurement_schema();

/// The file that read_measurement reads back, one row per line: a key that all rows have in common stands once, and
/// bandwidths follow from the times where there are any. Requires at least one row.
std::string measurement_json(const Measurement& measurement);

}  // namespace athanor
