#include "models/jobs/schedulers/gavel/shares.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include <glpk.h>

#include "sim/check.hpp"

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
  void at_least(const std::vector<int>& columns, const std::vector<double>& factors, double least) {
    add_row(columns, factors, GLP_LO, least);
  }
  void raise(int column, double least) { glp_set_col_bnds(problem_.get(), column, GLP_LO, least, 0); }

  void solve() {
    glp_smcp settings;
    glp_init_smcp(&settings);
    settings.msg_lev = GLP_MSG_OFF;
    const int ended = glp_simplex(problem_.get(), &settings);
    require(ended == 0 && glp_get_status(problem_.get()) == GLP_OPT, "a linear program without a solution: {}, {}",
            ended, glp_get_status(problem_.get()));
  }
  double value(int column) const { return glp_get_col_prim(problem_.get(), column); }

 private:
  struct Delete {
    void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
  };

  void add_row(const std::vector<int>& columns, const std::vector<double>& factors, int kind, double bound) {
    const int row = glp_add_rows(problem_.get(), 1);
    glp_set_row_bnds(problem_.get(), row, kind, bound, bound);
    glp_set_mat_row(problem_.get(), row, static_cast<int>(columns.size()) - 1, columns.data(), factors.data());
  }

  std::unique_ptr<glp_prob, Delete> problem_;
};

/// What the policy counts of a job on GPUs of some type for all of the time.
double worth(GavelPolicy policy, const GavelJob& job, std::size_t type, const std::vector<std::uint32_t>& gpus) {
  const double speed = job.speeds[type];
  if (policy == GavelPolicy::makespan) { return speed / job.remaining; }
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
    for (const GavelJob& job : jobs_) {
      std::vector<int>& columns = columns_.emplace_back(gpus.size());
      for (std::size_t type = 0; type < gpus.size(); ++type) {
        if (job.speeds[type] > 0 && job.gpus <= gpus[type]) { columns[type] = program_.add_column(); }
      }
    }
    limit();
  }

  std::vector<std::vector<double>> solve() {
    if (policy_ != GavelPolicy::fifo) { raise_the_least(); }
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      const double first = policy_ == GavelPolicy::fifo ? static_cast<double>(jobs_.size() - job) : 1;
      for (std::size_t type = 0; type < gpus_.size(); ++type) {
        if (columns_[job][type] == 0) { continue; }
        program_.weigh(columns_[job][type], first * worth(policy_, jobs_[job], type, gpus_));
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

  /// Of all jobs that can run at all.
  void raise_the_least() {
    const int least = program_.add_column();
    program_.weigh(least, 1);
    bool any = false;
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      std::vector<int> columns(1);
      std::vector<double> factors(1);
      for (std::size_t type = 0; type < gpus_.size(); ++type) {
        if (columns_[job][type] == 0) { continue; }
        columns.push_back(columns_[job][type]);
        factors.push_back(worth(policy_, jobs_[job], type, gpus_));
      }
      if (columns.size() == 1) { continue; }
      any = true;
      columns.push_back(least);
      factors.push_back(-1);
      program_.at_least(columns, factors, 0);
    }
    if (any) { program_.solve(); }
    constexpr double kRounding = 1e-9;
    program_.weigh(least, 0);
    if (any) { program_.raise(least, program_.value(least) * (1 - kRounding)); }
  }

  GavelPolicy policy_;
  const std::vector<GavelJob>& jobs_;
  const std::vector<std::uint32_t>& gpus_;
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
