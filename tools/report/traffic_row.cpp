#include "tools/report/traffic_row.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/check.hpp"
#include "sim/printable.hpp"
#include "tools/report/port_table.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

/// Nearest rank. Requires sorted values.
template <class Value>
const Value& percentile(const std::vector<Value>& sorted, std::int64_t p) {
  const auto count = static_cast<std::int64_t>(sorted.size());
  return sorted[static_cast<std::size_t>(ceil_div(p * count, 100) - 1)];
}

Time mean_of(const TrafficRow& row) { return row.summary.completion ? row.summary.completion->mean : Time::zero(); }

std::string percent(double share) { return fmt::format("{:>6.2f}", share * 100); }

std::string completion_columns(const TrafficRow& row) {
  if (!row.summary.completion) { return fmt::format("{0:>10} {0:>10} {0:>10} {0:>10} {0:>8} {0:>8}", "-"); }
  const CompletionTimes& times = *row.summary.completion;
  return fmt::format("{} {} {} {} {} {}", fitted(microseconds(times.mean), 10), fitted(microseconds(times.median), 10),
                     fitted(microseconds(times.p99), 10), fitted(microseconds(times.longest), 10),
                     fitted(times.mean_slowdown, 8), fitted(times.p99_slowdown, 8));
}

void add_completion(const CompletionTimes& times, Json& json) {
  json["completion_us_mean"] = microseconds(times.mean);
  json["completion_us_median"] = microseconds(times.median);
  json["completion_us_p99"] = microseconds(times.p99);
  json["completion_us_max"] = microseconds(times.longest);
  json["slowdown_mean"] = times.mean_slowdown;
  json["slowdown_p99"] = times.p99_slowdown;
}

}  // namespace

TrafficRow summarised(std::vector<TrafficRow> repetitions) {
  require(!repetitions.empty(), "a row of no repetition");
  std::stable_sort(repetitions.begin(), repetitions.end(),
                   [](const TrafficRow& a, const TrafficRow& b) { return a.summary.kept < b.summary.kept; });
  std::vector<double> kept;
  std::vector<Time> means;
  for (const TrafficRow& row : repetitions) {
    kept.push_back(row.summary.kept);
    means.push_back(mean_of(row));
  }
  std::sort(means.begin(), means.end());
  const auto count = static_cast<std::int64_t>(repetitions.size());
  const TrafficSpread spread{static_cast<std::uint32_t>(count), percentile(kept, 5), percentile(kept, 95),
                             percentile(means, 5), percentile(means, 95)};
  TrafficRow row = std::move(repetitions[static_cast<std::size_t>(ceil_div(50 * count, 100) - 1)]);
  row.spread = spread;
  return row;
}

std::string traffic_header_lines(const TableHeader& header) {
  const bool seeds = !header.seeds.empty();
  std::string names = fmt::format("#{:>11} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>6}", "size",
                                  "messages", "mean", "median", "p99", "max", "slowdown", "p99", "goodput", "kept");
  std::string units = fmt::format("#{:>11} {:>9} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8} {:>9} {:>6}", "(B)", "",
                                  "(us)", "(us)", "(us)", "(us)", "(mean)", "", "(GB/s)", "(%)");
  if (seeds) {
    names += fmt::format(" {:>8} {:>8}", "kept p5", "kept p95");
    units += fmt::format(" {:>8} {:>8}", "(%)", "(%)");
  }
  return description_lines(header) + names + "\n" + units + "\n";
}

std::string traffic_row_line(const TrafficRow& row) {
  std::string line = fmt::format(
      "{:>12} {:>9} {} {} {}", row.size.count() > 0 ? std::to_string(row.size.count()) : "own", row.summary.messages,
      completion_columns(row), fitted(row.summary.goodput * 1e-9, 9), percent(row.summary.kept));
  if (row.spread) { line += fmt::format(" {:>8.2f} {:>8.2f}", row.spread->kept_p5 * 100, row.spread->kept_p95 * 100); }
  return line + "\n";
}

std::string traffic_detail_lines(const TrafficRow& row) {
  std::string lines;
  if (const auto busiest =
          busiest_link(row.simulated.network.loads, *row.cluster->fabric, row.simulated.network.observed)) {
    lines += fmt::format("#   busiest link {}, {:.1f} % of the time\n", printable(busiest->name),
                         busiest->utilisation * 100);
  }
  if (row.simulated.network.packets) { lines += "#   " + packets_line(*row.simulated.network.packets); }
  return lines;
}

Json traffic_json(const TrafficRow& row) {
  Json json = {{"scenario", row.scenario},
               {"case", row.case_name},
               {"traffic", row.pattern},
               {"endpoints", row.endpoints},
               {"bytes", row.size.count()},
               {"messages", row.summary.messages},
               {"total_bytes", row.summary.bytes.count()},
               {"time_us", microseconds(row.summary.time)},
               {"goodput_gbps", row.summary.goodput * 1e-9},
               {"kept", row.summary.kept},
               {"kept_least", row.summary.least_kept},
               {"fairness", row.summary.fairness},
               {"network", row.network},
               {"seed", row.seed}};
  if (row.summary.completion) { add_completion(*row.summary.completion, json); }
  if (row.spread) {
    json["seeds"] = row.spread->seeds;
    json["kept_p5"] = row.spread->kept_p5;
    json["kept_p95"] = row.spread->kept_p95;
    if (row.summary.completion) {
      json["completion_us_mean_p5"] = microseconds(row.spread->mean_p5);
      json["completion_us_mean_p95"] = microseconds(row.spread->mean_p95);
    }
  }
  if (const auto busiest =
          busiest_link(row.simulated.network.loads, *row.cluster->fabric, row.simulated.network.observed)) {
    json["busiest_link"] = busiest->name;
    json["busiest_utilisation"] = busiest->utilisation;
  }
  if (row.simulated.network.packets) { json["packets"] = packets_json(*row.simulated.network.packets); }
  return json;
}

std::string traffic_flow_names() {
  return "case,bytes_asked,seed,connection,from,to,bytes,start_us,end_us,completion_us,alone_us,slowdown\n";
}

std::string traffic_flow_lines(const TrafficRow& row) {
  std::string lines;
  const auto name = [&](std::uint32_t endpoint) {
    return csv_field(row.cluster->fabric->name(row.cluster->endpoints[endpoint]));
  };
  const std::string head = fmt::format("{},{},{},", csv_field(row.case_name), row.size.count(), row.seed);
  for (const MessageTimes& message : row.simulated.messages) {
    const TrafficMatrix::Connection& connection = row.matrix.connections[message.connection];
    const Time took = message.end - message.start;
    lines += head + fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.6g}\n", message.connection,
                                name(connection.from), name(connection.to), message.size.count(),
                                microseconds(message.start), microseconds(message.end), microseconds(took),
                                microseconds(message.alone), seconds(took) / seconds(message.alone));
  }
  return lines;
}

}  // namespace athanor
