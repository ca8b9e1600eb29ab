#include "models/experiments/scenario/side_by_side_section.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "algorithms/schedule/field_names.hpp"
#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/side_by_side.hpp"
#include "models/experiments/trace.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kMostJobs = 4096;
constexpr std::uint32_t kMostSteps = 1'000'000;
constexpr std::uint32_t kMostEndpoints = 10'000'000;

void read_iteration(Fields& fields, IterationConfig& iteration) {
  fields.optional("compute", iteration.compute, "Before the call");
  fields.optional("beside", iteration.beside, "Computing beside the call; the step ends with whichever takes longer");
  fields.optional("kind", iteration.kind, "What all ranks call", collective_names());
  fields.required("size", iteration.size, "Of its payload, as that of a collective", {Bytes{1}});
  const auto refuse = [&](const char* why) {
    fields.problem("kind", "conflict", why, "choose another one, such as all_reduce");
  };
  if (iteration.kind == CollectiveKind::all_to_all_v) { refuse("the sizes of all_to_all_v are no single one"); }
  if (iteration.kind == CollectiveKind::send_receive) { refuse("a message has two ends, and a call is of all ranks"); }
  if (iteration.kind == CollectiveKind::barrier) { refuse("a barrier has no size"); }
}

void read_what(Fields& fields, ReadingContext& context, SideJobConfig& job) {
  fields.optional_object("training", "A step of training again and again: as by itself, but for what was measured",
                         [&](Fields& inner) { visit(inner, context, job.training.emplace()); });
  fields.optional_object("trace", "What ranks did somewhere, again and again: as by itself", [&](Fields& inner) {
    visit(inner, context.files, context.traces, context.problems, job.trace.emplace());
  });
  fields.optional_object("iteration", "A step that is described by what it takes",
                         [&](Fields& inner) { read_iteration(inner, job.iteration.emplace()); });
  const int kinds = (job.training ? 1 : 0) + (job.trace ? 1 : 0) + (job.iteration ? 1 : 0);
  if (!fields.reading() || kinds == 1 || !fields.ok()) { return; }
  fields.problem("", kinds == 0 ? "missing-key" : "conflict", "a job does one thing again and again",
                 R"(write one of "training", "trace" and "iteration")");
}

void read_where(Fields& fields, SideJobConfig& job) {
  fields.optional("gpus", job.gpus, "So many endpoints, the first that no job before has; absent: as its plan or trace",
                  {1, kMostEndpoints});
  fields.optional("nodes", job.nodes, "Or all endpoints of these nodes, in this order");
  fields.optional("endpoints", job.endpoints, "Or these, by rank");
  const int ways = (job.gpus ? 1 : 0) + (job.nodes.empty() ? 0 : 1) + (job.endpoints.empty() ? 0 : 1);
  if (fields.reading() && ways > 1) {
    fields.problem("gpus", "conflict", "a job is placed in one way", R"(keep one of "gpus", "nodes" and "endpoints")");
  }
}

void read_job(Fields& fields, ReadingContext& context, SideJobConfig& job) {
  job.place = fields.place();
  fields.optional("name", job.name, "As results name it; absent: \"job\" and its number");
  read_what(fields, context, job);
  read_where(fields, job);
  fields.optional("start", job.start, "When its first step begins");
  fields.optional("priority", job.priority, "Its calls get links before those of jobs with less, and before traffic",
                  {0, 255});
  fields.optional("steps", job.steps,
                  "After so many it ends; absent: it goes on until each job has done the `steps` of all",
                  {1, kMostSteps});
}

void read_traffic(Fields& fields, ReadingContext& context, SideTrafficConfig& traffic) {
  fields.optional("name", traffic.name, "As results name it; absent: its pattern");
  fields.optional("rate", traffic.rate, "Of each connection, all the time; absent: messages are sent");
  visit_background(fields, context.files, context.problems, traffic.traffic, traffic.rate.has_value());
  fields.optional("every", traffic.every, "All messages begin again; absent: when all have been delivered", {Time{1}});
  fields.optional("gap", traffic.gap, "Mean time from one message's start to the next, exponential (Poisson arrivals)",
                  {Time{1}});
  const bool none = fields.reading() && traffic.rate;
  for (const char* key : {"every", "gap"}) {
    if (!none || !fields.has(key)) { continue; }
    fields.problem(key, "conflict", "what has a \"rate\" never ends and does not begin again",
                   fmt::format("leave out \"{}\" or \"rate\"", key));
  }
}

void read_rules(Fields& fields, SideBySideSetup& setup) {
  fields.optional("steps", setup.steps, "That each job does, which does not say itself", {1, kMostSteps});
  fields.optional("warm_up", setup.warm_up, "First steps of each job that do not count in means", {0, kMostSteps});
  fields.optional("shifts", setup.shifts,
                  "When first steps begin: given (`start` of jobs), cassini (calls meet as little as they can)",
                  {{"given", ShiftRule::given}, {"cassini", ShiftRule::cassini}});
  fields.optional(
      "priorities", setup.priorities,
      "Who gets links first: given (`priority` of jobs), crux (who computes most for the time of its links)",
      {{"given", PriorityRule::given}, {"crux", PriorityRule::crux}});
  const bool crux = !fields.reading() || setup.priorities == PriorityRule::crux;
  if (!crux && fields.has("classes")) {
    fields.problem("classes", "no-effect", "priorities are given, and not made of anything",
                   R"(leave it out, or write "priorities": "crux")");
  }
  fields.optional("classes", setup.classes, "Of priorities that switches have, for crux", {1, 256});
}

