#include "models/jobs/logs/kube_pod.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "models/jobs/gpu_set.hpp"
#include "models/jobs/mig.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::array<std::string_view, 10> kGpuNames = {
    "nvidia.com/gpu", "amd.com/gpu",          "gpu.intel.com/i915",   "gpu.intel.com/xe",  "habana.ai/gaudi",
    "aliyun.com/gpu", "huawei.com/Ascend910", "huawei.com/Ascend310", "cambricon.com/mlu", "aws.amazon.com/neuron"};

constexpr std::int64_t kMostOfPods = 60'000;  ///< of a PodGroup: of all its pods together

struct Suffix {
  std::string_view text;
  double factor;
};
constexpr std::array<Suffix, 13> kSuffixes = {{{"Ki", 1024.0},
                                               {"Mi", 1048576.0},
                                               {"Gi", 1073741824.0},
                                               {"Ti", 1099511627776.0},
                                               {"Pi", 1125899906842624.0},
                                               {"m", 1e-3},
                                               {"k", 1e3},
                                               {"M", 1e6},
                                               {"G", 1e9},
                                               {"T", 1e12},
                                               {"P", 1e15},
                                               {"u", 1e-6},
                                               {"n", 1e-9}}};

/// A quantity as Kubernetes writes it.
std::optional<double> quantity_of(std::string_view text) {
  double factor = 1;
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) { continue; }
    factor = suffix.factor;
    text.remove_suffix(suffix.text.size());
    break;
  }
  const auto number = number_of(text);
  if (!number || !(*number >= 0) || !std::isfinite(*number)) { return {}; }
  return *number * factor;
}

std::optional<std::uint32_t> rounded_up(std::optional<double> amount) {
  if (!amount || *amount > 4e9) { return {}; }
  return static_cast<std::uint32_t>(std::ceil(*amount - 1e-6));
}

bool is_gpu(std::string_view name) { return std::find(kGpuNames.begin(), kGpuNames.end(), name) != kGpuNames.end(); }

bool is_nic(std::string_view name) {
  return name.starts_with("rdma/") || name == "vpc.amazonaws.com/efa" || name.starts_with("nvidia.com/rdma");
}

template <class T>
void add(T& sum, std::uint32_t amount) {
  sum = static_cast<T>(std::min<std::uint64_t>(std::uint64_t{sum} + amount, std::numeric_limits<T>::max()));
}

constexpr std::string_view kSlicePrefix = "nvidia.com/mig-";  ///< of NVIDIA's device plugin, strategy "mixed"

/// What containers ask for together.
struct Request {
  Demand demand;
  std::string profile;  ///< of slices
  std::uint32_t slices = 0;
  YAML::Node slices_at;  ///< where they are asked for
};

void add_slices(const YAML::Node& key, std::uint32_t count, Request& request, KubeNotes& notes) {
  const std::string profile = key.Scalar().substr(kSlicePrefix.size());
  if (count == 0) { return; }
  if (request.slices > 0 && request.profile != profile) {
    notes.problem(key, "not-simulated",
                  fmt::format("a pod has slices of two kinds, {} and {}", request.profile, profile),
                  "a pod has one slice here");
  }
  request.profile = profile;
  request.slices += count;
  request.slices_at.reset(key);
}

void add_resource(const YAML::Node& key, const YAML::Node& value, Request& request, KubeNotes& notes) {
  Demand& demand = request.demand;
  const std::string& name = key.Scalar();
  const std::string amount = value.IsScalar() ? value.Scalar() : "";
  const auto wrong = [&](std::string_view wanted) {
    notes.problem(value, "wrong-quantity", fmt::format("'{}' of \"{}\" is no {}", amount, name, wanted), "");
  };
  if (name == "cpu") {
    const auto cores = kube_cpu_milli(amount);
    cores ? add(demand.cpu_milli, *cores) : wrong("number of cores");
  } else if (name == "memory") {
    const auto memory = kube_memory_mib(amount);
    memory ? add(demand.memory_mib, *memory) : wrong("size of memory");
  } else if (is_gpu(name) || is_nic(name) || name.starts_with(kSlicePrefix)) {
    const auto count = whole_number_of(amount);
    if (!count || *count < 0 || *count > kMostOfPods) { return wrong("whole number from 0 to 60000"); }
    const auto whole = static_cast<std::uint32_t>(*count);
    if (name.starts_with(kSlicePrefix)) { return add_slices(key, whole, request, notes); }
    add(is_gpu(name) ? demand.gpus : demand.nics, whole);
  } else if (name == "ephemeral-storage" || name.starts_with("hugepages-")) {
    notes.log().has_no_effect(fmt::format("\"{}\" of resources", name), notes.place(key));
  } else {
    notes.problem(
        key, "unknown-resource", fmt::format("there is no resource \"{}\" here", name),
        fmt::format("pods may ask for cpu, memory, rdma/..., {}... and {}", kSlicePrefix, joined(kGpuNames, ", ")));
  }
}

/// Of GPUs Kubernetes takes a request and a limit only where they are equal: nobody has a part of what was promised.
void check_gpu_limits(const YAML::Node& requests, const YAML::Node& limits, KubeNotes& notes) {
  for (const auto& each : requests) {
    const std::string& name = each.first.Scalar();
    if (!is_gpu(name) || !limits[name]) { continue; }
    const auto asked = whole_number_of(each.second.IsScalar() ? each.second.Scalar() : "");
    const auto limit = whole_number_of(kube_text(limits, name.c_str()));
    if (!asked || !limit || *asked == *limit) { continue; }
    notes.problem(each.first, "conflict",
                  fmt::format("{} of \"{}\" are asked for, and {} its limit", *asked, name, *limit),
                  "Kubernetes takes GPUs only with a limit that is what is asked for");
  }
}

