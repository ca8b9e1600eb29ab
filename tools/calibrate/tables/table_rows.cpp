#include "tools/calibrate/tables/table_rows.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/execution/choice.hpp"
#include "models/software/profile.hpp"
#include "sim/time.hpp"
#include "tools/verify/published_table.hpp"

namespace athanor {

namespace {

void add_rows(const std::vector<Tables::MeasuredCase>& cases, std::vector<TableRow>& rows) {
  const CollectiveSetup& setup = cases.back().setup;
  const Measurement& measurement = setup.verification->measurement;
  const auto same = [&](const Tables::MeasuredCase& other) {
    return other.setup.verification->measurement.id == measurement.id;
  };
  const auto table = static_cast<std::size_t>(std::find_if(cases.begin(), cases.end(), same) - cases.begin());
  const std::string algorithm = setup.algorithms.size() == 1 ? setup.algorithms.front()->name : "";
  for (const TablePoint& point : measured_points(measurement, setup.measured_like(algorithm))) {
    const std::vector<Bytes>& sizes = setup.sizes;
    if (std::find(sizes.begin(), sizes.end(), point.size) == sizes.end() || point.time_us <= 0) { continue; }
    rows.push_back({.in_case = cases.size() - 1,
                    .table = table,
                    .size = point.size,
                    .measured_us = point.time_us,
                    .spike = point.spike});
  }
}

std::size_t band(Bytes size) {
  constexpr Bytes kMiddle{1 << 20};
  constexpr Bytes kLarge{1 << 26};
  return size < kMiddle ? 0 : size < kLarge ? 1 : 2;
}

void add(const HopCost& hop, std::vector<std::int64_t>& key) {
  key.insert(key.end(), {hop.latency.count(), hop.rate.count(), hop.injection_rate.count(), hop.efficiency.numerator,
                         hop.efficiency.denominator});
}

/// All that differs between the protocols of two profiles, but for what happens before the first primitive.
std::vector<std::int64_t> key_of(const RunRequest& request, const Candidate& candidate) {
  const Protocol& protocol = candidate.protocol();
  const Layout& layout = candidate.layout();
  const auto algorithm = std::find(request.algorithms.begin(), request.algorithms.end(), &candidate.algorithm());
  std::vector<std::int64_t> key{algorithm - request.algorithms.begin(),
                                protocol.overhead.count(),
                                protocol.unpack_rate.count(),
                                layout.chunk.count(),
                                protocol.payload.numerator,
                                protocol.payload.denominator,
                                layout.channels,
                                layout.slices,
                                protocol.slots,
                                layout.as<PeerRoundShape>().parts};
  add(protocol.node, key);
  add(protocol.network, key);
  add(protocol.engine, key);
  return key;
}

}  // namespace

Tables Tables::of(const std::vector<Scenario>& scenarios) {
  Tables tables;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      const auto* collective = each.as<CollectiveExperiment>();
      if (collective == nullptr || !collective->setup().verification) { continue; }
      tables.cases.push_back({each.platform, collective->setup()});
      add_rows(tables.cases, tables.rows);
    }
  }
  return tables;
}

bool Tables::noisy(const std::string& table) const {
  std::vector<TablePoint> points;
  for (const TableRow& row : rows) {
    if (name(row) == table) { points.push_back({row.size, row.measured_us, row.spike}); }
  }
  return noise(points).value_or(0) > kNoisy;
}

double simulated_us(const Platform& platform, const CollectiveSetup& setup, const TableRow& row) {
  const RunRequest request = setup.request(platform, row.size, {});
  return static_cast<double>(row.times->fastest(request).count()) * 1e-6;
}

BandErrors band_errors(const std::vector<TableRow>& rows) {
  BandErrors errors;
  for (const TableRow& row : rows) {
    if (row.spike) { continue; }
    errors.mean.at(band(row.size)) += std::abs(row.simulated_us / row.measured_us - 1);
    ++errors.points.at(band(row.size));
  }
  for (std::size_t i = 0; i < errors.mean.size(); ++i) {
    if (errors.points.at(i) > 0) { errors.mean.at(i) /= static_cast<double>(errors.points.at(i)); }
  }
  return errors;
}

std::optional<Time> RowTimes::known(const Times& times, const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = times.find(key);
  return found == times.end() ? std::nullopt : std::optional(found->second);
}

void RowTimes::remember(Times& times, const Key& key, Time time) {
  const std::lock_guard lock(mutex_);
  times[key] = time;
}

Time RowTimes::of(const RunRequest& request, const Candidate& candidate) {
  Key key = key_of(request, candidate);
  if (const auto time = known(alone_, key)) { return candidate.launched(*time); }
  key.push_back(candidate.launch().count());
  key.push_back(candidate.host_time().count());
  if (const auto time = known(in_loops_, key)) { return *time; }
  const RunResult result = candidate.run(request.options);
  const bool alike = request.calls <= 1 || result.simulated.first_end == result.simulated.time;
  if (!alike) {
    remember(in_loops_, key, result.time);
    return result.time;
  }
  key.resize(key.size() - 2);
  remember(alone_, key, result.simulated.time);
  return result.time;
}

Time RowTimes::fastest(const RunRequest& request) {
  std::optional<Time> best;
  for (const Algorithm* algorithm : request.algorithms) {
    for (const Candidate& candidate : candidates_of(request, *algorithm).fitting) {
      const Time time = of(request, candidate);
      best = std::min(best.value_or(time), time);
    }
  }
  return best ? *best : choose_fastest(request).result.time;  // falls back, or says why nothing runs
}

}  // namespace athanor
