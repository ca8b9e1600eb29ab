#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/execution/critical_path.hpp"
#include "models/experiments/record.hpp"
#include "models/network/link_use.hpp"
#include "models/software/prediction_error.hpp"
#include "models/training/compute_pool.hpp"
#include "sim/config/json_value.hpp"
#include "sim/time.hpp"

namespace athanor {

/// Where eight of ten measured times of what is explained are expected, as results say it.
struct ExplainedInterval {
  double low = 0;  ///< in the unit of the time
  double high = 0;
  std::string text;   ///< "-10/+16 %"
  std::string known;  ///< what had been measured, by name: "sizes"
  std::string words;  ///< the same, in words
};

/// None where the record has no interval. `low`, `high`: the columns of its ends. `words`: of what it says is known.
std::optional<ExplainedInterval> explained_interval(const Record& record, const Column& low, const Column& high,
                                                    std::string_view (*words)(std::string_view known));
/// Of Knowledge, by name: "other sizes of the same collective on as many ranks were measured"; "": it is none.
std::string_view words_of_knowledge(std::string_view known);
/// The same of StepKnowledge.
std::string_view words_of_step_knowledge(std::string_view known);

/// The interval and what of the stack was known, or that there is none, under a title. `factor`: to `unit`.
std::string interval_lines(const std::optional<ExplainedInterval>& interval, double factor, const char* unit);

/// Puts "known" and both ends by the keys of their columns; null where there is no interval.
void put_interval(const std::optional<ExplainedInterval>& interval, const Column& low, const Column& high,
                  JsonValue& json);

/// What something else about a machine or a plan would bring, found by simulating that.
struct ExplainedChange {
  std::string change;  ///< "network links twice as fast"
  Time time;
  std::string note;  ///< what speaks against it; "": nothing
};

/// Shortest time first, under the title "what would help"; nothing where nothing was tried. `now`: the time without.
std::string change_lines(const std::vector<ExplainedChange>& changes, Time now);

/// [{"change", "time_us", "gain", "note"}]; gain is the part of the time that is saved, negative where it is lost.
JsonValue changes_json(const std::vector<ExplainedChange>& changes, Time now);

/// A line for each class of links that carried anything, and one that names the others, under the title "links";
/// nothing where none did. At most 120 columns, but for the last line.
std::string link_lines(const std::vector<LinkClassUse>& links);

/// [{"class", "links", "used", "mean_percent", "most_percent", "bytes"}], those that carried nothing as well.
JsonValue links_json(const std::vector<LinkClassUse>& links);

/// The critical path for people: latency, transfers and sharing of links within nodes and between them, software,
/// reducing, and their shares of `time`. Each line ends in '\n'. `time`: of the whole collective; what the path lacks
/// of it is launching and the host. Requires time >= path.total().
std::string path_lines(const PathShares& path, Time time);

/// {"within_nodes": {"latency_us", "transfer_us", "sharing_us", "messages"}, "between_nodes": {...}, "start_us",
/// "overhead_us", "work_us"}.
JsonValue path_json(const PathShares& path);

}  // namespace athanor
