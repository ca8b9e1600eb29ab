#include "models/jobs/dependencies.hpp"

#include <algorithm>
#include <set>

namespace athanor {

Dependencies::Dependencies(const JobList& jobs) : jobs_(jobs) {
  for (const std::vector<NameId>& names : jobs.dependencies()) {
    for (const NameId name : names) { left_.emplace(name, 0); }
  }
  if (left_.empty()) { return; }
  for (const Job& job : jobs.jobs) {
    const auto found = left_.find(job.name);
    if (found != left_.end()) { ++found->second; }
  }
}

std::optional<NameId> Dependencies::waits_for(JobId job) const {
  for (const NameId name : jobs_.dependencies(jobs_.jobs[job].after)) {
    if (left_.at(name) > 0) { return name; }
  }
  return std::nullopt;
}

std::optional<NameId> Dependencies::hold(JobId job) {
  const std::optional<NameId> name = waits_for(job);
  if (name) { waiting_[*name].push_back(job); }
  return name;
}

std::vector<JobId> Dependencies::completed(JobId job) {
  const NameId name = jobs_.jobs[job].name;
  const auto found = left_.find(name);
  if (found == left_.end() || --found->second > 0) { return {}; }
  const auto waiting = waiting_.extract(name);
  std::vector<JobId> released;
  if (waiting.empty()) { return released; }
  for (const JobId each : waiting.mapped()) {
    if (!hold(each)) { released.push_back(each); }
  }
  return released;
}

namespace {

/// Follows names from one to the next that it waits for, depth first.
class CircleSearch {
 public:
  explicit CircleSearch(const JobList& jobs) {
    for (const Job& job : jobs.jobs) {
      const std::vector<NameId>& names = jobs.dependencies(job.after);
      waits_for_[job.name].insert(names.begin(), names.end());
    }
  }

  std::vector<NameId> find() {
    for (const auto& [name, others] : waits_for_) {
      if (follow(name)) { return {std::find(path_.begin(), path_.end(), path_.back()), path_.end() - 1}; }
    }
    return {};
  }

 private:
  /// Whether that comes back to a name of the path, which is then its last one, too.
  bool follow(NameId from) {
    struct Step {
      NameId name;
      std::set<NameId>::const_iterator next;
    };
    std::vector<Step> steps;
    const auto enter = [&](NameId name) {
      path_.push_back(name);
      const bool again = std::any_of(steps.begin(), steps.end(), [&](const Step& s) { return s.name == name; });
      if (again) { return true; }
      if (!seen_.insert(name).second) {
        path_.pop_back();
        return false;
      }
      steps.push_back({name, waits_for_[name].begin()});
      return false;
    };
    enter(from);
    while (!steps.empty()) {
      Step& step = steps.back();
      if (step.next == waits_for_[step.name].end()) {
        steps.pop_back();
        path_.pop_back();
        continue;
      }
      const NameId next = *step.next++;
      if (enter(next)) { return true; }
    }
    return false;
  }

  std::map<NameId, std::set<NameId>> waits_for_;
  std::set<NameId> seen_;
  std::vector<NameId> path_;
};

}  // namespace

std::vector<NameId> circle_of_dependencies(const JobList& jobs) { return CircleSearch(jobs).find(); }

}  // namespace athanor
