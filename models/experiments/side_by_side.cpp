#include "models/experiments/side_by_side.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "models/experiments/collective.hpp"
#include "models/experiments/network_columns.hpp"
#include "models/experiments/placed_workload.hpp"
#include "models/experiments/workload.hpp"
#include "models/experiments/workload_columns.hpp"
#include "models/software/profile.hpp"
#include "models/workload/work_of_workload.hpp"
#include "sim/error.hpp"
#include "sim/timeline.hpp"
#include "sim/words.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

namespace {

constexpr Column kJobs{"jobs"};                                                      ///< a result for each
constexpr Column kJob{"job", "job", "", 20, Format::text};                           ///< its name
constexpr Column kAlone{"alone_s", "alone", "(ms)", 10, Format::milliseconds};       ///< a step without the others
constexpr Column kFirst{"first_step_s", "first", "(ms)", 10, Format::milliseconds};  ///< the first step
constexpr Column kLast{"last_step_s", "last", "(ms)", 10, Format::milliseconds};     ///< the last step that counts
constexpr Column kSlowdown{"slowdown", "slowdown", "", 8,
                           Format::two_decimals};  ///< how many times as long steps take on average as alone
constexpr Column kOverlap{
    "overlapped", "overlap", "(%)", 8,
    Format::percent};  ///< share of `sending_s` in which other jobs or messages on the same links were sending, too
constexpr Column kStart{"start_s", "start", "(ms)", 10, Format::milliseconds};  ///< when its first step begins
constexpr Column kPriority{"priority", "priority", "", 8, Format::count};       ///< who has more gets links first
constexpr Column kStepTimes{"step_times_s"};                                    ///< each step
constexpr Column kSending{"sending_s"};      ///< time of its steps in which calls were under way that others may meet
constexpr Column kIntensity{"intensity"};    ///< seconds of GPUs that compute for each second of its busiest link
constexpr Column kComputing{"gpu_seconds"};  ///< that its GPUs compute in a step, all together
constexpr Column kGpuUse{.key = "gpu_utilisation",
                         .role = ColumnRole::rate};  ///< of the time of all jobs' GPUs, the share in which they compute
constexpr Column kCompatibility{.key = "compatibility",
                                .role = ColumnRole::rate};  ///< CASSINI's score of the shifts, mean over links
constexpr Column kLinks{"shared_links"};  ///< that may be short for several, with who uses them, and their scores
constexpr Column kTraffic{"traffic"};     ///< beside jobs, with the share of its rate that it had

/// Calls cost what they cost the jobs; messages nothing but the network.
Platform without_software(const Platform& platform) {
  Platform bare = platform;
  bare.profile = std::make_shared<const Profile>();
  bare.aggregation = nullptr;
  return bare;
}

std::string name_of(const SideBySideSetup& setup, std::uint32_t user) {
  return user < setup.jobs.size() ? setup.jobs[user].name : setup.traffic[user - setup.jobs.size()].name;
}

Record record_of(const SideBySideSetup& setup, const SideJob& job, const SideJobResult& result) {
  const double mean = seconds(result.mean(setup.warm_up));
  Record record;
  record.put(kJob, job.name);
  record.put(kRanks, job.endpoints.size());
  record.put(kStepTime, mean);
  record.put(kAlone, seconds(result.alone));
  record.put(kFirst, seconds(result.steps.front()));
  record.put(kLast, seconds(result.steps.back()));
  record.put(kSlowdown, mean / seconds(result.alone));
  record.put(kOverlap, result.sending > Time::zero() ? seconds(result.overlapped) / seconds(result.sending) : 0.0);
  record.put(kSending, seconds(result.sending));
  record.put(kStart, seconds(result.start));
  record.put(kPriority, result.priority);
  record.put(kIntensity, result.intensity);
  record.put(kComputing, result.computing);
  JsonValue times = JsonValue::list();
  for (const Time each : result.steps) { times.push_back(seconds(each)); }
  record.put(kStepTimes, std::move(times));
  return record;
}

double gpu_use(const SideBySideSetup& setup, const SideBySideResult& result) {
  double computing = 0;
  double gpus = 0;
  for (std::size_t job = 0; job < setup.jobs.size(); ++job) {
    computing += result.jobs[job].computing / seconds(result.jobs[job].mean(setup.warm_up));
    gpus += static_cast<double>(setup.jobs[job].endpoints.size());
  }
  return computing / gpus;
}

const double* score_of(const SideBySideResult& result, std::uint32_t link) {
  if (!result.shifts) { return nullptr; }
  for (const auto& [own, score] : result.shifts->scores) {
    if (own == link) { return &score; }
  }
  return nullptr;
}

void put_links(const SideBySideSetup& setup, const SideBySideResult& result, const Fabric& fabric, Record& record) {
  constexpr std::size_t kRemarks = 4;
  JsonValue links = JsonValue::list();
  std::vector<std::string> named;
  for (const ContestedLink& each : result.links) {
    std::vector<std::string> users;
    JsonValue all = JsonValue::list();
    for (const std::uint32_t user : each.users) {
      users.push_back(name_of(setup, user));
      all.push_back(users.back());
    }
    const std::string name = fabric.name(LinkId{each.link});
    JsonValue link{{"link", name}};
    link["users"] = std::move(all);
    const double* score = score_of(result, each.link);
    if (score != nullptr) { link["score"] = *score; }
    links.push_back(std::move(link));
    const std::string scored = score == nullptr ? "" : fmt::format(", score {:.3f}", *score);
    if (named.size() < kRemarks) { named.push_back(fmt::format("{} ({}{})", name, enumeration(users), scored)); }
  }
  record.put(kLinks, std::move(links));
  if (result.links.empty()) { return record.remarks.push_back("no link may be short for several"); }
  const std::size_t more = result.links.size() - named.size();
  record.remarks.push_back(fmt::format("links that may be short: {}{}", joined(named, "; "),
                                       more > 0 ? fmt::format("; and {} more", more) : ""));
}

void put_shifts(const SideBySideResult& result, Record& record) {
  if (!result.shifts) { return; }
  const TimeShifts& shifts = *result.shifts;
  record.put(kCompatibility, shifts.score);
  record.remarks.push_back(
      fmt::format("compatibility {:.3f}, {}; steps rounded by at most {:.2f} % of themselves", shifts.score,
                  shifts.exact ? "the best on its grid" : "no single shift makes it better", 100 * shifts.rounding));
}

void put_traffic(const SideBySideSetup& setup, const SideBySideResult& result, Record& record) {
  if (setup.traffic.empty()) { return; }
  JsonValue all = JsonValue::list();
  for (std::size_t each = 0; each < setup.traffic.size(); ++each) {
    JsonValue own{{"name", setup.traffic[each].name}};
    if (setup.traffic[each].rate) {
      own["share"] = result.traffic[each];
      record.remarks.push_back(
          fmt::format("{}: {:.1f} % of its rate", setup.traffic[each].name, 100 * result.traffic[each]));
    }
    all.push_back(std::move(own));
  }
  record.put(kTraffic, std::move(all));
}

/// Each job is a process: its steps, and when it sends what others may meet.
void draw(const SideBySideSetup& setup, const SideBySideResult& result, Timeline& timeline) {
  for (std::size_t number = 0; number < setup.jobs.size(); ++number) {
    const SideJobResult& job = result.jobs[number];
    const ProcessId process = timeline.add_process(setup.jobs[number].name);
    const Track steps = timeline.add_track(process, "steps");
    const Track sending = timeline.add_track(process, "on shared links");
    Time last = job.start;
    for (std::size_t step = 0; step < job.story.ends.size(); ++step) {
      timeline.span(steps, fmt::format("step {}", step), "step", last, job.story.ends[step]);
      last = job.story.ends[step];
    }
    for (const TimeStretch& each : job.story.sending) { timeline.span(sending, "sends", "call", each.begin, each.end); }
  }
}

}  // namespace

