#include "models/jobs/logs/fill.hpp"

#include <algorithm>

#include "models/jobs/inventory.hpp"
#include "models/jobs/simulate_jobs.hpp"
#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

constexpr WallTime kApart{1'000'000};

std::vector<Job> shuffled(const JobList& list, RandomStream& random) {
  std::vector<Job> jobs(list.jobs.begin(), list.jobs.end());
  std::stable_sort(jobs.begin(), jobs.end(),
                   [&](const Job& a, const Job& b) { return list.name(a.name) < list.name(b.name); });
  random.shuffle(jobs);
  return jobs;
}

}  // namespace

JobList filled(const JobList& list, std::uint32_t gpus, const Fill& fill) {
  const auto wants = [&](const Job& job) { return static_cast<double>(gpu_milli_of(list.shape(job.shape))); };
  const double most = to_double(fill.demand) * gpus * Inventory::kWhole;
  RandomStream random(fill.seed, "fill");
  const std::vector<Job> once = shuffled(list, random);
  require(std::any_of(once.begin(), once.end(), [&](const Job& job) { return wants(job) > 0; }), "no job wants GPUs");
  JobList all = list;
  all.jobs = {};
  double demand = 0;
  const auto add = [&](const Job& job) {
    if (demand + wants(job) > most) { return false; }
    demand += wants(job);
    all.jobs.push_back(job);
    return true;
  };
  bool fits = true;
  for (const Job& job : once) { fits = fits && add(job); }
  while (fits) { fits = add(once[random.below(once.size())]); }
  WallTime left = kApart * static_cast<std::int64_t>(all.size());
  const WallTime end = left;
  for (Job& job : all.jobs) {
    job.submitted = end - left;
    job.duration = job.expected = left;
    job.limit = WallTime::max();
    job.application = {};
    left -= kApart;
  }
  return all;
}

std::vector<double> allocated_at(std::span<const double> demands, const JobList& jobs, const JobsRun& run,
                                 std::uint32_t gpus) {
  const double all = static_cast<double>(gpus) * Inventory::kWhole;
  std::vector<double> allocated;
  double arrived = 0;
  double given = 0;
  for (const JobId job : jobs.jobs.ids()) {
    const auto wanted = static_cast<double>(gpu_milli_of(jobs.shape(job)));
    arrived += wanted;
    given += run.outcomes[job].starts > 0 ? wanted : 0;
    while (allocated.size() < demands.size() && arrived >= demands[allocated.size()] * all) {
      allocated.push_back(given / all);
    }
  }
  allocated.resize(demands.size(), given / all);
  return allocated;
}

}  // namespace athanor
