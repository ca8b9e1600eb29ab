#include "models/jobs/logs/kube_pod.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/core.h>
#include <yaml-cpp/yaml.h>

#include "models/jobs/gpu_set.hpp"
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

void add_resource(const YAML::Node& key, const YAML::Node& value, Demand& demand, KubeNotes& notes) {
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
  } else if (is_gpu(name) || is_nic(name)) {
    const auto count = whole_number_of(amount);
    if (!count || *count < 0 || *count > kMostOfPods) { return wrong("whole number from 0 to 60000"); }
    add(is_gpu(name) ? demand.gpus : demand.nics, static_cast<std::uint32_t>(*count));
  } else if (name == "ephemeral-storage" || name.starts_with("hugepages-")) {
    notes.log().has_no_effect(fmt::format("\"{}\" of resources", name), notes.place(key));
  } else {
    notes.problem(key, "unknown-resource", fmt::format("there is no resource \"{}\" here", name),
                  fmt::format("pods may ask for cpu, memory, rdma/... and {}", joined(kGpuNames, ", ")));
  }
}

Demand& operator+=(Demand& sum, const Demand& more) {
  add(sum.gpus, more.gpus);
  add(sum.nics, more.nics);
  add(sum.cpu_milli, more.cpu_milli);
  add(sum.memory_mib, more.memory_mib);
  return sum;
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

namespace {

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

}  // namespace

Demand kube_demand_of(const YAML::Node& resources, KubeNotes& notes) {
  Demand demand;
  if (!resources || !resources.IsMap()) { return demand; }
  notes.known_keys(resources, "resources", {"requests", "limits"});
  const YAML::Node requests = resources["requests"];
  const YAML::Node limits = resources["limits"];
  const bool asks = requests && requests.IsMap();
  notes.unique_keys(requests);
  notes.unique_keys(limits);
  if (asks) {
    for (const auto& each : requests) { add_resource(each.first, each.second, demand, notes); }
  }
  if (!limits || !limits.IsMap()) { return demand; }
  if (asks) { check_gpu_limits(requests, limits, notes); }
  for (const auto& each : limits) {  // a limit alone is a request, too
    if (!asks || !requests[each.first.Scalar()]) { add_resource(each.first, each.second, demand, notes); }
  }
  return demand;
}

Demand kube_pod_demand(const YAML::Node& pod, KubeNotes& notes) {
  Demand demand;
  const YAML::Node containers = pod && pod.IsMap() ? pod["containers"] : YAML::Node(YAML::NodeType::Undefined);
  if (!containers || !containers.IsSequence() || containers.size() == 0) {
    notes.problem(pod, "missing-key", "a pod without \"containers\"", "they say what it asks for");
    return demand;
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
    if (container.IsMap()) { demand += kube_demand_of(container["resources"], notes); }
  }
  if (demand.gpus > GpuSet::kMost) {
    notes.problem(containers, "out-of-range", fmt::format("a pod asks for {} GPUs", demand.gpus),
                  "a node has 128 at most");
  }
  return demand;
}

std::string kube_priority_class(const YAML::Node& pod) { return kube_text(pod, "priorityClassName"); }

}  // namespace athanor