std::string SideBySideExperiment::variant() const {
  std::vector<std::string> names;
  for (const SideJob& job : setup_.jobs) { names.push_back(job.name); }
  return fmt::format("{}", joined(names, ", "));
}

std::uint32_t SideBySideExperiment::ranks() const {
  std::size_t ranks = 0;
  for (const SideJob& job : setup_.jobs) { ranks += job.endpoints.size(); }
  return static_cast<std::uint32_t>(ranks);
}

std::span<const Bytes> SideBySideExperiment::sizes() const {
  static constexpr std::array kSizes{kOneRun};
  return kSizes;
}

std::string SideBySideExperiment::label(Bytes /*size*/) const { return fmt::format("{} jobs side by side", jobs()); }

std::vector<Record> SideBySideExperiment::run(const Run& run) const {
  const Platform bare = without_software(run.platform);
  const SideBySideResult result = simulate_side_by_side(setup_, pricing_of(nccl_, run.platform, run.options),
                                                        pricing_of({}, bare, run.options), run.options.stop);
  Record record = run.head;
  record.put(kNetwork, name(run.platform.network.level));
  record.put(kGpuUse, gpu_use(setup_, result));
  record.remarks.push_back(fmt::format("GPUs compute for {:.2f} % of the time", 100 * gpu_use(setup_, result)));
  put_shifts(result, record);
  put_links(setup_, result, *run.platform.cluster->fabric, record);
  put_traffic(setup_, result, record);
  record.put(kNotes, setup_.notes);
  std::vector<Record> parts;
  for (std::size_t job = 0; job < setup_.jobs.size(); ++job) {
    parts.push_back(record_of(setup_, setup_.jobs[job], result.jobs[job]));
  }
  record.put_parts(kJobs, std::move(parts));
  record.remarks.insert(record.remarks.end(), setup_.notes.begin(), setup_.notes.end());
  record.effort = fmt::format("{} events", result.events);
  if (run.options.timeline != nullptr) { draw(setup_, result, *run.options.timeline); }
  return {record};
}

