#include "tools/calibrate/tables/stack_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace athanor {

namespace {

constexpr std::array kGroups{FigureGroup::links, FigureGroup::call, FigureGroup::ll, FigureGroup::ll128,
                             FigureGroup::simple};

StackParameters of_group(const StackParameters& all, FigureGroup group) {
  StackParameters result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result),
               [&](const StackParameter* each) { return each->group == group; });
  return result;
}

/// Of each table so many of its smallest sizes, or of its largest from 64 MiB on.
std::vector<TableRow> ends(const std::vector<TableRow>& rows, std::size_t many, bool largest) {
  constexpr Bytes kLarge{1 << 26};
  std::vector<TableRow> result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto beyond = [&](const TableRow& other) {
      const bool same = other.table == rows[i].table && other.in_case == rows[i].in_case;
      return same && (largest ? other.size > rows[i].size : other.size < rows[i].size);
    };
    const auto rank = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), beyond));
    if (rank < many && (!largest || rows[i].size >= kLarge)) { result.push_back(rows[i]); }
  }
  return result;
}

std::vector<SearchRange> ranges(const StackParameters& parameters, const Profile& start) {
  std::vector<SearchRange> result;
  for (const StackParameter* each : parameters) {
    result.push_back({each->cost.get(start), each->cost.least, each->cost.most});
  }
  return result;
}

Profile with(Profile profile, const StackParameters& parameters, const std::vector<double>& values) {
  for (std::size_t i = 0; i < parameters.size(); ++i) { parameters[i]->cost.set(profile, values[i]); }
  return profile;
}

}  // namespace

double stack_loss(const std::vector<TableRow>& rows) {
  double sum = 0;
  for (const TableRow& row : rows) { sum += robust_loss(row.simulated_us / row.measured_us); }
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

double StackSearch::loss_of(const Profile& profile, Tables& tables) const {
  simulate(tables, profile);
  double pull = 0;
  for (const StackParameter* each : free_) {
    const double folds = std::log(each->cost.get(profile) / each->cost.get(centre_));
    pull += each->pull * each->pull * folds * folds;
  }
  return stack_loss(tables.rows) + pull_ * pull / static_cast<double>(std::max<std::size_t>(1, tables.rows.size()));
}

double StackSearch::row_loss() {
  simulate(tables_, profile_);
  return stack_loss(tables_.rows);
}

void StackSearch::search(const StackParameters& parameters, Tables& tables, double factor, int evaluations) {
  if (parameters.empty() || tables.rows.empty()) { return; }
  const Profile before = profile_;
  const auto loss = [&](const std::vector<double>& values) {
    return loss_of(with(before, parameters, values), tables);
  };
  const double loss_before = loss_of(before, tables);
  const std::vector<double> found =
      least_error(ranges(parameters, before), factor, evaluations, loss, SearchMethod::quadratic);
  if (loss(found) < loss_before) { profile_ = with(before, parameters, found); }
}

void StackSearch::anchor(const StackParameters& parameters) {
  free_ = parameters;
  Tables largest = tables_.with(ends(tables_.rows, 2, true));
  search(of_group(parameters, FigureGroup::links), largest, 1.5, 40);
  Tables smallest = tables_.with(ends(tables_.rows, 3, false));
  search(of_group(parameters, FigureGroup::call), smallest, 1.5, 60);
}

void StackSearch::refine(const StackParameters& parameters, int cycles) {
  free_ = parameters;
  double factor = 1.6;
  for (int cycle = 0; cycle < cycles; ++cycle) {
    for (const FigureGroup group : kGroups) {
      const StackParameters some = of_group(parameters, group);
      search(some, tables_, factor, 10 * (static_cast<int>(some.size()) + 1));
    }
    factor = 1 + (factor - 1) * 0.6;
  }
}

void StackSearch::finish(const StackParameters& parameters, int evaluations) {
  free_ = parameters;
  search(parameters, tables_, 1.2, evaluations);
  search(parameters, tables_, 1.05, evaluations / 2);
}

/// What calls cost makes up for much of what a figure no longer explains, and costs no simulation.
double StackSearch::loss_without(const StackParameter& parameter, const StackParameters& others) {
  const Profile before = profile_;
  parameter.cost.set(profile_, parameter.cost.get(centre_));
  const StackParameters calls = of_group(others, FigureGroup::call);
  search(calls, tables_, 1.3, 8 * (static_cast<int>(calls.size()) + 1));
  const double loss = loss_of(profile_, tables_);
  profile_ = before;
  return loss;
}

StackParameters StackSearch::reduce(StackParameters parameters, std::size_t most) {
  while (parameters.size() > most) {
    double least = 0;
    std::size_t worst = parameters.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      StackParameters others = parameters;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      free_ = others;
      const double loss = loss_without(*parameters[i], others);
      if (worst == parameters.size() || loss < least) {
        least = loss;
        worst = i;
      }
    }
    const StackParameter& given_back = *parameters[worst];
    given_back.cost.set(profile_, given_back.cost.get(centre_));
    parameters.erase(parameters.begin() + static_cast<std::ptrdiff_t>(worst));
    free_ = parameters;
    search(of_group(parameters, FigureGroup::call), tables_, 1.3, 20);
  }
  return parameters;
}

}  // namespace athanor
