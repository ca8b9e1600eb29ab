#include <doctest/doctest.h>
#include <fmt/core.h>

#include "models/jobs/logs/kube_objects.hpp"
#include "models/jobs/logs/kube_pod.hpp"
#include "read_log.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

constexpr std::string_view kHour = R"({"duration": "1h"})";

/// A pod's template, with so many blanks before each line.
std::string pods(int indent, std::string_view resources, std::string_view more = "") {
  const std::string blanks(static_cast<std::size_t>(indent), ' ');
  return fmt::format(
      "{0}template:\n{0}  spec:\n{0}    containers:\n{0}    - name: main\n{0}      image: train\n"
      "{0}      resources:\n{0}        limits: {{{1}}}\n{2}",
      blanks, resources, more.empty() ? "" : fmt::format("{}    {}\n", blanks, more));
}

std::string pytorch(std::string_view run_policy = "", std::string_view annotations = "") {
  return fmt::format(
      "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: llama\n  namespace: ada\n{}spec:\n{}"
      "  pytorchReplicaSpecs:\n    Master:\n      replicas: 1\n{}    Worker:\n      replicas: 3\n{}",
      annotations, run_policy, pods(6, "nvidia.com/gpu: 8, cpu: 64, memory: 512Gi"),
      pods(6, R"(nvidia.com/gpu: "8", rdma/hca: 8)"));
}

std::string volcano(std::string_view minimum, std::string_view more = "") {
  return fmt::format(
      "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {{name: mpi}}\nspec:\n  minAvailable: {}\n"
      "  queue: research\n{}  tasks:\n  - name: master\n    replicas: 1\n{}  - name: worker\n    replicas: 2\n{}",
      minimum, more, pods(4, "cpu: 500m"), pods(4, "amd.com/gpu: 4"));
}

std::string batch(std::string_view spec, std::string_view labels = "") {
  return fmt::format("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: one\n{}spec:\n{}{}", labels, spec,
                     pods(2, "nvidia.com/gpu: 2"));
}

/// "LINE CODE" of each.
std::string problem_of(const std::string& text, std::string_view keys = kHour) {
  return problems_of_log("kubernetes", text, keys);
}

/// `text`, in which `after` stands in place of `before`.
std::string changed(std::string text, std::string_view before, std::string_view after) {
  return text.replace(text.find(before), before.size(), after);
}

}  // namespace

TEST_CASE("kubernetes: replicas of a PyTorchJob are groups of tasks with what their containers ask for") {
  const ReadLog log = read_log("kubernetes", pytorch(), kHour);
  REQUIRE(log.jobs.size() == 1);
  CHECK(log.shape(0) ==
        Shape{{1, {.gpus = 8, .cpu_milli = 64'000, .memory_mib = 524'288}}, {3, {.gpus = 8, .nics = 8}}});
  CHECK(log.name(0) == "llama");
  CHECK(log.jobs.name(log.job(0).user) == "ada");
  CHECK(log.job(0).duration == wall_seconds(3600));
  CHECK(log.job(0).limit == WallTime::max());
}

TEST_CASE("kubernetes: a job says how long it runs and when it is submitted, or the section does") {
  const std::string annotated =
      pytorch("", "  annotations: {athanor/duration: 2h30m, athanor/submitted: 5min, kueue.x-k8s.io/x: y}\n");
  const ReadLog log = read_log("kubernetes", annotated);
  CHECK(log.job(0).duration == wall_seconds(9000));
  CHECK(log.zero == wall_seconds(300));
  CHECK(problem_of(pytorch(), "{}") == "1 missing-duration");
  CHECK(problem_of(annotated + "---\n" + pytorch()) == "28 missing-time");
  CHECK(problem_of(pytorch("", "  annotations: {athanor/duration: soon}\n")) == "6 wrong-type");
  const std::string created = pytorch("", "  creationTimestamp: \"2024-05-01T10:00:00Z\"\n");
  CHECK(read_log("kubernetes", created, kHour).zero == *date_of("2024-05-01 10:00:00"));
}

