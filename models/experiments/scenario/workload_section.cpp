#include "models/experiments/scenario/workload_section.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "models/experiments/scenario/experiment_reader.hpp"
#include "models/experiments/scenario/workload_checks.hpp"
#include "models/experiments/scenario/workload_gpus.hpp"
#include "models/experiments/scenario/workload_io.hpp"
#include "models/experiments/shared_cluster.hpp"
#include "models/experiments/training.hpp"
#include "models/jobs/gpu_speed.hpp"
#include "models/jobs/nodes_of_cluster.hpp"
#include "models/jobs/profiles/profile_speed.hpp"
#include "models/jobs/tier_speed.hpp"
#include "sim/format.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

using Type = FieldValue::Form::Type;

constexpr Ratio kLeastMeasured{1, 1'000'000'000};  // errors are relative
constexpr Ratio kMostMeasured{1'000'000'000'000, 1};

/// One of a catalog, by its name or as an object with its "kind" and its keys.
template <class Entry, class Kind>
void visit_kind(FieldValue& value, const std::vector<Entry>& catalog, std::string& name, std::shared_ptr<Kind>& kind) {
  std::vector<std::string> names;
  for (const Entry& entry : catalog) { names.emplace_back(entry.name); }
  const auto choose = [&](std::string_view chosen) {
    const auto at = std::find_if(catalog.begin(), catalog.end(), [&](const Entry& e) { return e.name == chosen; });
    name = at->name;
    kind = at->make();
  };
  const auto by_name = [&](FieldValue& text) {
    std::string chosen = name;
    text.visit(chosen, OneOf{names});
    if (!text.ok()) { return; }
    choose(chosen);
    Problems lacking;
    read_document(Document::parse("{}", ""), lacking, [&](Fields& fields) { kind->visit(fields); });
    if (lacking.empty()) { return; }
    text.problem("missing-key",
                 fmt::format("'{}' alone does not say enough: {}", chosen, lacking.list().front().message),
                 fmt::format(R"(write an object with "kind": "{}" and that key)", chosen));
  };
  const auto by_kind = [&](FieldValue& object) {
    object.object([&](Fields& fields) {
      std::vector<Fields::Kind> kinds;
      for (const Entry& entry : catalog) {
        kinds.push_back({entry.name, entry.meaning,
                         [&, chosen = entry.name](Fields& nested) {
                           if (nested.writing()) { return kind->visit(nested); }
                           std::shared_ptr<Kind> made;
                           std::swap(made, kind);
                           std::string before = name;
                           choose(chosen);
                           kind->visit(nested);
                           if (nested.reading()) { return; }
                           kind = std::move(made);
                           name = std::move(before);
                         },
                         name == entry.name});
      }
      fields.choice("kind", "Which one", kinds, catalog.front().name);
    });
  };
  value.one_of({{Type::object, by_kind}, {Type::string, by_name}});
}

void visit_date(Fields& fields, std::string_view key, std::optional<LogTime>& time, std::string_view meaning) {
  fields.optional_value(key, meaning, [&](FieldValue& value) {
    const auto text = value.text();
    if (!text) { return; }
    time = date_of(*text);
    if (!time) {
      value.problem("wrong-type", fmt::format("'{}' is no date", *text), "write it like 2017-10-01 00:00:00");
    }
  });
}

void visit(Fields& fields, Fill& fill) {
  fields.optional("demand", fill.demand, "What all jobs ask for, as a multiple of the GPUs of the cluster",
                  {Ratio{1, 1000}, Ratio{1000, 1}});
  fields.optional("seed", fill.seed, "Of the order and of what is drawn");
}

void visit(Fields& fields, WorkloadLog& log) {
  fields.required("file", log.file, "Its path relative to the scenario; compressed with gzip or not");
  std::vector<Fields::Kind> formats;
  for (const LogFormatEntry& entry : log_formats()) {
    formats.push_back({entry.name, entry.meaning, [&log, &entry](Fields& nested) {
                         log.format_name = entry.name;
                         log.format = entry.make();
                         log.format->visit(nested);
                       }});
  }
  fields.choice("format", "Who writes such files", formats);
  fields.optional("queues", log.selection.queues, "Jobs of these queues alone; absent: of all");
  visit_date(fields, "from", log.selection.from, "Jobs submitted from then on, which is time zero; UTC");
  visit_date(fields, "to", log.selection.to, "Jobs submitted before that");
  fields.optional("most", log.selection.most, "The first so many jobs; 0: all");
  fields.optional_object("fill", log.fill,
                         "Jobs come one a second in random order, then draws from them, and stay until the last has",
                         [](Fields& f, Fill& fill) { visit(f, fill); });
  log.place = fields.place("file");
}

void visit_jobs(FieldValue& value, WorkloadConfig& workload) {
  value.one_of({{Type::list,
                 [&](FieldValue& list) {
                   list.list(workload.written,
                             [](FieldValue& one, WorkloadJob& job) {
                               one.object(job, [](Fields& f, WorkloadJob& j) { visit(f, j); });
                             },
                             {1});
                 }},
                {Type::object, [&](FieldValue& object) {
                   object.object([&](Fields& fields) {
                     WorkloadLog log;
                     visit(fields, log);
                     if (fields.reading()) { workload.log = std::move(log); }
                   });
                 }}});
}

/// Each figure by its key of results.
void visit_measured(Fields& fields, WorkloadConfig& workload) {
  const auto measured = [&](Fields& inner) {
    for (const Column* column : SharedClusterExperiment::measurable()) {
      inner.optional(column->key, workload.measured[column], "As results have it", {kLeastMeasured, kMostMeasured});
    }
  };
  fields.optional_object("measured", "Figures that `athanor verify` holds results against", measured);
  fields.optional("max_error", workload.max_error, "It fails above this |simulated / measured - 1|",
                  {{0, 1}, {100, 1}});
}

}  // namespace

