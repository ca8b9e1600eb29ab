#include "models/jobs/profiles/job_course.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "models/jobs/largest_node.hpp"
#include "sim/words.hpp"

namespace athanor {

std::size_t JobCourse::epoch(WallTime done) const {
  const auto at = std::upper_bound(ends.begin(), ends.end(), done);
  return std::min(static_cast<std::size_t>(at - ends.begin()), ends.size() - 1);
}

JobCourse course_of(const ApplicationProfile& profile, std::uint32_t batch, std::uint32_t gpus,
                    std::uint32_t per_node) {
  JobCourse course{&profile, split_of(batch, gpus, profile), {}, {}};
  const GpuCounts counts = packed(gpus, per_node);
  double seconds = 0;
  constexpr double kMicroseconds = 1e6;
  for (std::size_t epoch = 0; epoch < profile.convergence.epochs(); ++epoch) {
    course.rates.push_back(progress_rate(profile, epoch, counts, course.split));
    seconds += profile.convergence.progress(epoch) / course.rates.back();
    course.ends.push_back(WallTime{std::max<std::int64_t>(1, std::llround(seconds * kMicroseconds))});
  }
  return course;
}

std::uint32_t most_gpus_of(const ApplicationProfile& profile) {
  return std::min(profile.steps.most_gpus(), profile.convergence.most_batch() / profile.least_local_batch);
}

Mistake refusal_of(const ApplicationProfile& profile, std::uint32_t batch, std::uint32_t gpus, std::uint32_t per_node) {
  const Convergence& tried = profile.convergence;
  if (per_node > profile.steps.most_gpus_of_a_node()) {
    return {"beyond-profile",
            fmt::format("nodes have {} GPUs, and '{}' was measured with at most {} on a node", per_node, profile.name,
                        profile.steps.most_gpus_of_a_node()),
            "take smaller nodes, or another profile"};
  }
  if (gpus > profile.steps.most_gpus()) {
    return {"beyond-profile",
            fmt::format("a job wants {} GPUs, and '{}' was measured with at most {}", gpus, profile.name,
                        profile.steps.most_gpus()),
            "make the job smaller"};
  }
  if (batch < tried.least_batch() || batch > tried.most_batch()) {
    return {"beyond-profile",
            fmt::format("a job has a batch of {}, and '{}' was tried with batches from {} to {}", batch, profile.name,
                        tried.least_batch(), tried.most_batch()),
            "change the batch"};
  }
  if (const std::uint32_t local = split_of(batch, gpus, profile).local; local < profile.least_local_batch) {
    return {"beyond-profile",
            fmt::format("a batch of {} over {} GPUs is {} on each, and '{}' was measured with at least {}", batch, gpus,
                        local, profile.name, profile.least_local_batch),
            "make the batch larger, or the job smaller"};
  }
  return {};
}

namespace {

Mistake no_profile(const std::string& application, const ProfileSet& profiles) {
  std::vector<std::string> names;
  for (const ApplicationProfile& each : profiles.applications) { names.push_back(each.name); }
  return {"no-profile", fmt::format("no profile is of '{}'", application),
          names.empty() ? R"(give the workload "profiles")" : "there are profiles of " + enumeration(names)};
}

Mistake refusal_of(const Job& job, const Shape& shape, const ApplicationProfile& profile, std::uint32_t per_node) {
  if (std::any_of(shape.begin(), shape.end(), [](const TaskGroup& group) { return group.each.gpus == 0; })) {
    return {"beyond-profile", "a job of a profile has tasks without a whole GPU", "give each task whole GPUs"};
  }
  if (job.is_elastic() && job.least_gpus > most_gpus_of(profile)) {
    return {"beyond-profile",
            fmt::format("an elastic job has at least {} GPUs, and '{}' can use at most {}", job.least_gpus,
                        profile.name, most_gpus_of(profile)),
            "let it have fewer"};
  }
  return refusal_of(profile, job.batch, static_cast<std::uint32_t>(gpu_milli_of(shape) / 1000), per_node);
}

}  // namespace

std::vector<Mistake> set_durations(JobList& jobs, const ProfileSet& profiles, const NodeList& nodes) {
  std::vector<Mistake> mistakes;
  const std::uint32_t per_node = most_gpus_of_a_node(nodes);
  std::map<std::tuple<NameId, std::uint32_t, ShapeId>, WallTime> known;
  for (Job& job : jobs.jobs) {
    if (job.application == NameId{}) { continue; }
    const std::string& application = jobs.name(job.application);
    const Shape& shape = jobs.shape(job.shape);
    const ApplicationProfile* profile = profiles.find(application);
    Mistake mistake =
        profile == nullptr ? no_profile(application, profiles) : refusal_of(job, shape, *profile, per_node);
    if (!mistake.message.empty()) {
      const auto same = [&](const Mistake& each) { return each.message == mistake.message; };
      if (std::none_of(mistakes.begin(), mistakes.end(), same)) { mistakes.push_back(std::move(mistake)); }
      continue;
    }
    const auto [at, fresh] = known.try_emplace({job.application, job.batch, job.shape});
    if (fresh) {
      const auto gpus = static_cast<std::uint32_t>(gpu_milli_of(shape) / 1000);
      at->second = course_of(*profile, job.batch, gpus, per_node).duration();
    }
    job.duration = at->second;
    if (job.expected == WallTime{}) { job.expected = job.limit == WallTime::max() ? job.duration : job.limit; }
    job.most_gpus = std::min(job.most_gpus, most_gpus_of(*profile));
  }
  return mistakes;
}

}  // namespace athanor