TEST_CASE("kubernetes: policies give the queue, the priority and the limit; elastic jobs are refused with their line") {
  const std::string policy =
      "  runPolicy:\n    activeDeadlineSeconds: 60\n    backoffLimit: 3\n    schedulingPolicy:\n      minAvailable: "
      "{}\n"
      "      queue: big\n      priorityClass: high\n";
  const std::string classes = "---\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n";
  const ReadLog log = read_log("kubernetes", pytorch(fmt::format(fmt::runtime(policy), 4)) + classes, kHour);
  CHECK(log.queue(0) == "big");
  CHECK(log.job(0).priority == 1000);
  CHECK(log.job(0).limit == wall_seconds(60));
  CHECK(log.job(0).retries == 3);
  CHECK(problem_of(pytorch(fmt::format(fmt::runtime(policy), 2)) + classes) == "11 elastic");
  CHECK(problem_of(pytorch(fmt::format(fmt::runtime(policy), 4))) == "1 unknown-priority-class");
  CHECK(problem_of(pytorch("  elasticPolicy: {minReplicas: 1}\n")) == "7 elastic");
  CHECK(problem_of(pytorch("  runPolicy: {suspend: true}\n")) == "7 suspended");
}

TEST_CASE("kubernetes: the workers of a PyTorchJob with an elastic policy are elastic") {
  const auto job = [](std::string_view policy, std::string_view minimum = "") {
    return fmt::format(
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {{name: a}}\nspec:\n  elasticPolicy: {{{}}}\n"
        "{}  pytorchReplicaSpecs:\n    Worker:\n      replicas: 4\n{}",
        policy, minimum, pods(6, "nvidia.com/gpu: 8"));
  };
  const ReadLog log = read_log("kubernetes", job("minReplicas: 2, maxReplicas: 6, rdzvBackend: c10d"), kHour);
  CHECK(log.shape(0) == Shape{{4, {.gpus = 8}}});
  CHECK(log.job(0).least_gpus == 16);
  CHECK(log.job(0).most_gpus == 48);
  CHECK(!read_log("kubernetes", job("maxReplicas: 4"), kHour).job(0).is_elastic());
  CHECK(problem_of(job("minReplicas: 5")) == "5 out-of-range");
  CHECK(problem_of(job("maxReplicas: 3")) == "5 out-of-range");
  const auto gang = [](int least) {
    return fmt::format("  runPolicy: {{schedulingPolicy: {{minAvailable: {}}}}}\n", least);
  };
  CHECK(read_log("kubernetes", job("minReplicas: 2", gang(2)), kHour).job(0).most_gpus == 32);
  CHECK(problem_of(job("minReplicas: 2", gang(3))) == "6 elastic");
}

TEST_CASE("kubernetes: tasks of a Volcano Job begin together, or it is refused") {
  const ReadLog log = read_log("kubernetes", volcano("3", "  runningEstimate: 90m\n"), kHour);
  CHECK(log.shape(0) == Shape{{1, {.cpu_milli = 500}}, {2, {.gpus = 4}}});
  CHECK(log.queue(0) == "research");
  CHECK(log.job(0).expected == wall_seconds(5400));
  CHECK(problem_of(volcano("2")) == "5 elastic");
}

TEST_CASE("kubernetes: a Job of Volcano with alike pods that needs fewer than it has is elastic") {
  const auto job = [](std::string_view minimum) {
    return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\nspec:\n" + std::string(minimum) +
           "  tasks:\n  - name: worker\n    replicas: 8\n" + pods(4, "nvidia.com/gpu: 8");
  };
  const ReadLog log = read_log("kubernetes", job("  minAvailable: 3\n"), kHour);
  CHECK(log.job(0).least_gpus == 3 * 8);
  CHECK(log.job(0).most_gpus == 8 * 8);
  CHECK(log.shape(0) == Shape{{8, {.gpus = 8}}});
  CHECK(!read_log("kubernetes", job("  minAvailable: 8\n"), kHour).job(0).is_elastic());
  CHECK(!read_log("kubernetes", job(""), kHour).job(0).is_elastic());
  CHECK(problem_of(job("  minAvailable: 0\n")) == "5 elastic");
  CHECK(problem_of(job("  minAvailable: 9\n")) == "5 elastic");
}