std::shared_ptr<const JobList> WorkloadConfig::jobs_of(std::uint64_t seed) const {
  return arrivals ? std::make_shared<const JobList>(list_of(*arrivals, seed)) : jobs;
}

const std::string& WorkloadConfig::who_places() const {
  return scheduler->places_jobs() ? scheduler_name : placement_name;
}

std::unique_ptr<SpeedModel> WorkloadConfig::speeds(const JobList& of) const {
  std::unique_ptr<SpeedModel> speeds = std::make_unique<FullSpeed>();
  if (profile_files) {
    speeds = std::make_unique<ProfileSpeed>(*profiles, of, *nodes);
  } else if (!speed_by_distance.empty()) {
    std::vector<double> by_tier;
    for (const Ratio& speed : speed_by_distance) { by_tier.push_back(to_double(speed)); }
    speeds = std::make_unique<TierSpeed>(by_tier);
  }
  if (of.gpu_speeds().size() == 1) { return speeds; }  // all are as fast on all GPUs
  return std::make_unique<GpuSpeed>(std::move(speeds), of, *nodes);
}

void visit(Fields& fields, WorkloadConfig& workload) {
  if (!workload.scheduler) {
    workload.scheduler_name = schedulers().front().name;
    workload.scheduler = schedulers().front().make();
    workload.placement_name = placements().front().name;
    workload.placement = placements().front().make();
  }
  fields.optional_value("jobs", "A list of jobs, or a file of them; or \"arrivals\"",
                        [&](FieldValue& value) { visit_jobs(value, workload); });
  fields.optional_object("arrivals", workload.arrivals, "Jobs that are drawn, by the seed of the case",
                         [](Fields& f, WorkloadArrivals& arrivals) { visit(f, arrivals); });
  if (fields.reading() && fields.has("jobs") == fields.has("arrivals")) {
    fields.problem("", fields.has("jobs") ? "conflict" : "missing-key",
                   "a workload has either \"jobs\" or \"arrivals\"",
                   R"(as in "jobs": [{"gpus": 8, "duration": "1h"}])");
  }
  fields.optional_object("nodes", workload.details, "What nodes have beside what the fabric says",
                         [](Fields& f, WorkloadNodes& nodes) { visit(f, nodes); });
  fields.optional_list("storage", workload.storages, "Where data sets and checkpoints are",
                       [](Fields& f, WorkloadStorage& each) { visit(f, each); });
  fields.optional_list("caches", workload.caches, "That keep what was read",
                       [](Fields& f, WorkloadCache& each) { visit(f, each); });
  fields.optional_list("data_sets", workload.data_sets, "That jobs read",
                       [](Fields& f, WorkloadDataSet& each) { visit(f, each); });
  fields.optional_value(
      "scheduler", "Who decides when jobs run, by name, or an object with its keys",
      [&](FieldValue& value) { visit_kind(value, schedulers(), workload.scheduler_name, workload.scheduler); });
  fields.optional_value("placement", "Where jobs run, likewise", [&](FieldValue& value) {
    visit_kind(value, placements(), workload.placement_name, workload.placement);
  });
  if (workload.scheduler->places_jobs() && fields.has("placement")) {
    fields.problem("placement", "no-effect", fmt::format("'{}' says itself where jobs run", workload.scheduler_name),
                   "leave it out");
  }
  fields.optional_or("horizon", workload.rules.horizon, WallTime::max(),
                     "The simulation ends then; absent: with the last job", {WallTime{1}});
  fields.optional("start_overhead", workload.rules.start_overhead, "Without progress, at the first start of a job");
  fields.optional("restart_overhead", workload.rules.restart_overhead,
                  "Without progress, at each start of a job but its first");
  fields.optional("preempted", workload.rules.preempted, "A job that loses its nodes to another",
                  {{"goes_on", Preempted::goes_on}, {"begins_anew", Preempted::begins_anew}});
  fields.optional_object("contention", "How trainings that run at the same time share links",
                         [&](Fields& f) { visit(f, workload.contention); });
  fields.optional("speed_by_distance", workload.speed_by_distance,
                  "Of a job on one node, of one below one switch of the lowest tier, of the next tier, ...; absent: 1",
                  {{1, 1000}, {1000, 1}});
  fields.optional_object("profiles", workload.profile_files, "Of applications that jobs name: how fast they are where",
                         [](Fields& f, WorkloadProfiles& profiles) { visit(f, profiles); });
  if (fields.ok() && workload.profile_files && !workload.speed_by_distance.empty()) {
    fields.problem("speed_by_distance", "conflict", "profiles say how fast jobs are where", "leave one of them out");
  }
  visit_measured(fields, workload);
  fields.optional_object("checkpoints", workload.rules.checkpoints, "How jobs save their work");
  fields.optional_object("failures", workload.failures, "What fails, and what becomes of it");
  if (workload.failures) { workload.rules.failures = *workload.failures; }
  workload.place = fields.place();
}

