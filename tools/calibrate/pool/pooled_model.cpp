#include "tools/calibrate/pool/pooled_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/check.hpp"
#include "tools/cli/on_processors.hpp"

namespace athanor {

namespace {

constexpr double kStep = 0.04;  // of a logarithm, for differences: above what whole picoseconds and chunks make of it
constexpr double kNear = 0.1;   // of a logarithm of any figure: slopes are much the same there, and residuals are exact

}  // namespace

EffectSpreads assumed_spreads() {
  // By kind: launch, skew, step, rate, network_time, network_rate, share; then by family: network_latency,
  // network_rate. GPUs are what they are wherever they stand; how far networks differ, with their plugins and hosts, is
  // known from no data sheet. A network differs more from others than its protocols do among each other.
  EffectSpreads spreads{};
  spreads[static_cast<std::size_t>(EffectLevel::all)] = {0.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.1, 0.5, 0.5};
  spreads[static_cast<std::size_t>(EffectLevel::part)] = {0.25, 0.3, 0.2, 0.3, 0.3, 0.2, 0.1, 0.4, 0.25};
  spreads[static_cast<std::size_t>(EffectLevel::stack)] = {0.25, 0.25, 0.12, 0.12, 0.25, 0.2, 0.05, 0.3, 0.25};
  return spreads;
}

std::size_t group_of(FigureFamily family) { return kFigureKinds + static_cast<std::size_t>(family) - 1; }

PooledModel::PooledModel(Tables tables, std::vector<StackCase> cases)
    : tables_(std::move(tables)), cases_(std::move(cases)), effects_of_(cases_.size()) {
  find_rows();
  std::vector<double> typical;
  for (const Figure& each : figures()) { typical.push_back(each.typical); }
  base_.assign(cases_.size(), typical);
  for (std::size_t i = 0; i < cases_.size(); ++i) { add_effects(i); }
}

PooledModel::PooledModel(Tables tables, std::vector<StackCase> cases, const SoftwarePool& pool)
    : tables_(std::move(tables)), cases_(std::move(cases)), effects_of_(cases_.size()) {
  find_rows();
  base_.resize(cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    effects_of_[i].resize(figures().size());
    for (std::size_t j = 0; j < figures().size(); ++j) {
      const ExpectedFigure figure = expected(pool.figures.at(j), figures()[j], cases_[i].parts);
      const auto& begins_with = cases_[i].begins_with;
      const double given = begins_with ? figures()[j].get(*begins_with) : 0;
      base_[i].push_back(given > 0 ? given : figure.value);
      if (!matters(figures()[j], cases_[i].parts)) { continue; }
      const std::size_t own = effect(j, EffectLevel::stack, cases_[i].stack);
      effects_of_[i][j] = {own};
      if (own == expected_.size()) { expected_.push_back(figure.spread); }
    }
  }
}

void PooledModel::find_rows() {
  require(cases_.size() == tables_.cases.size(), "every case has a stack");
  rows_.resize(cases_.size());
  simulated_.resize(cases_.size());
  differences_.resize(cases_.size());
  for (std::size_t i = 0; i < tables_.rows.size(); ++i) {
    auto& [first, count] = rows_.at(tables_.rows[i].in_case);
    if (count == 0) { first = i; }
    require(first + count == i, "rows of a case stand together");
    ++count;
  }
}

void PooledModel::add_effects(std::size_t in_case) {
  const StackCase& own = cases_[in_case];
  effects_of_[in_case].resize(figures().size());
  for (std::size_t i = 0; i < figures().size(); ++i) {
    const Figure& figure = figures()[i];
    if (!matters(figure, own.parts)) { continue; }
    std::vector<std::size_t>& mine = effects_of_[in_case][i];
    mine.push_back(effect(i, EffectLevel::all, ""));
    const auto add = [&](EffectLevel level, const std::string& name) {
      mine.push_back(effect(i, level, name));
      if (figure.family != FigureFamily::none) { mine.push_back(effect_on_family(figure.family, level, name)); }
    };
    for (const std::string& part : parts_of(figure, own.parts)) { add(EffectLevel::part, part); }
    if (figure.owner == FigureOwner::nobody) { continue; }
    const bool of_gpus = figure.owner == FigureOwner::gpu || figure.owner == FigureOwner::node_link;
    add(EffectLevel::stack, of_gpus ? own.stack + " " + own.parts.gpu : own.stack);
  }
}

std::size_t PooledModel::effect(std::size_t figure, EffectLevel level, const std::string& name) {
  return effects_.place({{figure}, static_cast<std::size_t>(figures()[figure].kind), level, name});
}

std::size_t PooledModel::effect_on_family(FigureFamily family, EffectLevel level, const std::string& name) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (figures()[i].family == family) { members.push_back(i); }
  }
  return effects_.place({std::move(members), group_of(family), level, name});
}

