#include "models/jobs/schedulers/gavel/shares.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/core.h>
#include <glpk.h>

#include "sim/error.hpp"

namespace athanor {

namespace {

/// Columns and rows count from 1 there.
class LinearProgram {
 public:
  LinearProgram() : problem_(glp_create_prob()) {
    glp_set_obj_dir(problem_.get(), GLP_MAX);
    glp_term_out(GLP_OFF);
  }

  /// A variable from 0 on.
  int add_column() {
    const int column = glp_add_cols(problem_.get(), 1);
    glp_set_col_bnds(problem_.get(), column, GLP_LO, 0, 0);
    return column;
  }
  void weigh(int column, double weight) { glp_set_obj_coef(problem_.get(), column, weight); }

  /// `factors` by column, behind an unused first one of each.
  void at_most(const std::vector<int>& columns, const std::vector<double>& factors, double most) {
    add_row(columns, factors, GLP_UP, most);
  }
  /// The number of the row.
  int at_least(const std::vector<int>& columns, const std::vector<double>& factors, double least) {
    return add_row(columns, factors, GLP_LO, least);
  }
  /// Such a row becomes another one. The solver begins anew then: its basis may be none any more.
  void replace(int row, const std::vector<int>& columns, const std::vector<double>& factors, double least) {
    set_row(row, columns, factors, GLP_LO, least);
    glp_std_basis(problem_.get());
  }

  void solve() {
    glp_smcp settings;
    glp_init_smcp(&settings);
    settings.msg_lev = GLP_MSG_OFF;
    const int ended = glp_simplex(problem_.get(), &settings);
    const int status = glp_get_status(problem_.get());
    if (ended == 0 && status == GLP_OPT) { return; }
    throw SimulationError("no-solution", fmt::format("the linear program of 'gavel' was not solved ({}, {}); choose "
                                                     "another policy or scheduler",
                                                     ended, status));
  }
  double value(int column) const { return glp_get_col_prim(problem_.get(), column); }
  /// What the objective would gain by a row that asks for less; 0: the row does not bind it.
  double dual(int row) const { return glp_get_row_dual(problem_.get(), row); }

 private:
  struct Delete {
    void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
  };

  int add_row(const std::vector<int>& columns, const std::vector<double>& factors, int kind, double bound) {
    const int row = glp_add_rows(problem_.get(), 1);
    set_row(row, columns, factors, kind, bound);
    return row;
  }
  void set_row(int row, const std::vector<int>& columns, const std::vector<double>& factors, int kind, double bound) {
    glp_set_row_bnds(problem_.get(), row, kind, bound, bound);
    glp_set_mat_row(problem_.get(), row, static_cast<int>(columns.size()) - 1, columns.data(), factors.data());
  }

  std::unique_ptr<glp_prob, Delete> problem_;
};

/// What the policy counts of a job on GPUs of some type for all of the time. `longest`: work of any job, by which
/// others' is counted, since solvers take small numbers for zero.
double worth(GavelPolicy policy, const GavelJob& job, std::size_t type, const std::vector<std::uint32_t>& gpus,
             double longest) {
  const double speed = job.speeds[type];
  if (policy == GavelPolicy::makespan) { return speed / (job.remaining / longest); }
  if (policy == GavelPolicy::fifo) { return speed / *std::max_element(job.speeds.begin(), job.speeds.end()); }
  double equal = 0;  // speed with as much time on each type as it has of all GPUs
  const double all = std::accumulate(gpus.begin(), gpus.end(), 0.0);
  for (std::size_t each = 0; each < gpus.size(); ++each) { equal += job.speeds[each] * gpus[each] / all; }
  return speed / equal * job.gpus;
}

class SharesProgram {
 public:
  SharesProgram(GavelPolicy policy, const std::vector<GavelJob>& jobs, const std::vector<std::uint32_t>& gpus)
      : policy_(policy), jobs_(jobs), gpus_(gpus) {
    for (const GavelJob& job : jobs_) { longest_ = std::max(longest_, job.remaining); }
    for (const GavelJob& job : jobs_) {
      std::vector<int>& columns = columns_.emplace_back(gpus.size());
      for (std::size_t type = 0; type < gpus.size(); ++type) {
        if (job.speeds[type] > 0 && job.gpus <= gpus[type]) { columns[type] = program_.add_column(); }
      }
    }
    limit();
  }