class SideBySideChecks {
 public:
  SideBySideChecks(Fields& fields, SideBySideConfig& config) : fields_(fields), config_(config) {}

  void check() {
    check_rules();
    std::set<std::string> names;
    for (std::size_t number = 0; number < config_.jobs.size(); ++number) {
      SideJobConfig& job = config_.jobs[number];
      if (job.name.empty()) { job.name = fmt::format("job {}", number); }
      if (!names.insert(job.name).second) {
        refuse(job, "duplicate-name", fmt::format("two jobs are called '{}'", job.name), "name them differently");
      }
      check_effects(job);
      if (config_.setup.warm_up < job.steps.value_or(config_.setup.steps)) { continue; }
      refuse(job, "out-of-range",
             fmt::format("no step of '{}' is left behind {} that do not count", job.name, config_.setup.warm_up),
             R"(make "warm_up" less than "steps")");
    }
  }

 private:
  void refuse(const SideJobConfig& job, const char* code, std::string message, std::string hint) {
    fields_.problem(fmt::format("jobs/{}", &job - config_.jobs.data()), code, std::move(message), std::move(hint));
  }

  void check_rules() {
    if (config_.jobs.size() > 1) { return; }
    constexpr const char* kWhy = "there is one job, which has no other to keep apart from";
    if (config_.setup.shifts == ShiftRule::cassini) { fields_.problem("shifts", "no-effect", kWhy, "leave it out"); }
    if (config_.setup.priorities == PriorityRule::crux) {
      fields_.problem("priorities", "no-effect", kWhy, "leave it out");
    }
  }

  void check_effects(const SideJobConfig& job) {
    const bool alone = config_.jobs.size() == 1 && config_.traffic.empty();
    const auto idle = [&](bool written, const char* key, const char* why) {
      if (written) {
        refuse(job, "no-effect", fmt::format("\"{}\" of '{}' has no effect: {}", key, job.name, why), "leave it out");
      }
    };
    constexpr const char* kAlone = "nothing else is on the fabric";
    idle(job.start > Time::zero() && alone, "start", kAlone);
    idle(job.priority > 0 && alone, "priority", kAlone);
    idle(job.start > Time::zero() && config_.setup.shifts == ShiftRule::cassini, "start",
         "\"shifts\" says when first steps begin");
    idle(job.priority > 0 && config_.setup.priorities == PriorityRule::crux, "priority",
         "\"priorities\" says who goes first");
  }

  Fields& fields_;
  SideBySideConfig& config_;
};

}  // namespace

void visit(Fields& fields, ReadingContext& context, SideBySideConfig& config) {
  read_rules(fields, config.setup);
  const auto job = [&](FieldValue& each) {
    each.object([&](Fields& inner) { read_job(inner, context, config.jobs.emplace_back()); });
    if (each.reading()) { config.jobs.back().pointer = each.pointer(); }
  };
  const auto traffic = [&](FieldValue& each) {
    each.object([&](Fields& inner) { read_traffic(inner, context, config.traffic.emplace_back()); });
  };
  fields.required_value("jobs", "What is repeated beside each other", [&](FieldValue& value) {
    value.list(job, {1, kMostJobs});
  });
  fields.optional_value("traffic", "What is sent beside them", [&](FieldValue& value) {
    value.list(traffic, {1, kMostJobs});
  });
  if (fields.reading() && fields.ok()) { SideBySideChecks(fields, config).check(); }
}

namespace {

class SideBySideReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override { athanor::visit(section, context, config_); }

  void fit(CaseParts& parts) override {
    place_jobs(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster, parts.platform().seed,
               config_);
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    const auto endpoints = static_cast<std::uint32_t>(parts.platform().cluster->endpoints.size());
    std::optional<WorkloadNccl> nccl = prepare_workload(endpoints, parts);
    if (!nccl) { return nullptr; }
    std::vector<SideBySideExperiment::IdleKey> idle;
    std::vector<std::string> at_rest;
    for (std::size_t number = 0; number < config_.jobs.size(); ++number) {
      const SideJobConfig& job = config_.jobs[number];
      const auto ranks = static_cast<std::uint32_t>(config_.setup.jobs[number].endpoints.size());
      if (job.training) {
        const TrainingExperiment alone(config_.setup.jobs[number].training, ranks, *nccl);
        add(alone.idle_keys(parts.platform()), job.pointer, "/training/", idle);
        for (const std::string& key : alone.keys_at_rest()) { at_rest.push_back(job.pointer + key); }
      }
      if (job.trace) {
        add(TraceExperiment(*job.trace, *nccl).idle_keys(parts.platform()), job.pointer, "/trace/", idle);
      }
    }
    return std::make_shared<const SideBySideExperiment>(std::move(config_.setup), std::move(*nccl), std::move(idle),
                                                        std::move(at_rest));
  }

 private:
  /// Those of the job's own section.
  static void add(const std::vector<IdleKeys>& keys, const std::string& job, std::string_view section,
                  std::vector<SideBySideExperiment::IdleKey>& all) {
    for (const IdleKeys& each : keys) {
      for (const std::string_view key : each.keys) {
        if (key.starts_with(section)) { all.push_back({job + std::string(key), each.why, each.instead}); }
      }
    }
  }

  SideBySideConfig config_;
};

}  // namespace

std::unique_ptr<ExperimentReader> side_by_side_reader() { return std::make_unique<SideBySideReader>(); }

}  // namespace athanor
