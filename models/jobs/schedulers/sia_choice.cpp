#include "models/jobs/schedulers/sia_choice.hpp"

#include <algorithm>

#include "models/jobs/schedulers/sia_program.hpp"

namespace athanor {

std::vector<std::uint32_t> sia_sizes(std::uint32_t per_node, std::uint32_t most) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 1; size < per_node && size <= most; size *= 2) { sizes.push_back(size); }
  for (std::uint32_t size = per_node; size > 0 && size <= most; size += per_node) { sizes.push_back(size); }
  return sizes;
}

namespace {

using Choice = std::vector<std::optional<SiaOption>>;

Choice cheapest_of_one_type(const std::vector<SiaJob>& jobs, std::uint32_t gpus) {
  std::vector<double> costs(gpus + 1, 0);  // of the jobs so far, with at most so many GPUs
  std::vector<Choice> choices;
  for (const SiaJob& job : jobs) {
    std::vector<double> with(gpus + 1);
    Choice choice(gpus + 1);
    for (std::uint32_t all = 0; all <= gpus; ++all) {
      with[all] = costs[all] + job.without;
      for (const SiaOption& option : job.options) {
        if (option.gpus > all) { continue; }
        const double cost = costs[all - option.gpus] + option.cost;
        if (cost >= with[all]) { continue; }
        with[all] = cost;
        choice[all] = option;
      }
    }
    costs = std::move(with);
    choices.push_back(std::move(choice));
  }
  Choice chosen(jobs.size());
  std::uint32_t left = gpus;
  for (std::size_t job = jobs.size(); job-- > 0;) {
    chosen[job] = choices[job][left];
    if (chosen[job]) { left -= chosen[job]->gpus; }
  }
  return chosen;
}

}  // namespace

std::vector<std::optional<SiaOption>> cheapest_options(const std::vector<SiaJob>& jobs,
                                                       const std::vector<std::uint32_t>& gpus) {
  return gpus.size() == 1 ? cheapest_of_one_type(jobs, gpus.front()) : solve_sia_program(jobs, gpus);
}

namespace {

/// On the tightest node that has room, or on whole nodes; of equal ones the lowest.
std::optional<GpuRow> placed(std::uint32_t size, std::uint32_t per_node, std::vector<std::uint32_t>& free) {
  GpuRow row(free.size());
  std::optional<std::size_t> tightest;
  for (std::size_t node = 0; node < free.size(); ++node) {
    if (free[node] >= size && (!tightest || free[node] < free[*tightest])) { tightest = node; }
  }
  if (tightest) {
    row[*tightest] = static_cast<std::uint16_t>(size);
    free[*tightest] -= size;
    return row;
  }
  if (per_node == 0 || size % per_node != 0) { return {}; }
  const auto whole = static_cast<std::uint32_t>(std::count(free.begin(), free.end(), per_node));
  if (whole < size / per_node) { return {}; }
  std::uint32_t left = size;
  for (std::size_t node = 0; left > 0; ++node) {
    if (free[node] != per_node) { continue; }
    row[node] = static_cast<std::uint16_t>(per_node);
    free[node] = 0;
    left -= per_node;
  }
  return row;
}

/// Places jobs without a row, the largest first. False: not all of them found room.
bool place_all(const std::vector<std::uint32_t>& sizes, std::vector<std::uint32_t> free, std::vector<GpuRow>& rows) {
  const std::uint32_t per_node = *std::max_element(free.begin(), free.end());
  std::vector<std::size_t> order;
  for (std::size_t job = 0; job < sizes.size(); ++job) {
    if (gpus_of(rows[job]) == 0 && sizes[job] > 0) { order.push_back(job); }
    for (std::size_t node = 0; node < free.size(); ++node) { free[node] -= rows[job][node]; }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  bool all = true;
  for (const std::size_t job : order) {
    if (const auto row = placed(sizes[job], per_node, free)) {
      rows[job] = *row;
    } else {
      all = false;
    }
  }
  return all;
}

}  // namespace

std::vector<GpuRow> sia_places(const std::vector<std::uint32_t>& sizes, const std::vector<GpuRow>& present,
                               const std::vector<std::uint32_t>& capacity) {
  const std::vector<GpuRow> none(sizes.size(), GpuRow(capacity.size()));
  std::vector<GpuRow> rows = none;
  for (std::size_t job = 0; job < sizes.size(); ++job) {
    if (gpus_of(present[job]) == sizes[job]) { rows[job] = present[job]; }
  }
  for (std::size_t node = 0; node < capacity.size(); ++node) {
    // A node that has been closed keeps nobody.
    if (capacity[node] > 0) { continue; }
    for (GpuRow& row : rows) {
      if (row[node] > 0) { row = none.front(); }
    }
  }
  if (place_all(sizes, capacity, rows)) { return rows; }
  rows = none;
  place_all(sizes, capacity, rows);
  return rows;
}

}  // namespace athanor