  std::vector<std::vector<double>> solve() {
    if (policy_ != GavelPolicy::fifo) { raise_levels(); }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const double first = policy_ == GavelPolicy::fifo ? static_cast<double>(jobs_.size() - job) : 1;
      for (std::size_t type = 0; type < gpus_.size(); ++type) {
        if (columns_[job][type] == 0) { continue; }
        program_.weigh(columns_[job][type], first * worth(policy_, jobs_[job], type, gpus_, longest_));
      }
    }
    program_.solve();
    std::vector<std::vector<double>> shares;
    for (const std::vector<int>& columns : columns_) {
      std::vector<double>& own = shares.emplace_back();
      for (const int column : columns) { own.push_back(column == 0 ? 0 : std::max(0.0, program_.value(column))); }
    }
    return shares;
  }

 private:
  /// No job has more than all of the time, and no type more GPUs than there are.
  void limit() {
    for (const std::vector<int>& own : columns_) {
      std::vector<int> columns(1);
      for (const int column : own) {
        if (column > 0) { columns.push_back(column); }
      }
      if (columns.size() > 1) { program_.at_most(columns, std::vector<double>(columns.size(), 1), 1); }
    }
    for (std::size_t type = 0; type < gpus_.size(); ++type) {
      std::vector<int> columns(1);
      std::vector<double> factors(1);
      for (std::size_t job = 0; job < jobs_.size(); ++job) {
        if (columns_[job][type] == 0) { continue; }
        columns.push_back(columns_[job][type]);
        factors.push_back(jobs_[job].gpus);
      }
      if (columns.size() > 1) { program_.at_most(columns, factors, gpus_[type]); }
    }
  }

  /// What keeps a job that can run above the common level, which is the last of the columns.
  struct Floor {
    std::vector<int> columns;
    std::vector<double> factors;
    int row = 0;
  };
  std::vector<Floor> floors(int level) {
    std::vector<Floor> floors;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      Floor floor{std::vector<int>(1), std::vector<double>(1)};
      for (std::size_t type = 0; type < gpus_.size(); ++type) {
        if (columns_[job][type] == 0) { continue; }
        floor.columns.push_back(columns_[job][type]);
        floor.factors.push_back(worth(policy_, jobs_[job], type, gpus_, longest_));
      }
      if (floor.columns.size() == 1) { continue; }
      floor.columns.push_back(level);
      floor.factors.push_back(-1);
      floor.row = program_.at_least(floor.columns, floor.factors, 0);
      floors.push_back(std::move(floor));
    }
    return floors;
  }

  /// The level of all jobs is raised as far as that goes; of fairness those that hold it back stay there, and that of
  /// the others is raised further, and so on (water-filling). A few levels say nearly all.
  void raise_levels() {
    constexpr int kMostLevels = 8;
    constexpr double kRounding = 1e-9;
    const int level = program_.add_column();
    program_.weigh(level, 1);
    std::vector<Floor> rising = floors(level);
    const auto holds_back = [&](const Floor& floor) { return std::abs(program_.dual(floor.row)) > kRounding; };
    const int levels = policy_ == GavelPolicy::max_min_fairness ? kMostLevels : 1;
    for (int number = 1; !rising.empty(); ++number) {
      program_.solve();
      const double reached = program_.value(level) * (1 - kRounding);
      const bool all = number >= levels || std::none_of(rising.begin(), rising.end(), holds_back);
      std::vector<Floor> still;
      std::vector<Floor> fixed;
      for (Floor& floor : rising) {
        if (!all && !holds_back(floor)) {
          still.push_back(std::move(floor));
          continue;
        }
        floor.columns.pop_back();
        floor.factors.pop_back();
        fixed.push_back(std::move(floor));
      }
      for (const Floor& floor : fixed) { program_.replace(floor.row, floor.columns, floor.factors, reached); }
      rising = std::move(still);
    }
    program_.weigh(level, 0);
  }

  GavelPolicy policy_;
  const std::vector<GavelJob>& jobs_;
  const std::vector<std::uint32_t>& gpus_;
  double longest_ = 0;
  LinearProgram program_;
  std::vector<std::vector<int>> columns_;  ///< by job and type; 0: none
};

}  // namespace

std::vector<std::vector<double>> gavel_shares(GavelPolicy policy, const std::vector<GavelJob>& jobs,
                                              const std::vector<std::uint32_t>& gpus) {
  if (jobs.empty()) { return {}; }
  return SharesProgram(policy, jobs, gpus).solve();
}

}  // namespace athanor
