#include "tools/explain/path_table.hpp"

#include <fmt/core.h>

#include "models/experiments/table.hpp"
#include "sim/check.hpp"
#include "sim/config/json_value.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

std::string messages(std::uint64_t count, const char* where) {
  return count == 0 ? "" : fmt::format(", {} message{} {}", count, count == 1 ? "" : "s", where);
}

std::string cell(Time time) {
  return time == Time::zero() ? fmt::format("{:>14}", "-") : fitted(microseconds(time), 14);
}

double percent_of(Time part, Time whole) { return 100 * microseconds(part) / microseconds(whole); }

JsonValue json_of(const TransferTime& way) {
  return {{"latency_us", microseconds(way.latency)},
          {"transfer_us", microseconds(way.transfer)},
          {"sharing_us", microseconds(way.sharing)},
          {"messages", way.transfers}};
}

}  // namespace

std::string path_lines(const PathShares& path, Time time) {
  require(time >= path.total(), "a critical path of {} ps in {} ps", path.total().count(), time.count());
  const auto line = [&](const char* what, Time within, Time between) {
    if (within + between == Time::zero()) { return std::string(); }
    return fmt::format("  {:<14}{}{}{:>10.1f}\n", what, cell(within), cell(between),
                       percent_of(within + between, time));
  };
  std::string lines =
      fmt::format("critical path{}{}\n  {:<14}{:>14}{:>14}{:>10}\n", messages(path.within.transfers, "within nodes"),
                  messages(path.between.transfers, "between nodes"), "", "within (us)", "between (us)", "%");
  lines += line("latency", path.within.latency, path.between.latency);
  lines += line("transfers", path.within.transfer, path.between.transfer);
  lines += line("sharing links", path.within.sharing, path.between.sharing);
  lines += line("software", path.overhead, Time::zero());
  lines += line("reducing", path.work, Time::zero());
  return lines + line("launch, host", time - path.total() + path.start, Time::zero());
}

JsonValue path_json(const PathShares& path) {
  return {{"within_nodes", json_of(path.within)},
          {"between_nodes", json_of(path.between)},
          {"start_us", microseconds(path.start)},
          {"overhead_us", microseconds(path.overhead)},
          {"work_us", microseconds(path.work)}};
}

}  // namespace athanor
