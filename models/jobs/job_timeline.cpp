#include "models/jobs/job_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "models/jobs/timeline_rows.hpp"
#include "sim/error.hpp"
#include "sim/format.hpp"
#include "sim/timeline.hpp"

namespace athanor {

namespace {

constexpr std::int64_t kPicoseconds = 1'000'000;  // in a microsecond

/// One bar of the drawing.
struct Bar {
  WallTime since;
  WallTime until;
  std::size_t what = 0;  ///< among stays, or outages
  std::uint32_t line = 0;
};

Time drawn(WallTime time) {
  if (time.count() > INT64_MAX / kPicoseconds) {
    throw SimulationError("timeline-too-long",
                          "a timeline has 106 days at most; give the workload a \"horizon\" of so many");
  }
  return Time{time.count() * kPicoseconds};
}

/// Puts bars that overlap on lines of their own, each on the first that is free. Returns how many lines there are.
std::size_t lay_out(std::vector<Bar>& bars) {
  std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.since < b.since; });
  std::vector<WallTime> busy_until;
  for (Bar& bar : bars) {
    const auto free =
        std::find_if(busy_until.begin(), busy_until.end(), [&](WallTime until) { return until <= bar.since; });
    bar.line = static_cast<std::uint32_t>(free - busy_until.begin());
    if (free == busy_until.end()) { busy_until.emplace_back(); }
    busy_until[bar.line] = bar.until;
  }
  return busy_until.size();
}

/// All of it, row by row.
class JobDrawing {
 public:
  JobDrawing(const JobsRun& run, const JobList& jobs, const TimelineRows& rows, std::vector<RowStay> stays,
             Timeline& timeline)
      : run_(run), jobs_(jobs), rows_(rows), stays_(std::move(stays)), timeline_(timeline) {}

  void draw() {
    draw_usage();
    std::vector<std::vector<Bar>> stays(rows_.names.size());
    std::vector<std::vector<Bar>> outages(rows_.names.size());
    for (std::size_t i = 0; i < stays_.size(); ++i) {
      stays[stays_[i].row].push_back({stays_[i].stint->since, stays_[i].stint->until, i, 0});
    }
    for (std::size_t i = 0; i < run_.outages.size(); ++i) {
      const Outage& outage = run_.outages[i];
      outages[rows_.row_of[outage.node]].push_back({outage.since, std::min(outage.until, run_.ended), i, 0});
    }
    std::map<std::string, ProcessId> groups;
    for (std::size_t row = 0; row < rows_.names.size(); ++row) {
      const auto at = groups.find(rows_.groups[row]);
      const ProcessId group = at != groups.end() ? at->second : timeline_.add_process(rows_.groups[row]);
      groups.try_emplace(rows_.groups[row], group);
      draw_stays(stays[row], tracks(group, rows_.names[row], std::max<std::size_t>(lay_out(stays[row]), 1)));
      draw_outages(outages[row], tracks(group, rows_.names[row] + ": down", lay_out(outages[row])));
    }
  }

 private:
  std::vector<Track> tracks(ProcessId group, const std::string& name, std::size_t count) {
    std::vector<Track> tracks;
    for (std::size_t line = 0; line < count; ++line) { tracks.push_back(timeline_.add_track(group, name)); }
    return tracks;
  }

  void draw_stays(const std::vector<Bar>& bars, const std::vector<Track>& tracks) {
    for (const Bar& bar : bars) {
      const RowStay& stay = stays_[bar.what];
      const Job& job = jobs_.jobs[stay.stint->job];
      const std::string_view queue = jobs_.name(job.queue);
      timeline_.span(tracks[bar.line], jobs_.title(stay.stint->job), queue.empty() ? "job" : queue, drawn(bar.since),
                     drawn(bar.until), {{"gpus_here", stay.gpus}, {"user", jobs_.name(job.user)}});
    }
  }

  void draw_outages(const std::vector<Bar>& bars, const std::vector<Track>& tracks) {
    for (const Bar& bar : bars) {
      const Outage& outage = run_.outages[bar.what];
      timeline_.span(tracks[bar.line], run_.failures[outage.source].name, "failure", drawn(bar.since), drawn(bar.until),
                     {{"node", outage.node.value}});
    }
  }

  /// Averages of spans of time, as far as these were counted.
  void draw_usage() {
    const ProcessId group = timeline_.add_process("cluster in use");
    draw_level(group, "GPUs in use", "gpus", &Usage::Level::gpus);
    draw_level(group, "jobs running", "jobs", &Usage::Level::running);
    draw_level(group, "jobs waiting", "jobs", &Usage::Level::waiting);
  }

  void draw_level(ProcessId group, std::string_view name, std::string_view unit, double Usage::Level::*level) {
    std::int64_t last = -1;
    WallTime at;
    for (const Usage::Level& each : run_.usage.averages()) {
      const std::int64_t value = std::llround(each.*level);
      if (value != last) { timeline_.counter(group, name, drawn(at), {{unit, value}}); }
      last = value;
      at += run_.usage.width();
    }
    timeline_.counter(group, name, drawn(run_.ended), {{unit, 0}});
  }

  const JobsRun& run_;
  const JobList& jobs_;
  const TimelineRows& rows_;
  std::vector<RowStay> stays_;
  Timeline& timeline_;
};

}  // namespace

std::string draw(const JobsRun& run, const JobList& jobs, const NodeList& nodes, Timeline& timeline, std::size_t most) {
  const TimelineRows rows = timeline_rows(run, nodes, most);
  std::vector<RowStay> stays = stays_on(rows, run);
  std::string left_out;
  if (rows.kind != "node") {
    left_out = fmt::format("the trace has jobs by {}: by node they would be more than {} spans", rows.kind, most);
  }
  if (stays.size() > most) {
    std::stable_sort(stays.begin(), stays.end(),
                     [](const RowStay& a, const RowStay& b) { return a.stint->since < b.stint->since; });
    left_out += fmt::format("; these are still {}, and those are left out that begin after {}", stays.size(),
                            to_string(stays[most - 1].stint->since));
    stays.resize(most);
  }
  JobDrawing(run, jobs, rows, std::move(stays), timeline).draw();
  return left_out;
}

}  // namespace athanor
