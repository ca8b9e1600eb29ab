#include "tools/report/trace_row.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/format.hpp"

namespace athanor {

namespace {

/// Shares of the whole time, averaged over workers.
struct Shares {
  double computing = 0;
  double waiting = 0;
  std::array<double, kParallelisms> exposed{};

  double all_exposed() const {
    double sum = 0;
    for (const double each : exposed) { sum += each; }
    return sum;
  }
};

Shares shares_of(const WorkloadResult& result) {
  Shares shares;
  const double whole = seconds(result.time) * static_cast<double>(result.workers.size());
  if (whole == 0) { return shares; }
  for (const WorkerTime& worker : result.workers) {
    shares.computing += seconds(worker.computing) / whole;
    shares.waiting += seconds(worker.waiting) / whole;
    for (std::size_t use = 0; use < kParallelisms; ++use) {
      shares.exposed[use] += seconds(worker.exposed[use]) / whole;
    }
  }
  return shares;
}

/// Calls of one kind, size and way, of all groups.
struct CallsOfAKind {
  const CallPrice* price = nullptr;
  std::uint64_t count = 0;
  Time time;
  Time alone;
};

/// What took longest first.
std::vector<CallsOfAKind> calls_by_kind(const TraceRow& row) {
  std::vector<CallsOfAKind> kinds;
  for (const CallTime& call : row.result.calls) {
    if (call.count == 0) { continue; }
    const CallPrice& price = row.prices[call.price];
    const auto same = [&](const CallsOfAKind& each) {
      return each.price->kind == price.kind && each.price->size == price.size &&
             each.price->algorithm == price.algorithm && each.price->protocol == price.protocol;
    };
    auto found = std::find_if(kinds.begin(), kinds.end(), same);
    if (found == kinds.end()) { found = kinds.insert(kinds.end(), {&price, 0, {}, {}}); }
    found->count += call.count;
    found->time += call.time;
    found->alone += price.time * static_cast<std::int64_t>(call.count);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const CallsOfAKind& a, const CallsOfAKind& b) { return a.time > b.time; });
  return kinds;
}

std::string call_line(const CallsOfAKind& calls) {
  const auto count = static_cast<double>(calls.count);
  const CallPrice& price = *calls.price;
  return fmt::format("#   {:>7} x {} of {}, {}{}{}: {:.1f} us each, {:.1f} us alone\n", calls.count, name(price.kind),
                     to_string(price.size), price.algorithm, price.protocol == "none" ? "" : " ",
                     price.protocol == "none" ? "" : price.protocol, microseconds(calls.time) / count,
                     microseconds(calls.alone) / count);
}

}  // namespace

std::string describe(const TraceText& text) {
  return fmt::format("{} of {} ranks: {}", name(text.trace->format), text.trace->ranks, fmt::join(text.files, " "));
}

std::string trace_header_lines(const TableHeader& header) {
  return description_lines(header) +
         fmt::format("#{:>11} {:>10} {:>10} {:>10}\n", "time", "computing", "exposed", "waiting") +
         fmt::format("#{:>11} {:>10} {:>10} {:>10}\n", "(ms)", "(%)", "(%)", "(%)");
}

std::string trace_row_line(const TraceRow& row) {
  const Shares shares = shares_of(row.result);
  return fmt::format("{} {:>10.2f} {:>10.2f} {:>10.2f}\n", fitted(microseconds(row.result.time) / 1000, 12),
                     shares.computing * 100, shares.all_exposed() * 100, shares.waiting * 100);
}

std::string trace_detail_lines(const TraceRow& row) {
  constexpr std::size_t kMostCalls = 12;
  const std::vector<CallsOfAKind> calls = calls_by_kind(row);
  std::string lines;
  for (std::size_t i = 0; i < std::min(calls.size(), kMostCalls); ++i) { lines += call_line(calls[i]); }
  if (calls.size() > kMostCalls) {
    lines += fmt::format("#   and {} other kinds of calls\n", calls.size() - kMostCalls);
  }
  for (const std::string& note : row.notes) { lines += fmt::format("#   {}\n", note); }
  return lines;
}

nlohmann::ordered_json trace_json(const TraceRow& row) {
  const Shares shares = shares_of(row.result);
  nlohmann::ordered_json breakdown = {{"computing", shares.computing}, {"waiting", shares.waiting}};
  for (std::size_t use = 0; use < kParallelisms; ++use) {
    breakdown[fmt::format("exposed_{}", name(static_cast<Parallelism>(use)))] = shares.exposed[use];
  }
  return {{"scenario", row.scenario},
          {"case", row.case_name},
          {"trace", row.files},
          {"format", row.format},
          {"ranks", row.ranks},
          {"step_time_s", seconds(row.result.time)},
          {"exposed_comm_s", shares.all_exposed() * seconds(row.result.time)},
          {"breakdown", breakdown},
          {"operations", row.result.operations},
          {"network", row.network},
          {"notes", row.notes}};
}

}  // namespace athanor
