#include "models/workload/time_shifts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "sim/check.hpp"
#include "sim/disjoint_groups.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kLongestCircle = 1 << 16;  // parts of the common circle
constexpr std::uint64_t kMostSteps = 400'000'000;  // of trying all combinations
constexpr double kHelps = 1e-9;                    // parts of a link; less is rounding

/// How many parts each period has, and their least common multiple.
struct CircleGrid {
  std::vector<std::uint32_t> parts;
  std::uint64_t circle = 1;
  double rounding = 0;
};

CircleGrid grid_of(std::span<const JobCircle> jobs, std::uint32_t parts) {
  Time shortest = jobs.front().period;
  for (const JobCircle& job : jobs) { shortest = std::min(shortest, job.period); }
  CircleGrid grid;
  for (const JobCircle& job : jobs) {
    const double exact = static_cast<double>(parts) * seconds(job.period) / seconds(shortest);
    const auto own = static_cast<std::uint32_t>(std::llround(exact));
    grid.parts.push_back(own);
    grid.circle = std::min<std::uint64_t>(std::lcm(grid.circle, own), kLongestCircle + 1);
    grid.rounding = std::max(grid.rounding, std::abs(own / exact - 1));
  }
  return grid;
}

/// With as many parts as asked for, or the most with which the common circle is not too long.
CircleGrid finest_grid(std::span<const JobCircle> jobs, std::uint32_t parts) {
  for (;; parts = std::max(1U, parts / 2)) {
    CircleGrid grid = grid_of(jobs, parts);
    if (grid.circle <= kLongestCircle || parts == 1) { return grid; }
  }
}

using Profile = std::vector<double>;  // by part of a period: share of the link

Profile profile_of(const std::vector<LinkArc>& arcs, Time period, std::uint32_t parts) {
  Profile all(parts);
  const double width = static_cast<double>(period.count()) / parts;
  for (const LinkArc& arc : arcs) {
    const double begin = static_cast<double>(arc.when.begin.count()) / width;
    const double end = static_cast<double>(arc.when.end.count()) / width;
    for (auto part = static_cast<std::uint64_t>(begin); static_cast<double>(part) < end; ++part) {
      const double inside = std::min(end, static_cast<double>(part + 1)) - std::max(begin, static_cast<double>(part));
      all[part % parts] += std::max(0.0, inside) * arc.share;
    }
  }
  return all;
}

/// A link, or several that the same jobs use alike.
struct SharedLink {
  std::vector<std::uint32_t> links;
  std::vector<std::pair<std::uint32_t, Profile>> jobs;  ///< in ascending order
};

/// Links that may be short for those who use them.
std::vector<SharedLink> shared_links(std::span<const JobCircle> jobs, const CircleGrid& grid) {
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, Profile>>> by_link;
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    for (const auto& [link, arcs] : jobs[job].links) {
      by_link[link].emplace_back(job, profile_of(arcs, jobs[job].period, grid.parts[job]));
    }
  }
  std::map<std::vector<std::pair<std::uint32_t, Profile>>, std::vector<std::uint32_t>> alike;
  for (auto& [link, users] : by_link) {
    double most = 0;
    for (const auto& [job, profile] : users) { most += *std::max_element(profile.begin(), profile.end()); }
    if (users.size() > 1 && most > 1 + kHelps) { alike[std::move(users)].push_back(link); }
  }
  std::vector<SharedLink> all;
  for (auto& [users, links] : alike) { all.push_back({links, users}); }
  std::sort(all.begin(), all.end(), [](const SharedLink& a, const SharedLink& b) { return a.links < b.links; });
  return all;
}

/// Jobs that meet, shifted together.
class ShiftSearch {
 public:
  ShiftSearch(const CircleGrid& grid, const std::vector<SharedLink>& links, std::vector<std::uint32_t>& shifts)
      : grid_(grid), links_(links), shifts_(shifts) {}

  /// What is wanted beyond a link's rate, in parts of the common circle.
  double excess(const SharedLink& link) const {
    std::vector<double> wanted(grid_.circle);
    for (const auto& [job, profile] : link.jobs) {
      const std::size_t own = profile.size();
      for (std::size_t part = 0, at = (own - shifts_[job] % own) % own; part < wanted.size(); ++part) {
        wanted[part] += profile[at];
        at = at + 1 == own ? 0 : at + 1;
      }
    }
    double sum = 0;
    for (const double each : wanted) { sum += std::max(0.0, each - 1); }
    return sum;
  }