namespace {

class WorkloadReader : public ExperimentReader {
 public:
  void visit(Fields& section, ReadingContext& context) override {
    athanor::visit(section, config_);
    section.optional_list("trainings", config_.training_texts, "What jobs may train",
                          [&](Fields& f, WorkloadTraining& t) { athanor::visit(f, context, t); });
    if (section.ok() && section.has("contention") && config_.training_texts.empty()) {
      section.problem("contention", "no-effect", "only trainings meet on links",
                      R"(leave it out, or write "trainings")");
    }
  }

  void fit(CaseParts& parts) override {
    const std::size_t before = parts.context.problems.size();
    NodeList nodes = nodes_of(*parts.platform().cluster);
    tell_kinds_apart(*parts.scenario_case.cluster_config, *parts.platform().cluster, nodes);
    if (config_.details) {
      nodes = with_details(std::move(nodes), *config_.details, parts.context.files, parts.context.problems);
    }
    for (WorkloadJob& job : config_.written) { resolve_gpus(job, nodes, parts.context.problems); }
    if (config_.arrivals) {
      for (WorkloadArrivals::Class& each : config_.arrivals->classes) {
        resolve_gpus(each, nodes, parts.context.problems);
      }
    }
    if (parts.context.problems.size() > before) { return; }
    put_durations(config_, parts.context.problems);
    config_.data = data_rules_of(config_, *parts.platform().cluster, nodes, parts.context.problems);
    if (parts.context.problems.size() > before) { return; }
    config_.nodes = std::make_shared<const NodeList>(std::move(nodes));
    resolve_trainings(parts);
    JobList jobs = config_.log        ? read_log(parts)
                   : config_.arrivals ? list_of(*config_.arrivals, parts.platform().seed)
                                      : list_of(config_.written);
    if (parts.context.problems.size() > before) { return; }
    ProfileSet profiles;
    if (config_.profile_files) {
      profiles = read_profiles(*config_.profile_files, parts.context.files, parts.context.problems);
      if (parts.context.problems.size() > before) { return; }
    }
    resolve_applications(jobs, profiles, *config_.nodes, config_.log ? config_.log->place : config_.place,
                         parts.context.problems);
    if (parts.context.problems.size() > before) { return; }
    config_.profiles = std::make_shared<const ProfileSet>(std::move(profiles));
    config_.jobs = std::make_shared<const JobList>(std::move(jobs));
    check(config_, parts.context.problems);
    const auto is_elastic = [](const Job& job) { return job.is_elastic(); };
    if (!config_.scheduler->resizes_jobs() &&
        std::any_of(config_.jobs->jobs.begin(), config_.jobs->jobs.end(), is_elastic)) {
      config_.notes.push_back(
          fmt::format("'{}' gives elastic jobs the GPUs that they ask for, no others", config_.scheduler_name));
    }
  }

