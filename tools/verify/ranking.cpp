#include "tools/verify/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "sim/format.hpp"
#include "sim/rank_correlation.hpp"

namespace athanor {

namespace {

Ranking ranking_of(Bytes size, const std::vector<const Record*>& records) {
  std::vector<double> simulated;
  std::vector<double> measured;
  for (const Record* record : records) {
    simulated.push_back(record->number(kTime));
    measured.push_back(record->number(kMeasuredTime));
  }
  const auto predicted = std::min_element(simulated.begin(), simulated.end()) - simulated.begin();
  const auto best = std::min_element(measured.begin(), measured.end()) - measured.begin();
  const auto at = [](const auto& list, std::ptrdiff_t i) { return list[static_cast<std::size_t>(i)]; };
  return {records.front()->string(kCase),
          size,
          records.size(),
          rank_correlation(simulated, measured),
          at(records, predicted)->string(kAlgorithm),
          at(records, best)->string(kAlgorithm),
          at(measured, predicted) / at(measured, best) - 1};
}

std::string error_text(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return fmt::format("{:>3} points, median |error| {:5.1f} %, worst {:6.1f} %", errors.size(),
                     errors[errors.size() / 2] * 100, errors.back() * 100);
}

}  // namespace

std::vector<Ranking> rankings(const std::vector<Record>& records) {
  std::vector<Bytes> sizes;
  std::map<Bytes, std::vector<const Record*>> by_size;
  for (const Record& record : records) {
    if (!record.has(kMeasuredTime)) { continue; }
    const Bytes size = size_of(record);
    std::vector<const Record*>& same = by_size[size];
    if (same.empty()) { sizes.push_back(size); }
    same.push_back(&record);
  }
  std::vector<Ranking> all;
  for (const Bytes size : sizes) {
    if (by_size[size].size() > 1) { all.push_back(ranking_of(size, by_size[size])); }
  }
  return all;
}

JsonValue to_json(const Ranking& ranking) {
  return {{"case", ranking.case_name},        {"bytes", ranking.size.count()},
          {"algorithms", ranking.algorithms}, {"correlation", ranking.correlation},
          {"predicted", ranking.predicted},   {"measured", ranking.measured},
          {"regret", ranking.regret}};
}

std::string algorithm_error_lines(const std::vector<Record>& records) {
  std::map<std::string, std::vector<double>> errors;
  std::vector<double> all;
  for (const Record& record : records) {
    if (!record.has(kError)) { continue; }
    errors[record.string(kAlgorithm)].push_back(std::abs(record.number(kError)));
    all.push_back(std::abs(record.number(kError)));
  }
  std::string lines;
  for (const auto& [algorithm, of] : errors) { lines += fmt::format("# {:<26} {}\n", algorithm + ":", error_text(of)); }
  return all.empty() ? lines : lines + fmt::format("# {:<26} {}\n", "all algorithms:", error_text(all));
}

std::string choice_text(const std::string& predicted, const std::string& measured, double regret) {
  return predicted == measured
             ? fmt::format("{} is predicted and measured to be the fastest", measured)
             : fmt::format("{} is predicted, {} measured to be the fastest: choosing the former costs {:.1f} %",
                           predicted, measured, regret * 100);
}

std::string ranking_lines(const std::vector<Ranking>& rankings) {
  std::string lines;
  for (const Ranking& ranking : rankings) {
    lines += fmt::format("# {:>9}: rank correlation {:5.2f} of {} algorithms; {}\n", to_string(ranking.size),
                         ranking.correlation, ranking.algorithms,
                         choice_text(ranking.predicted, ranking.measured, ranking.regret));
  }
  return lines;
}

}  // namespace athanor
