#pragma once

#include <optional>
#include <string_view>

#include "models/jobs/job.hpp"
#include "models/jobs/logs/kube_notes.hpp"

namespace athanor {

/// "500m", "2", "1.5": thousandths of a core, rounded up; none where it is no such quantity, or more than 4 million
/// cores.
std::optional<std::uint32_t> kube_cpu_milli(std::string_view text);
/// "16Gi", "500M", "1e9", "1024": MiB, rounded up; none where it is no such quantity, or more than 4 PiB.
std::optional<std::uint32_t> kube_memory_mib(std::string_view text);

/// What all containers of a pod ask for together. `pod`: its spec. What is wrong is among the notes.
Demand kube_pod_demand(const YAML::Node& pod, KubeNotes& notes);
/// Of a list of resources: those that are requested, or limited, by so many pods together. A slice of a GPU is that of
/// each, and they have one each or none.
Demand kube_demand_of(const YAML::Node& resources, std::uint32_t pods, KubeNotes& notes);
/// The word that pods use: a pod template's class of priority, "" for none.
std::string kube_priority_class(const YAML::Node& pod);

}  // namespace athanor
