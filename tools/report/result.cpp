#include "tools/report/result.hpp"

#include <algorithm>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Whether every rank holds a part of the whole for each of the others.
bool partitioned(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::all_to_all: return true;
    case CollectiveKind::all_reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: return false;
  }
  return false;
}

}  // namespace

double algorithm_bandwidth(const ResultRow& row) {
  return row.run.time == Time::zero() ? 0 : algorithm_bandwidth(row.run.size, row.run.time);
}

double bus_bandwidth(const ResultRow& row) { return bus_bandwidth(row, row.run.time); }

double bus_bandwidth(const ResultRow& row, Time time) {
  return time == Time::zero() ? 0 : bus_bandwidth(row.collective, row.run.size, time);
}

ResultRow summarised(std::vector<ResultRow> repetitions) {
  require(!repetitions.empty(), "a row of no repetition");
  std::stable_sort(repetitions.begin(), repetitions.end(),
                   [](const ResultRow& a, const ResultRow& b) { return a.run.time < b.run.time; });
  const auto count = static_cast<std::int64_t>(repetitions.size());
  const auto percentile = [&](std::int64_t p) -> ResultRow& {
    return repetitions[static_cast<std::size_t>(ceil_div(p * count, 100) - 1)];
  };
  const Spread spread{static_cast<std::uint32_t>(count), percentile(5).run.time, percentile(95).run.time};
  ResultRow row = percentile(50);
  row.spread = spread;
  return row;
}

std::int64_t count_per_argument(const Collective& collective) {
  const std::int64_t elements = collective.count.count();
  return partitioned(collective.kind) ? ceil_div(elements, collective.ranks) : elements;
}

std::int64_t printed_root(const Collective& collective) {
  return has_root(collective.kind) ? std::int64_t{collective.root} : -1;
}

std::optional<double> error(const ResultRow& row) {
  if (!row.measured_us || *row.measured_us <= 0) { return std::nullopt; }
  return microseconds(row.run.time) / *row.measured_us - 1;
}

}  // namespace athanor