TEST_CASE("kubernetes: a Job and a JobSet have pods at once; Kueue's labels are its queue") {
  const std::string labels = "  labels: {kueue.x-k8s.io/queue-name: team}\n";
  const ReadLog log =
      read_log("kubernetes", batch("  parallelism: 4\n  completions: 4\n  suspend: true\n", labels), kHour);
  CHECK(log.shape(0) == Shape{{4, {.gpus = 2}}});
  CHECK(log.queue(0) == "team");
  CHECK(problem_of(batch("  suspend: true\n")) == "6 suspended");
  CHECK(problem_of(batch("  parallelism: 2\n  completions: 10\n")) == "7 not-a-gang");
  const std::string set =
      "kind: JobSet\nmetadata: {name: set}\nspec:\n  replicatedJobs:\n  - name: a\n    replicas: 3\n    template:\n"
      "      spec:\n        parallelism: 2\n" +
      pods(8, "nvidia.com/gpu: 8");
  CHECK(read_log("kubernetes", set, kHour).shape(0) == Shape{{6, {.gpus = 8}}});
}

TEST_CASE("kubernetes: a PodGroup divides its resources among its members") {
  const std::string group =
      "kind: PodGroup\nmetadata: {name: g}\nspec:\n  minMember: 4\n  queue: q\n  minResources: {nvidia.com/gpu: ";
  CHECK(read_log("kubernetes", group + "32, cpu: 40}\n", kHour).shape(0) ==
        Shape{{4, {.gpus = 8, .cpu_milli = 10'000}}});
  CHECK(problem_of(group + "30}\n") == "6 uneven");
  const ReadLog bare = read_log("kubernetes", "kind: PodGroup\nmetadata: {name: g}\nspec: {minMember: 4}\n", kHour);
  CHECK(bare.left("a PodGroup without \"minResources\" says nothing of what it asks for") == 1);
}

TEST_CASE("kubernetes: what is not read is named with its line, and resources that nobody has are refused") {
  const std::string service = "kind: Service\nmetadata: {name: s}\nspec: {}\n---\n";
  const ReadLog log = read_log("kubernetes", service + batch("  ttlSecondsAfterFinished: 4\n"), kHour);
  CHECK(log.jobs.size() == 1);
  CHECK(log.left_out.at("an object of kind \"Service\" is none of the jobs that are read").first_line == 1);
  CHECK(log.without_effect.at("\"ttlSecondsAfterFinished\" of a Job").first_line == 10);
  CHECK(problem_of(changed(batch(""), "nvidia.com/gpu", "nvidia.com/gpu.shared")) == "12 unknown-resource");
  CHECK(problem_of(changed(batch(""), "gpu: 2", "gpu: 0.5")) == "12 wrong-quantity");
  CHECK(problem_of(changed(batch(""), "gpu: 2", "gpu: -2")) == "12 wrong-quantity");
  CHECK(problem_of("kind: Job\nspec: {template: {spec: {}}}\n") == "2 missing-key");
  CHECK(problem_of("kind: [\n") == "2 syntax");
  CHECK(problem_of("---\n\nkind: Job\nmetadata: {name: j}\n") == "3 missing-key");
  CHECK(problem_of(batch("  parallelism: 4\n  parallelism: 4\n  completions: 4\n")) == "7 duplicate-key");
  CHECK(problem_of(changed(batch(""), "nvidia.com/gpu: 2", "nvidia.com/gpu: 2, nvidia.com/gpu: 4")) ==
        "12 duplicate-key");
  CHECK(read_log("kubernetes", "kind: Job\nspec: {template: {spec: {containers: [{name: a}]}}}\n", kHour)
            .left("it asks for no GPU") == 1);
  CHECK(read_log("kubernetes", "just words\n---\n- 1\n", kHour).rows == 0);
}

TEST_CASE("kubernetes: a pod has a slice of a GPU by the names of NVIDIA's device plugin, on the types that have it") {
  const std::vector<std::string> types = {"H100-SXM-80GB", "T4", "A100-40GB"};
  const auto with = [](std::string_view resources) {
    return changed(batch("  parallelism: 3\n"), "nvidia.com/gpu: 2", resources);
  };
  const auto problem = [&](std::string_view resources, const std::vector<std::string>& on) {
    return problems_of_log("kubernetes", with(resources), kHour, on);
  };
  const ReadLog half = read_log("kubernetes", with("nvidia.com/mig-3g.20gb: 1, cpu: 2"), kHour, {}, types);
  const Demand& each = half.shape(0).front().each;
  CHECK(half.shape(0).front().tasks == 3);
  CHECK(each == Demand{.gpu_milli = 500, .slice = 4, .gpu_types = each.gpu_types, .cpu_milli = 2000});
  CHECK(half.jobs.gpu_types(each.gpu_types) == std::vector<std::string>{"A100-40GB"});
  const ReadLog only = read_log("kubernetes", with("nvidia.com/mig-3g.20gb: 1"), kHour, {}, {"A100-40GB"});
  CHECK(only.shape(0) == Shape{{3, {.gpu_milli = 500, .slice = 4}}});
  CHECK(problem("nvidia.com/mig-3g.40gb: 1", types).empty());
  CHECK(problem("nvidia.com/mig-3g.40gb: 0, nvidia.com/gpu: 1", types).empty());
  CHECK(problem("nvidia.com/mig-3g.40gb: 1", {"T4"}) == "13 no-slice");
  CHECK(problem("nvidia.com/mig-1g.10gb: 1", types) == "13 ambiguous");  // a quarter of 40 GB, an eighth of 80 GB
  CHECK(problem("nvidia.com/mig-3g.40gb: 2", types) == "13 not-simulated");
  CHECK(problem("nvidia.com/mig-3g.40gb: 1, nvidia.com/mig-1g.5gb: 1", types) == "13 not-simulated, 13 not-simulated");
  CHECK(problem("nvidia.com/mig-3g.40gb: 1, nvidia.com/gpu: 1", types) == "13 not-simulated");
  CHECK(problem("nvidia.com/mig-3g.40gb: half", types) == "13 wrong-quantity");
}

TEST_CASE("kubernetes: members of a PodGroup have a slice each") {
  const std::string group =
      "kind: PodGroup\nmetadata: {name: g}\nspec:\n  minMember: 4\n  minResources: {cpu: 8, nvidia.com/mig-7g.40gb: ";
  CHECK(read_log("kubernetes", group + "4}\n", kHour, {}, {"A100-40GB"}).shape(0) ==
        Shape{{4, {.gpu_milli = 1000, .slice = 6, .cpu_milli = 2000}}});
  CHECK(problems_of_log("kubernetes", group + "6}\n", kHour, {"A100-40GB"}) == "5 not-simulated");
}

TEST_CASE("kubernetes: GPUs that are asked for are their limit, or it is refused") {
  const auto job = [](std::string_view limit, std::string_view request) {
    return fmt::format(
        "kind: Job\nmetadata: {{name: j}}\nspec: {{template: {{spec: {{containers: [{{name: p, resources: {{limits: "
        "{{{}}},\n  requests: {{{}}}}}}}]}}}}}}\n",
        limit, request);
  };
  const ReadLog log = read_log("kubernetes", job("nvidia.com/gpu: 8, cpu: 16", "nvidia.com/gpu: 8, cpu: 4"), kHour);
  CHECK(log.shape(0) == Shape{{1, {.gpus = 8, .cpu_milli = 4000}}});
  CHECK(problem_of(job("nvidia.com/gpu: 8", "nvidia.com/gpu: 4")) == "4 conflict");
}

TEST_CASE("kubernetes: quantities and spans") {
  CHECK(kube_cpu_milli("500m") == 500);
  CHECK(kube_cpu_milli("1.5") == 1500);
  CHECK(kube_cpu_milli("100u") == 1);
  CHECK(kube_memory_mib("16Gi") == 16'384);
  CHECK(kube_memory_mib("1M") == 1);
  CHECK(kube_memory_mib("1e9") == 954);
  for (const char* none : {"", "-1", "many", "1Xi", "1e30"}) { CHECK_FALSE(kube_memory_mib(none)); }
  CHECK(kube_span_of("2h30m") == wall_seconds(9000));
  CHECK(kube_span_of("90s") == wall_seconds(90));
  CHECK(kube_span_of("90m") == wall_seconds(5400));
  CHECK(kube_span_of("3600") == wall_seconds(3600));
  for (const char* none : {"", "-5", "h", "5x", "1m2h"}) { CHECK_FALSE(kube_span_of(none)); }
}