  std::shared_ptr<const Experiment> make(CaseParts& parts) override {
    if (config_.resolved.trainings.empty()) {
      refuse_software("a workload of jobs", parts);
    } else if (!prepare_trainings(parts)) {
      return nullptr;
    }
    return std::make_shared<const SharedClusterExperiment>(std::move(config_));
  }

 private:
  void resolve_trainings(CaseParts& parts) {
    TrainingResolution trainings(parts.context, *parts.scenario_case.cluster_config, *parts.platform().cluster,
                                 *config_.nodes, config_.training_texts);
    for (WorkloadJob& job : config_.written) { trainings.resolve(job); }
    if (config_.arrivals) {
      for (WorkloadArrivals::Class& each : config_.arrivals->classes) { trainings.resolve(each); }
    }
    config_.resolved = trainings.take();
    config_.notes.insert(config_.notes.end(), config_.resolved.notes.begin(), config_.resolved.notes.end());
  }

  /// False: there are problems.
  bool prepare_trainings(CaseParts& parts) {
    const auto endpoints = static_cast<std::uint32_t>(parts.platform().cluster->endpoints.size());
    const std::optional<WorkloadNccl> nccl = prepare_workload(endpoints, parts);
    if (!nccl) { return false; }
    for (const auto& training : config_.resolved.trainings) {
      config_.trainings.push_back(
          std::make_shared<const TrainingExperiment>(training, training->setup.plan.ranks(), *nccl));
    }
    return true;
  }

  JobList read_log(CaseParts& parts) {
    const WorkloadLog& from = *config_.log;
    const FileReader& files = parts.context.files;
    JobLog log(from.selection, config_.nodes->gpu_types);
    try {
      files.note(from.file);
      from.format->read(files.path(from.file), files, log);
    } catch (const FileError& error) {
      parts.context.problems.add({"no-log", error.what(), from.place, "a path is relative to the scenario's file"});
      return {};
    } catch (const ScenarioError& error) {
      for (const Problem& problem : error.problems()) { parts.context.problems.add(problem); }
      return {};
    }
    log.finish();
    for (const auto& [reason, rows] : log.left_out()) {
      config_.notes.push_back(fmt::format("{} of {} rows are left out, the first in line {}: {}", rows.rows, log.rows(),
                                          rows.first_line, reason));
    }
    for (const auto& [what, found] : log.without_effect()) {
      if (what.find("\"volcano.sh/preemptable\"") != std::string::npos && config_.scheduler->minds_preemptible()) {
        continue;
      }
      config_.notes.push_back(fmt::format("{} has no effect, first in line {}", what, found.first_line));
    }
    if (!from.fill) { config_.logged_waits = log.waits(); }
    JobList jobs = log.take();
    if (jobs.size() == 0) {
      const std::string why = config_.notes.empty() ? "" : ": " + joined(config_.notes, "; ");
      const std::vector<std::string>& others = log.other_queues();
      const std::string there = others.empty() ? "" : fmt::format("; queues there are: {}", joined(others, ", "));
      parts.context.problems.add({"no-jobs", fmt::format("no job of {} rows is selected{}", log.rows(), why),
                                  from.place, "change \"queues\", \"from\" or \"to\", or the rows" + there});
      return jobs;
    }
    if (from.fill) { return fill(jobs, *from.fill, parts.context.problems); }
    return jobs;
  }

  JobList fill(const JobList& jobs, const Fill& fill, Problems& problems) const {
    const auto wants = [&](const Job& job) { return gpu_milli_of(jobs.shape(job.shape)) > 0; };
    if (std::any_of(jobs.jobs.begin(), jobs.jobs.end(), wants)) { return filled(jobs, config_.nodes->gpus(), fill); }
    problems.add({"no-jobs", "no job asks for GPUs that a cluster could be filled with", config_.log->place,
                  "leave out \"fill\""});
    return {};
  }

  WorkloadConfig config_;
};

}  // namespace

std::unique_ptr<ExperimentReader> workload_reader() { return std::make_unique<WorkloadReader>(); }

}  // namespace athanor