void add_resources(const YAML::Node& resources, Request& request, KubeNotes& notes) {
  if (!resources || !resources.IsMap()) { return; }
  notes.known_keys(resources, "resources", {"requests", "limits"});
  const YAML::Node requests = resources["requests"];
  const YAML::Node limits = resources["limits"];
  const bool asks = requests && requests.IsMap();
  notes.unique_keys(requests);
  notes.unique_keys(limits);
  if (asks) {
    for (const auto& each : requests) { add_resource(each.first, each.second, request, notes); }
  }
  if (!limits || !limits.IsMap()) { return; }
  if (asks) { check_gpu_limits(requests, limits, notes); }
  for (const auto& each : limits) {  // a limit alone is a request, too
    if (!asks || !requests[each.first.Scalar()]) { add_resource(each.first, each.second, request, notes); }
  }
}

/// What so many pods ask for that have a slice of a GPU each, or none.
Demand with_slice(const Request& request, std::uint32_t pods, KubeNotes& notes) {
  Demand demand = request.demand;
  if (request.slices == 0) { return demand; }
  const auto problem = [&](std::string code, std::string message, std::string hint) {
    notes.problem(request.slices_at, std::move(code), std::move(message), std::move(hint));
  };
  if (demand.gpus > 0) {
    problem("not-simulated", "a pod has a slice of a GPU beside whole ones", "write pods with either of them");
  }
  if (request.slices != pods) {
    problem("not-simulated",
            pods == 1 ? fmt::format("a pod has {} slices of GPUs", request.slices)
                      : fmt::format("{} members have {} slices of GPUs", pods, request.slices),
            "a pod has one slice here: write a pod for each");
  }
  const std::vector<std::string>& types = notes.log().gpu_types();
  const MigChoice choice = mig_choice(types, request.profile);
  if (choice.slices.empty()) {
    problem("no-slice", fmt::format("no GPU of the nodes can be split into '{}'", request.profile),
            "they can be split into: " + mig_names(types));
    return demand;
  }
  if (choice.slices.size() > 1) {
    problem("ambiguous",
            fmt::format("'{}' is an eighth of some of these GPUs and a quarter of others: {}", request.profile,
                        joined(choice.types, ", ")),
            R"(call the GPUs of nodes by their memory: "A100-80GB")");
  }
  demand.slice = choice.slices.front();
  demand.gpu_milli = mig_slice(demand.slice).gpu_milli();
  if (choice.types.size() < types.size()) { demand.gpu_types = notes.log().list().gpu_types(choice.types); }
  return demand;
}

}  // namespace

std::optional<std::uint32_t> kube_cpu_milli(std::string_view text) {
  const auto cores = quantity_of(text);
  return rounded_up(cores ? std::optional(*cores * 1000) : std::nullopt);
}

std::optional<std::uint32_t> kube_memory_mib(std::string_view text) {
  const auto bytes = quantity_of(text);
  return rounded_up(bytes ? std::optional(*bytes / 1048576) : std::nullopt);
}

Demand kube_demand_of(const YAML::Node& resources, std::uint32_t pods, KubeNotes& notes) {
  Request request;
  add_resources(resources, request, notes);
  return with_slice(request, pods, notes);
}

Demand kube_pod_demand(const YAML::Node& pod, KubeNotes& notes) {
  Request request;
  const YAML::Node containers = pod && pod.IsMap() ? pod["containers"] : YAML::Node(YAML::NodeType::Undefined);
  if (!containers || !containers.IsSequence() || containers.size() == 0) {
    notes.problem(pod, "missing-key", "a pod without \"containers\"", "they say what it asks for");
    return {};
  }
  notes.known_keys(
      pod, "a pod",
      {"containers", "volumes", "serviceAccountName", "serviceAccount", "imagePullSecrets", "hostNetwork", "hostIPC",
       "hostPID", "dnsPolicy", "dnsConfig", "securityContext", "schedulerName", "terminationGracePeriodSeconds",
       "automountServiceAccountToken", "enableServiceLinks", "priorityClassName", "hostname", "subdomain"});
  for (const YAML::Node& container : containers) {
    notes.known_keys(container, "a container",
                     {"name",
                      "image",
                      "imagePullPolicy",
                      "command",
                      "args",
                      "env",
                      "envFrom",
                      "volumeMounts",
                      "ports",
                      "securityContext",
                      "workingDir",
                      "resources",
                      "tty",
                      "stdin",
                      "livenessProbe",
                      "readinessProbe",
                      "startupProbe",
                      "lifecycle",
                      "terminationMessagePath",
                      "terminationMessagePolicy"});
    if (container.IsMap()) { add_resources(container["resources"], request, notes); }
  }
  const Demand demand = with_slice(request, 1, notes);
  if (demand.gpus > GpuSet::kMost) {
    notes.problem(containers, "out-of-range", fmt::format("a pod asks for {} GPUs", demand.gpus),
                  "a node has 128 at most");
  }
  return demand;
}

std::string kube_priority_class(const YAML::Node& pod) { return kube_text(pod, "priorityClassName"); }

}  // namespace athanor