WorkCount SideBySideExperiment::work(const Platform& platform, Bytes /*size*/, const RunOptions& options) const {
  WorkCount work;
  for (const SideJob& job : setup_.jobs) {
    work += work_of(on_endpoints(*job.workload, job.endpoints), pricing_of(nccl_, platform, options));
  }
  return work;
}

std::vector<const Column*> SideBySideExperiment::columns(bool /*seeds*/) const {
  return {&kJob, &kAlone, &kFirst, &kStepTime, &kLast, &kSlowdown, &kOverlap, &kStart, &kPriority};
}

std::vector<const Column*> SideBySideExperiment::figures() { return {&kStepTime, &kRanks, &kGpuUse, &kCompatibility}; }

std::vector<std::pair<std::string, std::string>> SideBySideExperiment::description(const Platform& platform) const {
  std::vector<std::pair<std::string, std::string>> lines;
  for (const SideJob& job : setup_.jobs) { lines.emplace_back(job.name, job.what); }
  lines.emplace_back("profile", profile_text(*platform.profile));
  return lines;
}

std::string SideBySideExperiment::participants() const {
  return fmt::format("{} on {} GPUs, {} steps", jobs() == 1 ? "1 job" : fmt::format("{} jobs", jobs()), ranks(),
                     setup_.steps);
}

std::string SideBySideExperiment::footer(const std::vector<Record>& /*records*/) const { return ""; }

std::vector<std::string> SideBySideExperiment::warnings(const Platform& platform) const {
  return nccl_warnings(*platform.profile, {nccl_.all});
}

std::string SideBySideExperiment::refusal(const Platform& /*platform*/, Ability ability) const {
  switch (ability) {
    case Ability::timeline: return "";
    case Ability::flows:
      return "--flows writes the messages of traffic by itself, and these are jobs; leave it out, or use --trace";
    case Ability::ports:
      return "--ports counts what ports carry in collectives and traffic, and this is neither; leave it out";
    case Ability::per_job:
      return "--per-job lists the jobs of a workload, and this is none; leave it out: --json has each of these jobs";
    case Ability::memory: return "--strict asks whether a training fits into memory; ask it of one training alone";
  }
  return "";
}

std::vector<IdleKeys> SideBySideExperiment::idle_keys(const Platform& /*platform*/) const {
  std::vector<IdleKeys> all{kFallbackKeys};
  for (const IdleKey& each : idle_) { all.push_back({{each.pointer.c_str()}, each.why, each.instead}); }
  return all;
}

void SideBySideExperiment::check_asked_sizes() const {
  throw UsageError("--sizes: jobs have sizes of their own; leave out --sizes");
}

}  // namespace athanor
