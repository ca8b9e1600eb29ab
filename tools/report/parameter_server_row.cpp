#include "tools/report/parameter_server_row.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sim/check.hpp"
#include "tools/report/port_table.hpp"

namespace athanor {

namespace {

std::size_t nearest_rank(std::size_t count, std::size_t p) { return (p * count + 99) / 100 - 1; }

}  // namespace

ParameterServerRow summarised(std::vector<ParameterServerRow> repetitions) {
  require(!repetitions.empty(), "a row of no repetition");
  std::stable_sort(repetitions.begin(), repetitions.end(),
                   [](const ParameterServerRow& a, const ParameterServerRow& b) {
                     return a.result.time > b.result.time;  // all have as many updates
                   });
  const std::size_t count = repetitions.size();
  const UpdateSpread spread{static_cast<std::uint32_t>(count),
                            repetitions[nearest_rank(count, 5)].result.updates_per_second(),
                            repetitions[nearest_rank(count, 95)].result.updates_per_second()};
  ParameterServerRow row = std::move(repetitions[nearest_rank(count, 50)]);
  row.spread = spread;
  return row;
}

double mean_staleness(const ParameterServerResult& result) {
  double parts = 0;
  double updates = 0;
  for (std::size_t i = 0; i < result.staleness.size(); ++i) {
    parts += static_cast<double>(result.staleness[i]);
    updates += static_cast<double>(i) * static_cast<double>(result.staleness[i]);
  }
  return parts > 0 ? updates / parts : 0;
}

std::string parameter_server_header_lines(const TableHeader& header) {
  const bool seeds = !header.seeds.empty();
  std::string names =
      fmt::format("#{:>11} {:>10} {:>11} {:>11} {:>11} {:>8} {:>9} {:>8} {:>7}", "parameters", "updates", "gradients",
                  "iteration", "p95", "waiting", "staleness", "dropped", "server");
  std::string units = fmt::format("#{:>11} {:>10} {:>11} {:>11} {:>11} {:>8} {:>9} {:>8} {:>7}", "(B)", "(1/s)",
                                  "(1/s)", "(us)", "(us)", "(%)", "(mean)", "", "(%)");
  if (seeds) {
    names += fmt::format(" {:>10} {:>10}", "updates p5", "p95");
    units += fmt::format(" {:>10} {:>10}", "(1/s)", "(1/s)");
  }
  return description_lines(header) + names + "\n" + units + "\n";
}

std::string parameter_server_row_line(const ParameterServerRow& row) {
  const ParameterServerResult& result = row.result;
  std::string line =
      fmt::format("{:>12} {} {} {} {} {:>8.2f} {:>9.2f} {:>8} {:>7.2f}", row.setup.parameters.count(),
                  fitted(result.updates_per_second(), 10), fitted(result.gradients_per_second(), 11),
                  fitted(microseconds(result.mean_iteration()), 11), fitted(microseconds(result.p95_iteration()), 11),
                  result.waiting * 100, mean_staleness(result), result.dropped, result.server_busy * 100);
  if (row.spread) { line += fmt::format(" {} {}", fitted(row.spread->p5, 10), fitted(row.spread->p95, 10)); }
  return line + "\n";
}

std::string parameter_server_detail_lines(const ParameterServerRow& row) {
  std::string lines;
  if (const auto busiest = busiest_link(row.result.network.loads, *row.cluster->fabric, row.result.network.observed)) {
    lines += fmt::format("#   busiest link {}, {:.1f} % of the time\n", busiest->name, busiest->utilisation * 100);
  }
  if (row.result.network.packets) { lines += "#   " + packets_line(*row.result.network.packets); }
  return lines;
}

nlohmann::ordered_json parameter_server_json(const ParameterServerRow& row) {
  const ParameterServerResult& result = row.result;
  nlohmann::ordered_json json = {{"scenario", row.scenario},
                                 {"case", row.case_name},
                                 {"update", name(row.setup.update)},
                                 {"workers", row.setup.workers.size()},
                                 {"servers", row.setup.shards.size()},
                                 {"copies", row.setup.shards.front().size()},
                                 {"bytes", row.setup.parameters.count()},
                                 {"time_us", microseconds(result.time)},
                                 {"updates_per_s", result.updates_per_second()},
                                 {"gradients_per_s", result.gradients_per_second()},
                                 {"iteration_us_mean", microseconds(result.mean_iteration())},
                                 {"iteration_us_p95", microseconds(result.p95_iteration())},
                                 {"waiting", result.waiting},
                                 {"staleness_mean", mean_staleness(result)},
                                 {"staleness", result.staleness},
                                 {"gradients", result.gradients},
                                 {"dropped", result.dropped},
                                 {"server_busy", result.server_busy},
                                 {"network", row.network},
                                 {"seed", row.seed}};
  if (row.spread) {
    json["seeds"] = row.spread->seeds;
    json["updates_per_s_p5"] = row.spread->p5;
    json["updates_per_s_p95"] = row.spread->p95;
  }
  if (const auto busiest = busiest_link(result.network.loads, *row.cluster->fabric, result.network.observed)) {
    json["busiest_link"] = busiest->name;
    json["busiest_utilisation"] = busiest->utilisation;
  }
  if (result.network.packets) { json["packets"] = packets_json(*result.network.packets); }
  return json;
}

}  // namespace athanor