  /// Whether all combinations were tried. `jobs`: that meet, the first of which stays where it is, each behind one that
  /// it meets. `own`: their links.
  bool search(const std::vector<std::uint32_t>& jobs, const std::vector<std::uint32_t>& own) {
    own_ = own;
    double steps = static_cast<double>(grid_.circle);
    std::size_t uses = 0;
    for (const std::uint32_t link : own) { uses += links_[link].jobs.size(); }
    steps *= static_cast<double>(uses);
    for (std::size_t i = 1; i < jobs.size(); ++i) { steps *= grid_.parts[jobs[i]]; }
    if (steps <= static_cast<double>(kMostSteps)) {
      try_all(jobs);
      return true;
    }
    for (std::size_t known = 2; known <= jobs.size(); ++known) { move(jobs[known - 1], {jobs.data(), known}); }
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 1; i < jobs.size(); ++i) { better = move(jobs[i], jobs) || better; }
    }
    return false;
  }

 private:
  /// Of links that two of these jobs at least are on.
  double cost(std::span<const std::uint32_t> jobs) const {
    double sum = 0;
    for (const std::uint32_t number : own_) {
      SharedLink part;
      const SharedLink& link = links_[number];
      if (jobs.size() == link.jobs.size() || all_on(link, jobs)) {
        sum += excess(link) * static_cast<double>(link.links.size());
        continue;
      }
      for (const auto& user : link.jobs) {
        if (std::find(jobs.begin(), jobs.end(), user.first) != jobs.end()) { part.jobs.push_back(user); }
      }
      if (part.jobs.size() > 1) { sum += excess(part) * static_cast<double>(link.links.size()); }
    }
    return sum;
  }
  static bool all_on(const SharedLink& link, std::span<const std::uint32_t> jobs) {
    return std::all_of(link.jobs.begin(), link.jobs.end(),
                       [&](const auto& user) { return std::find(jobs.begin(), jobs.end(), user.first) != jobs.end(); });
  }

  /// The least of equally good ones.
  bool move(std::uint32_t job, std::span<const std::uint32_t> among) {
    const std::uint32_t before = shifts_[job];
    double least = cost(among);
    std::uint32_t best = before;
    for (std::uint32_t shift = 0; shift < grid_.parts[job]; ++shift) {
      shifts_[job] = shift;
      const double here = cost(among);
      if (here >= least - kHelps) { continue; }
      least = here;
      best = shift;
    }
    shifts_[job] = best;
    return best != before;
  }

  void try_all(const std::vector<std::uint32_t>& jobs) {
    double least = INFINITY;
    std::vector<std::uint32_t> best = shifts_;
    for (;;) {
      const double here = cost(jobs);
      if (here < least - kHelps) {
        least = here;
        best = shifts_;
        if (least < kHelps) { break; }
      }
      std::size_t digit = jobs.size();
      while (--digit > 0 && ++shifts_[jobs[digit]] == grid_.parts[jobs[digit]]) { shifts_[jobs[digit]] = 0; }
      if (digit == 0) { break; }
    }
    shifts_ = std::move(best);
  }

  const CircleGrid& grid_;
  const std::vector<SharedLink>& links_;
  std::vector<std::uint32_t>& shifts_;
  std::vector<std::uint32_t> own_;
};

/// Those that meet the first one, directly or over others, each behind one that it meets (the affinity graph of
/// section 4, gone through breadth first); and the links where they do.
struct JobMeeting {
  std::vector<std::uint32_t> jobs;
  std::vector<std::uint32_t> links;
};

JobMeeting meeting_of(std::uint32_t first, const std::vector<SharedLink>& links) {
  JobMeeting all{{first}, {}};
  std::set<std::uint32_t> seen{first};
  std::vector<bool> gone(links.size());
  for (std::size_t next = 0; next < all.jobs.size(); ++next) {
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      const auto& users = links[link].jobs;
      const auto is_next = [&](const auto& user) { return user.first == all.jobs[next]; };
      if (gone[link] || std::none_of(users.begin(), users.end(), is_next)) { continue; }
      gone[link] = true;
      all.links.push_back(link);
      for (const auto& [job, profile] : users) {
        if (seen.insert(job).second) { all.jobs.push_back(job); }
      }
    }
  }
  return all;
}

void put_scores(const std::vector<SharedLink>& links, const ShiftSearch& search, std::uint64_t circle,
                TimeShifts& result) {
  for (const SharedLink& link : links) {
    const double score = 1 - search.excess(link) / static_cast<double>(circle);
    for (const std::uint32_t each : link.links) { result.scores.emplace_back(each, score); }
  }
  std::sort(result.scores.begin(), result.scores.end());
  if (result.scores.empty()) { return; }
  double sum = 0;
  for (const auto& [link, score] : result.scores) { sum += score; }
  result.score = sum / static_cast<double>(result.scores.size());
}

}  // namespace

TimeShifts compatible_shifts(std::span<const JobCircle> jobs, std::uint32_t parts) {
  require(parts > 0, "a circle of no parts");
  TimeShifts result;
  result.shifts.resize(jobs.size());
  if (jobs.empty()) { return result; }
  const CircleGrid grid = finest_grid(jobs, parts);
  const std::vector<SharedLink> links = shared_links(jobs, grid);
  std::vector<std::uint32_t> shifts(jobs.size());
  ShiftSearch search(grid, links, shifts);
  std::set<std::uint32_t> done;
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    if (done.contains(job)) { continue; }
    const JobMeeting meeting = meeting_of(job, links);
    done.insert(meeting.jobs.begin(), meeting.jobs.end());
    if (meeting.jobs.size() > 1) { result.exact = search.search(meeting.jobs, meeting.links) && result.exact; }
  }
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    result.shifts[job] = jobs[job].period * static_cast<std::int64_t>(shifts[job]) / std::int64_t{grid.parts[job]};
  }
  result.rounding = grid.rounding;
  put_scores(links, search, grid.circle, result);
  return result;
}

}  // namespace athanor
