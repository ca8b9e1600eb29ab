#include "models/experiments/layouts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/layouts_columns.hpp"
#include "models/experiments/layouts_report.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/scenario/algorithm_choice.hpp"
#include "models/experiments/scenario/profile_section.hpp"
#include "models/experiments/verification.hpp"
#include "models/experiments/workload.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/layouts/mesh_prices.hpp"
#include "models/software/profile.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/error.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

DataType type_of(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32: return DataType::float32;
    case Precision::fp16: return DataType::float16;
    case Precision::bf16: return DataType::bfloat16;
    case Precision::fp8:
    case Precision::fp4: break;
  }
  return DataType::int8;
}

void put_times(const LayoutPlan& plan, Record& record) {
  const auto milliseconds = [](Time time) { return seconds(time) * 1e3; };
  record.put(kLayoutTime, milliseconds(plan.time()));
  record.put(kLayoutForward, milliseconds(plan.forward()));
  record.put(kLayoutBackward, milliseconds(plan.backward()));
  record.put(kLayoutCompute, milliseconds(plan.compute()));
  record.put(kLayoutCommunication, milliseconds(plan.communication()));
  record.put(kLayoutBound, milliseconds(plan.bound));
}

void put_memory(const LayoutMemory& memory, Record& record) {
  const auto gigabytes = [](std::int64_t bytes) { return static_cast<double>(bytes) * 1e-9; };
  record.put(kLayoutMemory, gigabytes(memory.total()));
  record.put(kLayoutParameters, gigabytes(memory.parameters));
  record.put(kLayoutActivations, gigabytes(memory.activations));
  record.put(kLayoutWorking, gigabytes(memory.working));
}

std::string gap_text(const LayoutPlan& plan) {
  const double gap = 1 - seconds(plan.bound) / seconds(plan.time());
  return fmt::format(
      "the search is not exact here, for memory binds or there are too many strategies: others may take up to {:.1f} % "
      "less time",
      100 * gap);
}

/// Each axis, and all together, with the largest tensor: some of each kind and size are asked for.
Workload calls_of(const LayoutTask& task) {
  constexpr std::array kKinds{CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::all_to_all};
  std::int64_t most = 1;
  for (const LayoutGraph::Node& node : task.graph.nodes) { most = std::max(most, elements(node.what.output_shape)); }
  Workload workload;
  for (std::uint8_t axis = 0; axis < task.mesh.axes.size(); ++axis) {
    if (task.mesh.axes[axis].size == 1) { continue; }
    const auto number = static_cast<std::uint32_t>(workload.communicators.size());
    workload.communicators.push_back({task.mesh.axes[axis].name,
                                      Parallelism::other,
                                      {0},
                                      std::make_shared<const EndpointGroups>(task.mesh.groups({axis}))});
    for (const CollectiveKind kind : kKinds) {
      workload.calls.push_back(
          {.communicator = number,
           .kind = kind,
           .size = Bytes{most * task.element_bytes / task.mesh.devices() * task.mesh.axes[axis].size},
           .type = type_of(task.precision)});
    }
  }
  return workload;
}

}  // namespace

std::string text_of(const DeviceMesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " x ", axis.name, axis.size);
  }
  return text;
}

std::string LayoutsExperiment::variant() const { return text_of(setup_->task.mesh); }

std::span<const Bytes> LayoutsExperiment::sizes() const {
  static constexpr std::array kSizes{kOneRun};
  return kSizes;
}

std::string LayoutsExperiment::label(Bytes /*size*/) const { return "layouts"; }

std::vector<Record> LayoutsExperiment::run(const Run& run) const {
  try {
    return {planned(run)};
  } catch (const LayoutModelError& error) {
    throw SimulationError(error.code(), fmt::format("{}: {}", error.what(), error.hint()));
  }
}

Record LayoutsExperiment::planned(const Run& run) const {
  const LayoutTask& task = setup_->task;
  CollectiveTimer timer(pricing_of(nccl_, run.platform, run.options));
  MeshPrices steps(timer, *run.platform.cluster, task.mesh, type_of(task.precision));
  const LayoutPrices prices{[&](const LayoutStep& step, Bytes size) { return steps.time(step, size); },
                            [&](const LayoutStep& step, Bytes size) { return steps.bound(step, size); },
                            [&](const Kernels& kernels) { return time_of(kernels, setup_->gpu, setup_->compute); }};
  const LayoutPlan plan = plan_layouts(task, prices, run.options.stop);
  Record record = run.head;
  record.put(kLayoutMesh, text_of(task.mesh));
  record.put(kLayoutGpu, setup_->gpu.name);
  record.put(kLayoutDevices, ranks());
  record.put(kLayoutStrategy, task.search ? "searched" : "propagated");
  put_times(plan, record);
  put_memory(plan.memory, record);
  record.put(kLayoutChoices, plan.choices);
  put_inserted(plan, task, record);
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kSeed, run.platform.seed);
  std::vector<std::string> notes = setup_->notes;
  if (plan.bound < plan.time()) { notes.push_back(gap_text(plan)); }
  if (ranks() > MeshPrices::kExactDevices) {
    notes.emplace_back("collectives are simulated at sizes of 1, 4, 16, ... KiB, and interpolated between them");
  }
  if (steps.left_out()) {
    notes.push_back(
        fmt::format("all-to-alls of over {} pairs of GPUs at a time were not considered", MeshPrices::kMostPairs));
  }
  record.put(kNotes, notes);
  put_skipped_packets(timer, record);
  record.remarks.insert(record.remarks.end(), notes.begin(), notes.end());
  record.effort = fmt::format("{} strategies of {} operators, {} runs of collectives", plan.choices,
                              task.graph.nodes.size(), timer.simulated());
  return record;
}