Spreads PooledModel::prior(const EffectSpreads& spreads) const {
  return expected_.empty() ? spreads_of(effects(), spreads) : expected_;
}

double PooledModel::figure_value(std::size_t in_case, std::size_t figure, const std::vector<double>& unknowns) const {
  const std::vector<std::size_t>& mine = effects_of_[in_case][figure];
  return base_[in_case][figure] *
         std::exp(std::accumulate(mine.begin(), mine.end(), 0.0,
                                  [&](double sum, std::size_t i) { return sum + unknowns[i]; }));
}

std::vector<double> PooledModel::values(std::size_t in_case, const std::vector<double>& unknowns) const {
  std::vector<double> result;
  for (std::size_t i = 0; i < figures().size(); ++i) { result.push_back(figure_value(in_case, i, unknowns)); }
  return result;
}

Profile PooledModel::profile_with(std::size_t in_case, const std::vector<double>& values) const {
  const StackCase& own = cases_[in_case];
  Profile profile = blank_profile(own.parts);
  profile.nccl->choosing = own.choosing;
  profile.nccl->version = own.version;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (!effects_of_[in_case][i].empty()) { figures()[i].set(profile, values[i]); }
  }
  return profile;
}

std::vector<FigureAtBound> PooledModel::at_bounds(const std::vector<double>& unknowns) const {
  std::set<FigureAtBound> found;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    for (std::size_t figure = 0; figure < figures().size(); ++figure) {
      if (effects_of_[i][figure].empty()) { continue; }
      const Figure& each = figures()[figure];
      const double value = figure_value(i, figure, unknowns);
      const bool whole = each.unit == FigureUnit::share && each.most == 1;  // all that the hardware has
      if (value <= each.least) { found.insert({cases_[i].stack, figure, each.least}); }
      if (value >= each.most && !whole) { found.insert({cases_[i].stack, figure, each.most}); }
    }
  }
  return {found.begin(), found.end()};
}

Profile PooledModel::profile(std::size_t in_case, const std::vector<double>& unknowns) const {
  return profile_with(in_case, values(in_case, unknowns));
}

std::set<std::string> PooledModel::stacks() const {
  std::set<std::string> result;
  for (const StackCase& each : cases_) { result.insert(each.stack); }
  return result;
}

std::vector<std::size_t> PooledModel::cases_of(const std::string& stack) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    if (cases_[i].stack == stack) { result.push_back(i); }
  }
  return result;
}

