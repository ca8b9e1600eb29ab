#include "tools/verify/plan_choice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "tools/verify/ranking.hpp"

namespace athanor {

namespace {

bool same_training(const PlanTrial& a, const PlanTrial& b) {
  const TrainingSetup& one = *a.setup;
  const TrainingSetup& other = *b.setup;
  return one.model == other.model && one.plan.ranks() == other.plan.ranks() && one.gpu == other.gpu &&
         one.plan.global_batch == other.plan.global_batch && one.plan.sequence == other.plan.sequence &&
         one.plan.precision == other.plan.precision && a.release == b.release;
}

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/// M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33 (1945): of all pairs, those in the same
/// order less those in the other, over the geometric mean of the pairs that each side tells apart. 0: one side tells
/// none apart.
double kendall_tau(const std::vector<PlanTrial>& plans) {
  double agreed = 0;
  double simulated_apart = 0;
  double measured_apart = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int simulated = sign(plans[i].simulated - plans[j].simulated);
      const int measured = sign(plans[i].measured - plans[j].measured);
      agreed += simulated * measured;
      simulated_apart += std::abs(simulated);
      measured_apart += std::abs(measured);
    }
  }
  const double pairs = std::sqrt(simulated_apart * measured_apart);
  return pairs == 0 ? 0 : agreed / pairs;
}

PlanChoice choice_among(const std::vector<PlanTrial>& plans) {
  const auto least = [&](double PlanTrial::*time) {
    return *std::min_element(plans.begin(), plans.end(),
                             [&](const PlanTrial& a, const PlanTrial& b) { return a.*time < b.*time; });
  };
  const PlanTrial predicted = least(&PlanTrial::simulated);
  const PlanTrial measured = least(&PlanTrial::measured);
  const TrainingSetup& setup = *plans.front().setup;
  return {.model = setup.model.name,
          .gpus = setup.plan.ranks(),
          .global_batch = setup.plan.global_batch,
          .sequence = setup.plan.sequence,
          .plans = plans.size(),
          .tau = kendall_tau(plans),
          .predicted = predicted.name,
          .measured = measured.name,
          .regret = predicted.measured / measured.measured - 1};
}

std::string framework_of(const PlanTrial& trial) {
  const FrameworkUse& use = trial.setup->framework;
  return use.framework ? use.framework->name : "";
}

bool same_plan(const PlanTrial& a, const PlanTrial& b) {
  return a.setup->plan == b.setup->plan && a.setup->layers == b.setup->layers && framework_of(a) == framework_of(b);
}

/// One that was measured several times counts once, with the mean.
std::vector<PlanTrial> distinct(const std::vector<PlanTrial>& trials) {
  std::vector<PlanTrial> plans;
  std::vector<double> times;
  for (const PlanTrial& trial : trials) {
    const auto found =
        std::find_if(plans.begin(), plans.end(), [&](const PlanTrial& each) { return same_plan(each, trial); });
    if (found == plans.end()) {
      plans.push_back(trial);
      times.push_back(1);
      continue;
    }
    double& count = times[static_cast<std::size_t>(found - plans.begin())];
    found->measured = (found->measured * count + trial.measured) / (count + 1);
    ++count;
  }
  return plans;
}

bool differ(const std::vector<PlanTrial>& plans) {
  return std::any_of(plans.begin(), plans.end(),
                     [&](const PlanTrial& each) { return each.measured != plans.front().measured; });
}

}  // namespace

std::vector<PlanChoice> plan_choices(const std::vector<PlanTrial>& trials) {
  std::vector<std::vector<PlanTrial>> groups;
  for (const PlanTrial& trial : trials) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<PlanTrial>& each) {
      return same_training(each.front(), trial);
    });
    if (group == groups.end()) {
      groups.push_back({trial});
    } else {
      group->push_back(trial);
    }
  }
  std::vector<PlanChoice> choices;
  for (const std::vector<PlanTrial>& group : groups) {
    const std::vector<PlanTrial> plans = distinct(group);
    if (differ(plans)) { choices.push_back(choice_among(plans)); }
  }
  return choices;
}

std::string plan_choice_lines(const std::vector<PlanChoice>& choices) {
  std::string lines;
  for (const PlanChoice& each : choices) {
    const auto quoted = [](const std::string& name) { return fmt::format("'{}'", name); };
    lines += fmt::format("# {} plans of {} on {} GPUs, {} sequences of {}: Kendall's tau {:.2f}; {}\n", each.plans,
                         each.model, each.gpus, each.global_batch, each.sequence, each.tau,
                         choice_text(quoted(each.predicted), quoted(each.measured), each.regret));
  }
  return lines;
}

std::string plan_choice_summary(const std::vector<PlanChoice>& choices) {
  if (choices.empty()) { return ""; }
  double tau = 0;
  double least = 1;
  double regret = 0;
  double greatest = 0;
  for (const PlanChoice& each : choices) {
    tau += each.tau / static_cast<double>(choices.size());
    least = std::min(least, each.tau);
    regret += each.regret / static_cast<double>(choices.size());
    greatest = std::max(greatest, each.regret);
  }
  return fmt::format(
      "# {} choices among plans: Kendall's tau {:.2f} in the mean, {:.2f} at least; the plan predicted to be the "
      "fastest takes {:.1f} % longer than the fastest in the mean, {:.1f} % at most\n",
      choices.size(), tau, least, regret * 100, greatest * 100);
}

std::vector<JsonValue> plan_choice_json(const std::string& scenario, const std::vector<PlanChoice>& choices) {
  std::vector<JsonValue> elements;
  for (const PlanChoice& each : choices) {
    elements.push_back({{"scenario", scenario},
                        {"model", each.model},
                        {"gpus", each.gpus},
                        {"global_batch", each.global_batch},
                        {"sequence", each.sequence},
                        {"plans", each.plans},
                        {"tau", each.tau},
                        {"predicted", each.predicted},
                        {"measured", each.measured},
                        {"regret", each.regret}});
  }
  return elements;
}

}  // namespace athanor
