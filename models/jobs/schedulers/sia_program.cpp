#include "models/jobs/schedulers/sia_program.hpp"

#include <memory>

#include <glpk.h>

#include "sim/check.hpp"

namespace athanor {

namespace {

/// Rows and columns count from 1 there; of each list the first is not used.
class SiaProgram {
 public:
  SiaProgram(const std::vector<SiaJob>& jobs, const std::vector<std::uint32_t>& gpus)
      : jobs_(jobs), problem_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    for (const std::uint32_t most : gpus) { of_type_.push_back(add_row(most)); }
    for (const SiaJob& job : jobs) { add_job(job); }
    glp_load_matrix(problem_.get(), static_cast<int>(rows_.size()) - 1, rows_.data(), columns_.data(), factors_.data());
  }

  std::vector<std::optional<SiaOption>> solve() {
    glp_iocp settings;
    glp_init_iocp(&settings);
    settings.msg_lev = GLP_MSG_OFF;
    settings.presolve = GLP_ON;
    settings.mip_gap = kSiaGap;
    const int ended = glp_intopt(problem_.get(), &settings);
    const int status = glp_mip_status(problem_.get());
    require((ended == 0 && status == GLP_OPT) || (ended == GLP_EMIPGAP && status == GLP_FEAS),
            "an integer program without a solution: {}, {}", ended, status);
    std::vector<std::optional<SiaOption>> chosen(jobs_.size());
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      const bool is_taken = glp_mip_col_val(problem_.get(), static_cast<int>(i) + 1) > 0.5;
      if (is_taken) { chosen[taken_[i].job] = jobs_[taken_[i].job].options[taken_[i].option]; }
    }
    return chosen;
  }

 private:
  struct Delete {
    void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
  };
  struct Taken {
    std::size_t job = 0;
    std::size_t option = 0;
  };

  int add_row(double most) {
    const int row = glp_add_rows(problem_.get(), 1);
    glp_set_row_bnds(problem_.get(), row, GLP_UP, 0, most);
    return row;
  }

  /// What costs no less than no GPUs at all is left out.
  void add_job(const SiaJob& job) {
    const auto number = static_cast<std::size_t>(&job - jobs_.data());
    const int once = add_row(1);
    for (std::size_t option = 0; option < job.options.size(); ++option) {
      const SiaOption& each = job.options[option];
      if (each.cost >= job.without) { continue; }
      const int column = glp_add_cols(problem_.get(), 1);
      glp_set_col_kind(problem_.get(), column, GLP_BV);
      glp_set_obj_coef(problem_.get(), column, each.cost - job.without);
      add_factor(once, column, 1);
      add_factor(of_type_.at(each.type), column, each.gpus);
      taken_.push_back({number, option});
    }
  }

  void add_factor(int row, int column, double factor) {
    rows_.push_back(row);
    columns_.push_back(column);
    factors_.push_back(factor);
  }

  const std::vector<SiaJob>& jobs_;
  std::unique_ptr<glp_prob, Delete> problem_;
  std::vector<int> of_type_;  ///< rows
  std::vector<Taken> taken_;  ///< by column, from 0 on
  std::vector<int> rows_{0};
  std::vector<int> columns_{0};
  std::vector<double> factors_{0};
};

}  // namespace

std::vector<std::optional<SiaOption>> solve_sia_program(const std::vector<SiaJob>& jobs,
                                                        const std::vector<std::uint32_t>& gpus) {
  return SiaProgram(jobs, gpus).solve();
}

}  // namespace athanor
