#include "tools/calibrate/tables/table_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <thread>

#include "sim/time.hpp"
#include "tools/verify/measured_points.hpp"

namespace athanor {

namespace {

void add_rows(const std::vector<Case>& cases, std::vector<TableRow>& rows) {
  const Case& scenario_case = cases.back();
  const auto same = [&](const Case& other) {
    return other.verification->measurement.id == scenario_case.verification->measurement.id;
  };
  const auto table = static_cast<std::size_t>(std::find_if(cases.begin(), cases.end(), same) - cases.begin());
  const std::string algorithm = scenario_case.algorithms.size() == 1 ? scenario_case.algorithms.front()->name : "";
  const std::vector<TablePoint> points =
      measured_points(scenario_case.verification->measurement, measured_like(scenario_case, algorithm));
  for (const TablePoint& point : points) {
    const auto& sizes = scenario_case.sizes;
    if (std::find(sizes.begin(), sizes.end(), point.size) == sizes.end() || point.time_us <= 0) { continue; }
    rows.push_back({.in_case = cases.size() - 1,
                    .table = table,
                    .size = point.size,
                    .measured_us = point.time_us,
                    .spike = point.spike});
  }
}

double simulated_us(const Case& scenario_case, const TableRow& row) {
  return static_cast<double>(row.times->fastest(scenario_case.request(row.size, {})).count()) * 1e-6;
}

std::size_t band(Bytes size) {
  constexpr Bytes kMiddle{1 << 20};
  constexpr Bytes kLarge{1 << 26};
  return size < kMiddle ? 0 : size < kLarge ? 1 : 2;
}

}  // namespace

Tables Tables::of(const std::vector<Scenario>& scenarios) {
  Tables tables;
  for (const Scenario& scenario : scenarios) {
    for (const Case& each : scenario.cases) {
      if (!each.verification) { continue; }
      tables.cases.push_back(each);
      add_rows(tables.cases, tables.rows);
    }
  }
  return tables;
}

void simulate(Tables& tables, const Profile& profile) {
  for (Case& each : tables.cases) { each.profile = profile; }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < tables.rows.size(); i = next++) {
      TableRow& row = tables.rows[i];
      row.simulated_us = simulated_us(tables.cases[row.in_case], row);
    }
  };
  std::vector<std::future<void>> running;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    running.push_back(std::async(std::launch::async, work));
  }
  for (std::future<void>& each : running) { each.get(); }
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

}  // namespace athanor
