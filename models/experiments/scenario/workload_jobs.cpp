#include "models/experiments/scenario/workload_jobs.hpp"

#include "models/jobs/gpu_set.hpp"
#include "models/jobs/mig.hpp"

namespace athanor {

namespace {

void visit(Fields& fields, WorkloadTasks& tasks) {
  fields.optional("count", tasks.count, "How many are alike", {1, 1'000'000});
  fields.optional_or("gpus", tasks.gpus, std::uint16_t{1}, "Whole GPUs of each; absent: 1, or what it shares",
                     {0, GpuSet::kMost});
  fields.optional("gpu_milli", tasks.gpu_milli, "Thousandths of one GPU that each shares, in place of whole ones",
                  {1, 999});
  fields.optional_or("mig", tasks.mig, std::string(),
                     "A slice of a GPU split by NVIDIA's MIG that each has, in place of whole ones: \"1g.10gb\"");
  fields.optional("cpu_milli", tasks.cpu_milli, "Thousandths of a core of each");
  fields.optional("memory", tasks.memory, "Of the node, of each");
  fields.optional("nics", tasks.nics, "NICs that each has to itself");
  const bool shares = tasks.gpu_milli || !tasks.mig.empty();
  if (fields.ok() && fields.has("gpus") && shares && tasks.gpus > 0) {
    fields.problem("gpus", "conflict", "a task that shares a GPU has no others", "leave out \"gpus\"");
  }
}

void visit_speeds(Fields& fields, std::map<std::string, Ratio>& speeds) {
  if (fields.writing() && speeds.empty()) { return; }
  fields.optional_object(
      "speed_by_gpu", "How fast it works on which GPUs, of full speed; absent: as fast on all", [&](Fields& each) {
        each.entries("\"V100-SXM2-32GB\": 0.4, ...", [&](const std::string& type, FieldValue& value) {
          Ratio speed{1, 1};
          value.visit(speed, {{1, 1000}, {1000, 1}});
          if (value.ok()) { speeds[type] = speed; }
        });
      });
}

void visit_kind(Fields& fields, WorkloadJobKind& job) {
  fields.optional("name", job.name, "Absent: its number");
  fields.optional("user", job.user, "Whose it is");
  fields.optional("queue", job.queue, "That it is submitted to");
  fields.optional("limit", job.limit, "After so long it is ended", {WallTime{1}});
  fields.optional("gpus", job.gpus, "GPUs, each with a task of its own; or \"tasks\"", {1, 1'000'000});
  fields.optional_list("tasks", job.tasks, "What begins together", [](Fields& f, WorkloadTasks& t) { visit(f, t); });
  fields.optional("gpu_types", job.gpu_types, "Names of GPUs, one of which it needs; absent: any");
  visit_speeds(fields, job.speed_by_gpu);
  fields.optional("priority", job.priority, "The higher the sooner, where the scheduler asks for it",
                  {-1'000'000'000, 1'000'000'000});
  fields.optional("preemptible", job.preemptible, "It may use nodes that Volcano's \"tdm\" takes back");
  fields.optional("retries", job.retries, "It is given up when it has failed once more often; absent: never");
  fields.optional("training", job.training, "One of \"trainings\", which it does; its speed follows from where it is");
  fields.optional_object("data", job.data, "What it reads, which sets how fast it works",
                         [](Fields& f, WorkloadJobData& data) { visit(f, data); });
  fields.optional("parameters", job.parameters, "Of what it trains, by which its checkpoints count",
                  {Ratio{1, 1}, Ratio{1'000'000'000'000'000, 1}});
  job.place = fields.place();
  if (fields.ok() && !job.speed_by_gpu.empty() && !job.training.empty()) {
    fields.problem("speed_by_gpu", "no-effect", "how fast a training is follows from where it is", "leave it out");
  }
  const bool sized = job.gpus.has_value() || !job.tasks.empty();
  if (fields.ok() && (sized || job.training.empty()) && job.gpus.has_value() == !job.tasks.empty()) {
    fields.problem("", "conflict", "a job has either \"gpus\" or \"tasks\"", R"(as in "gpus": 8)");
  }
  for (const WorkloadTasks& tasks : job.tasks) {
    if (tasks.gpu_milli && !tasks.mig.empty()) {
      fields.problem("tasks", "conflict", "a task has a slice of a GPU, or shares it as it is",
                     R"(leave out "gpu_milli" or "mig")");
    }
  }
}

void visit_class(Fields& fields, WorkloadArrivals::Class& each) {
  visit_kind(fields, each);
  fields.optional("share", each.share, "Of all jobs, beside the shares of the others",
                  {{1, 1'000'000}, {1'000'000, 1}});
  fields.required_value("duration", "How long such a job runs undisturbed, at full speed",
                        [&](FieldValue& value) { visit(value, each.duration, WallTime{1}); });
  if (each.data && each.data->step) {
    fields.problem("data", "conflict", "durations that are drawn are not those of steps",
                   R"(leave out "batch" and "step")");
  }
  fields.optional("estimate", each.estimate, "What schedulers expect, as a multiple of the duration",
                  {{1, 1000}, {1000, 1}});
}

Shape shape_of(const WorkloadJobKind& job, JobList& list) {
  const GpuTypesId types = list.gpu_types(job.gpu_types);
  if (job.gpus) { return {{*job.gpus, {.gpus = 1, .gpu_types = types}}}; }
  constexpr std::int64_t kMebibyte = 1 << 20;
  Shape shape;
  for (const WorkloadTasks& tasks : job.tasks) {
    Demand each{.gpus = tasks.gpus, .nics = tasks.nics, .gpu_types = types, .cpu_milli = tasks.cpu_milli};
    each.memory_mib = static_cast<std::uint32_t>(ceil_div(tasks.memory.count(), kMebibyte));
    if (tasks.gpu_milli) {
      each.gpus = 0;
      each.gpu_milli = *tasks.gpu_milli;
    }
    if (tasks.slice > 0) {
      each.gpus = 0;
      each.slice = tasks.slice;
      each.gpu_milli = mig_slice(tasks.slice).gpu_milli();
    }
    shape.push_back({tasks.count, each});
  }
  return shape;
}

/// A job of that kind, which nobody has submitted yet.
Job job_of(const WorkloadJobKind& kind, JobList& list) {
  Job job;
  job.name = list.name(kind.name);
  job.user = list.name(kind.user);
  job.queue = list.name(kind.queue);
  job.shape = list.shape(shape_of(kind, list));
  job.limit = kind.limit.value_or(WallTime::max());
  job.priority = kind.priority;
  job.preemptible = kind.preemptible;
  job.activity = kind.activity;
  job.retries = kind.retries.value_or(UINT32_MAX);
  GpuSpeeds speeds;
  for (const auto& [type, speed] : kind.speed_by_gpu) { speeds[type] = to_double(speed); }
  job.gpu_speeds = list.gpu_speeds(speeds);
  return job;
}

}  // namespace

namespace {

void visit(Fields& fields, WorkloadElastic& elastic) {
  fields.optional("from", elastic.from, "At least so many GPUs, or none for a while", {1, 1'000'000});
  fields.required("to", elastic.to, "At most so many", {1, 1'000'000});
  if (fields.ok() && elastic.from > elastic.to) {
    fields.problem("to", "conflict", "\"to\" is less than \"from\"", R"(as in {"from": 8, "to": 64})");
  }
}

}  // namespace

void visit(Fields& fields, WorkloadJob& job) {
  visit_kind(fields, job);
  fields.optional("submitted", job.submitted, "When it is submitted, from the beginning on");
  fields.optional("after", job.after, "Names of jobs, all of which have to be completed before");
  fields.optional(
      "duration", job.duration,
      "How long it runs undisturbed, at full speed; or \"steps\", \"application\", or steps of its \"data\"",
      {WallTime{1}});
  fields.optional("steps", job.steps, "Of its training, in place of a duration", {1, 1'000'000'000'000});
  fields.optional("application", job.application, "Whose profile says how long it runs");
  fields.optional("batch", job.batch, "Of an application, over all GPUs together", {1, 1'000'000'000});
  fields.optional("expected", job.expected,
                  "How long it runs as far as schedulers know; absent: its limit, else its duration", {WallTime{1}});
  fields.optional_object("elastic", job.elastic, "How many GPUs schedulers may give it in place of \"gpus\"",
                         [](Fields& f, WorkloadElastic& elastic) { visit(f, elastic); });
  if (fields.ok() && job.elastic && !job.gpus) {
    fields.problem("elastic", "conflict", "only a job with \"gpus\" is elastic",
                   "write \"gpus\" in place of \"tasks\"");
  }
  fields.optional("count", job.count, "So many such jobs", {1, 10'000'000});
  const bool by_data = job.data && job.data->step;
  const int lengths =
      (job.duration ? 1 : 0) + (job.steps ? 1 : 0) + (job.application.empty() ? 0 : 1) + (by_data ? 1 : 0);
  if (fields.ok() && fields.reading() && lengths != 1) {
    fields.problem("", lengths > 0 ? "conflict" : "missing-key",
                   "a job has either a \"duration\", \"steps\" of a training, an \"application\", or \"data\" with a "
                   "\"batch\" and a \"step\"",
                   R"(as in "duration": "1h")");
  }
  if (fields.ok() && job.steps && job.training.empty()) {
    fields.problem("steps", "no-effect", "steps are of a training, and the job names none", R"(write "duration")");
  }
  if (fields.ok() && !job.training.empty() && (!job.application.empty() || job.elastic)) {
    fields.problem("training", "conflict", "a training has a plan for its GPUs, and its speed is simulated",
                   R"(leave out "application" and "elastic", or "training")");
  }
  if (fields.ok() && !job.application.empty() && !job.speed_by_gpu.empty()) {
    fields.problem("speed_by_gpu", "conflict", "the profile of an application says how fast it is",
                   R"(leave out "application" or "speed_by_gpu")");
  }
  if (fields.ok() && (job.batch > 0) == job.application.empty()) {
    fields.problem("", job.batch > 0 ? "conflict" : "missing-key", "\"application\" and \"batch\" belong together",
                   "write both or none");
  }
}

JobList list_of(const std::vector<WorkloadJob>& written) {
  JobList list;
  std::uint32_t io = 0;
  for (const WorkloadJob& config : written) {
    Job job = job_of(config, list);
    job.io = IoId{++io};
    job.submitted = config.submitted;
    std::vector<NameId> after;
    for (const std::string& name : config.after) { after.push_back(list.name(name)); }
    job.after = list.dependencies(std::move(after));
    job.duration = config.duration.value_or(WallTime{});
    const WallTime known = config.steps ? WallTime::max() : job.duration;  // TrainingSpeeds knows later
    job.expected = config.expected.value_or(config.limit.value_or(known));
    job.application = list.name(config.application);
    job.batch = config.batch;
    job.least_gpus = config.elastic ? config.elastic->from : 0;
    job.most_gpus = config.elastic ? config.elastic->to : 0;
    for (std::uint32_t i = 0; i < config.count; ++i) { list.jobs.push_back(job); }
  }
  list.sort();
  return list;
}

void visit(Fields& fields, WorkloadArrivals& arrivals) {
  fields.required("count", arrivals.count, "So many jobs", {1, 100'000'000});
  fields.required_value("between", "One submission and the next: a mean time, which is exponential, or an object",
                        [&](FieldValue& value) { visit(value, arrivals.between, WallTime{1}); });
  fields.optional("daily", arrivals.daily, "The rate is (1 + daily sin(2 pi t / day)) times its mean");
  fields.required_list("classes", arrivals.classes, "What jobs there are", visit_class);
  if (!fields.ok()) { return; }
  if (arrivals.between.law == RandomSpan::Law::fixed) { arrivals.between.law = RandomSpan::Law::exponential; }
  if (arrivals.daily > Ratio{0, 1} && arrivals.between.law != RandomSpan::Law::exponential) {
    fields.problem("daily", "conflict", "only arrivals that are exponential have a rate that changes with the day",
                   R"(leave out "daily", or the "law" of "between")");
  }
}

JobList list_of(const WorkloadArrivals& arrivals, std::uint64_t seed) {
  JobList list;
  ArrivalRules rules{arrivals.count, arrivals.between, to_double(arrivals.daily), {}};
  std::uint32_t io = 0;
  for (const WorkloadArrivals::Class& each : arrivals.classes) {
    Job job = job_of(each, list);
    job.io = IoId{++io};
    rules.classes.push_back({job, to_double(each.share), each.duration, to_double(each.estimate)});
  }
  draw_arrivals(rules, seed, list);
  return list;
}

}  // namespace athanor