WorkCount LayoutsExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  const Workload calls = calls_of(setup_->task);
  std::set<TensorShape> shapes;
  for (const LayoutGraph::Node& node : setup_->task.graph.nodes) { shapes.insert(node.what.output_shape); }
  WorkCount work;
  if (!calls.calls.empty()) { work = work_of(calls, pricing_of(nccl_, platform, options)); }
  work *= static_cast<double>(shapes.size()) * (setup_->task.search ? 4 : 1);
  work[Work::operation] += static_cast<double>(setup_->task.graph.nodes.size()) * (setup_->task.search ? 1e5 : 1e3);
  return work;
}

std::vector<const Column*> LayoutsExperiment::columns(bool /*seeds*/) const {
  std::vector<const Column*> columns{&kLayoutStrategy, &kLayoutTime};
  if (setup_->task.training) { columns.insert(columns.end(), {&kLayoutForward, &kLayoutBackward}); }
  columns.insert(columns.end(), {&kLayoutCompute, &kLayoutCommunication, &kLayoutCollectives, &kLayoutMemory});
  return columns;
}

std::vector<const Column*> LayoutsExperiment::figures() {
  return {&kLayoutMesh,     &kLayoutDevices, &kLayoutStrategy,      &kLayoutTime,        &kLayoutForward,
          &kLayoutBackward, &kLayoutCompute, &kLayoutCommunication, &kLayoutCollectives, &kLayoutMemory};
}

std::vector<const Column*> LayoutsExperiment::measurable() {
  return {&kLayoutTime,          &kLayoutForward, &kLayoutBackward,   &kLayoutCompute,
          &kLayoutCommunication, &kLayoutMemory,  &kLayoutParameters, &kLayoutActivations};
}

std::optional<Reference> LayoutsExperiment::reference() const {
  if (setup_->measured.empty()) { return std::nullopt; }
  Reference reference{.max_error = setup_->max_error};
  for (const Column* column : measurable()) {
    const auto found = setup_->measured.find(column);
    if (found != setup_->measured.end()) { reference.figures.push_back({column, to_double(found->second)}); }
  }
  return reference;
}

std::vector<std::pair<std::string, std::string>> LayoutsExperiment::description(const Platform& platform) const {
  std::string computing = setup_->compute.name;
  if (setup_->compute.pooled) { computing += ": " + setup_->compute.description; }
  return {{"layouts", fmt::format("{} on {} {}: mesh {}{}", setup_->model, ranks(), setup_->gpu.name,
                                  text_of(setup_->task.mesh), setup_->task.training ? ", with gradients" : "")},
          {"profile", fmt::format("collectives {}; computing {}", profile_text(*platform.profile), computing)}};
}

std::string LayoutsExperiment::participants() const { return fmt::format("{} GPUs", ranks()); }

std::vector<std::string> LayoutsExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, {nccl_.all});
}

std::string LayoutsExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline: return "--trace draws what steps and collectives do, and these are layouts; use --json";
    case Ability::flows: return "--flows writes the messages of traffic, and this is none; leave it out";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job: return "--per-job lists the jobs of a workload, and this is none; leave it out";
    case Ability::memory:
      return R"(--strict is of trainings: a limit of memory is "memory" of "layouts"; leave it out)";
  }
  return "";
}

std::vector<IdleKeys> LayoutsExperiment::idle_keys(const Platform& /*platform*/) const {
  return {kFallbackKeys,
          {{"/layouts/compute/interference", "/layouts/compute/launch", "/layouts/compute/pass_overhead",
            "/layouts/compute/straggler_growth", "/layouts/compute/attention", "/layouts/compute/attention_by_shape"},
           "it is of steps of training, and attention is products here",
           "leave it out"}};
}

void LayoutsExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: tensors have shapes of their own; leave out --sizes");
}

}  // namespace athanor
