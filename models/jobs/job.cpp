#include "models/jobs/job.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "sim/random.hpp"

namespace athanor {

namespace {

std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t hash = mix64(shape.size());
  for (const TaskGroup& group : shape) {
    for (const std::uint64_t part :
         {std::uint64_t{group.tasks}, std::uint64_t{group.each.gpus}, std::uint64_t{group.each.gpu_milli},
          std::uint64_t{group.each.slice}, std::uint64_t{group.each.nics}, std::uint64_t{group.each.gpu_types.value},
          std::uint64_t{group.each.cpu_milli}, std::uint64_t{group.each.memory_mib}}) {
      hash = join_hash(hash, part);
    }
  }
  return hash;
}

}  // namespace

std::uint64_t gpu_milli_of(const Shape& shape) {
  std::uint64_t sum = 0;
  for (const TaskGroup& group : shape) {
    sum += std::uint64_t{group.tasks} * (std::uint64_t{group.each.gpus} * 1000 + group.each.gpu_milli);
  }
  return sum;
}

JobList::JobList() {
  name("");
  gpu_types_.push_back({});
  gpu_speeds_.push_back({});
  dependencies_.push_back({});
}

ShapeId JobList::shape(const Shape& shape) {
  std::vector<ShapeId>& known = shape_ids_[hash_of(shape)];
  const auto found = std::find_if(known.begin(), known.end(), [&](ShapeId id) { return shapes_[id] == shape; });
  if (found != known.end()) { return *found; }
  const ShapeId id{static_cast<std::uint32_t>(shapes_.size())};
  shapes_.push_back(shape);
  known.push_back(id);
  return id;
}

NameId JobList::name(std::string_view name) {
  const auto [at, fresh] = name_ids_.try_emplace(std::string(name), static_cast<std::uint32_t>(names_.size()));
  if (fresh) { names_.push_back(at->first); }
  return at->second;
}

DependenciesId JobList::dependencies(std::vector<NameId> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const auto found = std::find(dependencies_.begin(), dependencies_.end(), names);
  const DependenciesId id{static_cast<std::uint32_t>(found - dependencies_.begin())};
  if (found == dependencies_.end()) { dependencies_.push_back(std::move(names)); }
  return id;
}

GpuSpeedsId JobList::gpu_speeds(const GpuSpeeds& speeds) {
  for (const GpuSpeedsId id : gpu_speeds_.ids()) {
    if (gpu_speeds_[id] == speeds) { return id; }
  }
  gpu_speeds_.push_back(speeds);
  return GpuSpeedsId{static_cast<std::uint32_t>(gpu_speeds_.size() - 1)};
}

GpuTypesId JobList::gpu_types(std::vector<std::string> types) {
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  const auto found = std::find(gpu_types_.begin(), gpu_types_.end(), types);
  const auto index = static_cast<std::uint32_t>(found - gpu_types_.begin());
  if (found == gpu_types_.end()) { gpu_types_.push_back(std::move(types)); }
  return GpuTypesId{index};
}

std::string JobList::title(JobId id) const {
  const std::string& known = name(jobs[id].name);
  return known.empty() ? fmt::format("job {}", id.value) : known;
}

void JobList::sort() {
  std::stable_sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.submitted < b.submitted; });
}

}  // namespace athanor
