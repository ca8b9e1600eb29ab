#include "tools/report/table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/printable.hpp"
#include "tools/report/version.hpp"

namespace athanor {

namespace {

constexpr std::size_t kTimeWidth = 9;
constexpr std::size_t kBandwidthWidth = 7;

std::string line(const char* label, const std::string& value) {
  return value.empty() ? "" : fmt::format("# {:<12} {}\n", label, printable(value));
}

std::string seeds_line(const TableHeader& header) {
  const std::vector<std::uint64_t>& seeds = header.seeds;
  if (seeds.empty()) { return fmt::format("{}, seed {}", header.network, header.seed); }
  const bool counted = seeds.back() - seeds.front() + 1 == seeds.size() && std::is_sorted(seeds.begin(), seeds.end());
  const std::string which =
      counted ? fmt::format("{} to {}", seeds.front(), seeds.back()) : fmt::format("{}", fmt::join(seeds, ", "));
  const char* row = !header.traffic.empty()    ? "each row is the run that kept the median share"
                    : !header.training.empty() ? "each row is the run with the median rate of updates"
                                               : "time, algbw and busbw are those of the median";
  return fmt::format("{}, {} seeds: {}; {}", header.network, seeds.size(), which, row);
}

std::string spread_names(bool units) {
  return units ? fmt::format("{:>9} {:>9} {:>7} {:>7}  ", "(us)", "(us)", "(GB/s)", "(GB/s)")
               : fmt::format("{:>9} {:>9} {:>7} {:>7}  ", "time p5", "time p95", "bus p5", "bus p95");
}

std::string spread(const ResultRow& row) {
  if (!row.spread) { return ""; }
  return fmt::format("{} {} {} {}  ", fitted(microseconds(row.spread->p5), kTimeWidth),
                     fitted(microseconds(row.spread->p95), kTimeWidth),
                     fitted(bus_bandwidth(row, row.spread->p95), kBandwidthWidth),
                     fitted(bus_bandwidth(row, row.spread->p5), kBandwidthWidth));
}

std::string column_names(bool measured, bool seeds) {
  const std::string comparison[3] = {measured ? fmt::format("{:>9} {:>8}  ", "measured", "error") : "",
                                     measured ? fmt::format("{:>9} {:>8}  ", "(us)", "(%)") : ""};
  std::string names =
      fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {:>9} {:>7} {:>7}  {}{:>9} {}{:<20} {:<8} {:>2}  {}\n", "size",
                  "count", "type", "redop", "root", "time", "algbw", "busbw", seeds ? spread_names(false) : "", "bound",
                  comparison[0], "algorithm", "protocol", "ch", "limited by");
  names += fmt::format("#{:>11} {:>12} {:>9} {:>6} {:>5} {:>9} {:>7} {:>7}  {}{:>9} {}\n", "(B)", "(elements)", "", "",
                       "", "(us)", "(GB/s)", "(GB/s)", seeds ? spread_names(true) : "", "(us)", comparison[1]);
  while (names.size() > 1 && names[names.size() - 2] == ' ') { names.erase(names.size() - 2, 1); }
  return names;
}

std::string comparison(const ResultRow& row) {
  const auto relative = error(row);
  if (!relative) { return fmt::format("{:>9} {:>8}  ", "-", "-"); }
  return fmt::format("{} {:>+8.1f}  ", fitted(*row.measured_us, kTimeWidth), *relative * 100);
}

}  // namespace

std::string fitted(double value, std::size_t width) {
  for (const int decimals : {2, 1, 0}) {
    std::string text = fmt::format("{:>{}.{}f}", value, width, decimals);
    if (text.size() <= width) { return text; }
  }
  return fmt::format("{:>{}.1e}", value, width);
}

std::string fitted_ms(Time time, std::size_t width) {
  const double ms = microseconds(time) / 1000;
  return ms < 0.1 ? fmt::format("{:>{}.4f}", ms, width) : fitted(ms, width);
}

std::string version_line() { return fmt::format("# athanor {} ({})\n", version(), git_revision()); }

std::string description_lines(const TableHeader& header) {
  std::string lines = line("case", header.title);
  lines += line("cluster", header.cluster);
  lines += line("traffic", header.traffic);
  lines += line("training", header.training);
  lines += line("trace", header.trace);
  lines += line("profile", header.profile);
  lines += line("network", seeds_line(header));
  lines += line("measurement", header.measurement);
  return lines + "#\n";
}

std::string header_lines(const TableHeader& header) {
  return description_lines(header) + column_names(!header.measurement.empty(), !header.seeds.empty());
}

std::string row_line(const ResultRow& row, bool measured) {
  return fmt::format("{:>12} {:>12} {:>9} {:>6} {:>5} {} {} {}  {}{} {}{:<20} {:<8} {:>2}  {}{}\n",
                     row.run.size.count(), count_per_argument(row.collective), nccl_name(row.type),
                     reduces(row.collective.kind) ? nccl_name(row.reduction) : "none", printed_root(row.collective),
                     fitted(microseconds(row.run.time), kTimeWidth), fitted(algorithm_bandwidth(row), kBandwidthWidth),
                     fitted(bus_bandwidth(row), kBandwidthWidth), spread(row),
                     fitted(microseconds(row.run.bound.time), kTimeWidth), measured ? comparison(row) : " ",
                     printable(row.run.algorithm), printable(row.run.protocol), row.run.channels,
                     printable(row.run.limited_by), row.run.extrapolated ? " *" : "");
}

std::string footer_lines(const std::vector<ResultRow>& rows, bool interrupted) {
  std::string lines;
  std::set<std::string> said;
  for (const ResultRow& row : rows) {
    for (const std::string& note : row.run.notes) {
      if (said.insert(note).second) { lines += "# " + printable(note) + "\n"; }
    }
  }
  if (std::any_of(rows.begin(), rows.end(), [](const ResultRow& row) { return row.run.extrapolated; })) {
    lines += "# * extrapolated: outside of what the profile was fitted on\n";
  }
  double sum = 0;
  for (const ResultRow& row : rows) { sum += bus_bandwidth(row); }
  if (!rows.empty()) { lines += fmt::format("# Avg bus bandwidth : {:.2f}\n", sum / static_cast<double>(rows.size())); }
  if (interrupted) { lines += interruption_line(); }
  return lines;
}

std::string interruption_line() { return "# interrupted: what follows was not simulated\n"; }

}  // namespace athanor
