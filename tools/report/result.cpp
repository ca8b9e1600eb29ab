#include "tools/report/result.hpp"

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

double bus_bandwidth(const ResultRow& row) {
  return row.run.time == Time::zero() ? 0 : bus_bandwidth(row.collective, row.run.size, row.run.time);
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
