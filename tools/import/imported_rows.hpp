#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "models/experiments/scenario/measurement.hpp"
#include "sim/config/field_value.hpp"
#include "sim/words.hpp"

namespace athanor {

/// What the user adds to a text that does not say it, or says it wrong.
struct ImportHints {
  std::optional<CollectiveKind> collective;
  std::optional<std::uint32_t> ranks;
  std::optional<std::uint32_t> nodes;
  std::string hardware;  ///< "" for what the text says
};

/// Collects the rows of a measurement from a text and says what is wrong with it, by line.
class ImportedRows {
 public:
  /// After so many problems there is one more, which says that there are more, and no other.
  static constexpr std::size_t kMostProblems = 20;

  ImportedRows(std::string file, Measurement& measurement, Problems& problems)
      : file_(std::move(file)), measurement_(measurement), problems_(problems) {}

  /// From here on sizes may come again.
  void begin_table() { seen_.clear(); }
  /// A time below zero, a size that came before in this table, or a bandwidth that does not follow from size, time,
  /// collective and ranks is a problem. Wrong results are kept, and make the
  /// measurement an unhealthy one.
  void add(int line, Measurement::Row row);
  void problem(int line, std::string code, std::string message, std::string hint = "");
  /// Whether a table of nccl-tests is of a collective that measurements hold. sendrecv_perf is not: each of its ranks
  /// sends to the next one, all at the same time, and send_receive is one message.
  bool takes(int line, CollectiveKind kind);

 private:
  /// Else it is a problem: below zero, none at all, or more than a measurement takes.
  bool is_time(int line, double time_us);

  using Key = std::tuple<CollectiveKind, std::uint32_t, bool, std::optional<DataType>, std::string, std::int64_t>;

  std::string file_;
  Measurement& measurement_;
  Problems& problems_;
  std::set<Key> seen_;
  std::size_t told_ = 0;
};

/// nccl-tests' or athanor's name of a type.
std::optional<DataType> imported_type(std::string_view word);

/// A line of a log without what launchers put in front of it: "[1,0]<stdout>:" of mpirun, "0: " of srun, a time stamp,
/// colours of a terminal.
std::string_view without_prefix(std::string_view line);

/// Calls `see` with the number, from 1 on, and the text of each line, its prefix removed.
template <class See>
void for_each_line(std::string_view text, See see) {
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) { line.remove_suffix(1); }
    see(++number, without_prefix(line));
  }
}

}  // namespace athanor