std::vector<std::size_t> PooledModel::every_case() const {
  std::vector<std::size_t> all(cases_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<bool> PooledModel::shared_with_others(const std::vector<std::size_t>& of_cases) const {
  std::vector<bool> result(effects().size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    if (std::count(of_cases.begin(), of_cases.end(), i) > 0) { continue; }
    for (const std::vector<std::size_t>& mine : effects_of_[i]) {
      for (const std::size_t effect : mine) { result[effect] = true; }
    }
  }
  return result;
}

std::vector<double> PooledModel::residuals_of(std::size_t in_case, const Profile& profile) const {
  const Tables::MeasuredCase& measured = tables_.cases[in_case];
  Platform platform = measured.platform;
  platform.profile = std::make_shared<const Profile>(profile);
  std::vector<double> result;
  for (std::size_t i = rows_[in_case].first; i < rows_[in_case].first + rows_[in_case].second; ++i) {
    const TableRow& row = tables_.rows[i];
    result.push_back(std::log(simulated_us(platform, measured.setup, row) / row.measured_us));
  }
  return result;
}

/// The largest cases first, so that none is left for one processor at the end.
void PooledModel::run(std::vector<Task>& tasks) const {
  std::vector<Task*> order;
  for (Task& task : tasks) { order.push_back(&task); }
  const auto ranks = [&](const Task* task) { return tables_.cases[task->in_case].setup.ranks; };
  std::stable_sort(order.begin(), order.end(), [&](const Task* a, const Task* b) { return ranks(a) > ranks(b); });
  on_processors(order.size(),
                [&](std::size_t i) { order[i]->residuals = residuals_of(order[i]->in_case, order[i]->profile); });
}

void PooledModel::simulate(const std::vector<double>& unknowns, const std::vector<std::size_t>& of_cases,
                           std::vector<double>& residuals) {
  constexpr std::size_t kRemembered = 6;
  std::vector<Task> tasks;
  for (const std::size_t i : of_cases) {
    Simulated now{values(i, unknowns), cases_[i].choosing, {}};
    if (known_residuals(i, now.values) != nullptr) { continue; }
    tasks.push_back({i, profile_with(i, now.values), {}});
    std::vector<Simulated>& known = simulated_[i];
    known.insert(known.begin(), std::move(now));
    if (known.size() > kRemembered) { known.pop_back(); }
  }
  run(tasks);
  for (Task& task : tasks) { simulated_[task.in_case].front().residuals = std::move(task.residuals); }
  for (const std::size_t i : of_cases) {
    const Simulated* const known = known_residuals(i, values(i, unknowns));
    require(known != nullptr, "residuals are known of what was just simulated");
    std::copy(known->residuals.begin(), known->residuals.end(),
              residuals.begin() + static_cast<std::ptrdiff_t>(rows_[i].first));
  }
}

const PooledModel::Simulated* PooledModel::known_residuals(std::size_t in_case, const std::vector<double>& here) const {
  for (const Simulated& each : simulated_[in_case]) {
    if (each.choosing == cases_[in_case].choosing && each.values == here) { return &each; }
  }
  return nullptr;
}

std::vector<double> PooledModel::residuals(const std::vector<double>& unknowns) {
  std::vector<double> result(tables_.rows.size());
  simulate(unknowns, every_case(), result);
  return result;
}

/// Each of the figures that matter in turn, a little more of it; or less, where it is at its bound.
std::vector<PooledModel::Task> PooledModel::changed(std::size_t in_case, const std::vector<double>& here,
                                                    std::vector<double>& steps) const {
  std::vector<Task> tasks;
  for (std::size_t figure = 0; figure < figures().size(); ++figure) {
    if (effects_of_[in_case][figure].empty()) { continue; }
    const double step = here[figure] * std::exp(kStep) > figures()[figure].most ? -kStep : kStep;
    std::vector<double> there = here;
    there[figure] *= std::exp(step);
    tasks.push_back({in_case, profile_with(in_case, there), {}});
    steps.push_back(step);
  }
  return tasks;
}

/// Those that were taken near here; a null pointer where there are none.
const PooledModel::Differences* PooledModel::known_differences(std::size_t in_case,
                                                               const std::vector<double>& here) const {
  const auto near = [&](double a, double b) { return std::abs(std::log(a / b)) <= kNear; };
  for (const Differences& each : differences_[in_case]) {
    if (each.choosing == cases_[in_case].choosing && std::equal(here.begin(), here.end(), each.values.begin(), near)) {
      return &each;
    }
  }
  return nullptr;
}

/// Of those of the cases of which none are known near here.
void PooledModel::take_differences(const std::vector<double>& unknowns, const std::vector<double>& residuals,
                                   const std::vector<std::size_t>& of_cases) {
  constexpr std::size_t kRemembered = 6;  // a fit of all, and what hold-outs have made of it lately
  std::vector<Task> tasks;
  std::vector<double> steps;
  for (const std::size_t i : of_cases) {
    Differences fresh{values(i, unknowns), cases_[i].choosing, {}};
    if (known_differences(i, fresh.values) != nullptr) { continue; }
    const auto [first, count] = rows_[i];
    for (std::size_t row = first; row < first + count; ++row) {
      tables_.rows[row].times = std::make_shared<RowTimes>();  // those of former unknowns will not come again
    }
    for (Task& each : changed(i, fresh.values, steps)) { tasks.push_back(std::move(each)); }
    std::vector<Differences>& known = differences_[i];
    known.insert(known.begin(), std::move(fresh));
    if (known.size() > kRemembered) { known.pop_back(); }
  }
  run(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::vector<double>& of_rows = tasks[i].residuals;
    for (std::size_t row = 0; row < of_rows.size(); ++row) {
      of_rows[row] = (of_rows[row] - residuals[rows_[tasks[i].in_case].first + row]) / steps[i];
    }
    differences_[tasks[i].in_case].front().of_figures.push_back(std::move(of_rows));
  }
}

std::vector<Slopes> PooledModel::slopes(const std::vector<double>& unknowns, const std::vector<double>& residuals,
                                        const std::vector<std::size_t>& of_cases) {
  take_differences(unknowns, residuals, of_cases);
  std::vector<Slopes> result;
  for (const std::size_t i : of_cases) {
    const Differences* known = known_differences(i, values(i, unknowns));
    require(known != nullptr, "differences are known where they were just taken");
    Slopes slopes{rows_[i].first, {}};
    std::size_t next = 0;
    for (const std::vector<std::size_t>& effects : effects_of_[i]) {
      if (!effects.empty()) { slopes.columns.push_back({effects, known->of_figures[next++]}); }
    }
    result.push_back(std::move(slopes));
  }
  return result;
}

}  // namespace athanor
