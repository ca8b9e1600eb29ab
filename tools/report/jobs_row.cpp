#include "tools/report/jobs_row.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "models/execution/by_packets.hpp"
#include "sim/printable.hpp"
#include "tools/report/slots_json.hpp"

namespace athanor {

namespace {

using Json = nlohmann::ordered_json;

Bytes payload_of(const JobsRow& row, std::size_t number) {
  return size_of(row.type) * row.collectives[number].count.count();
}

double job_bus_bandwidth(const JobsRow& row, std::size_t number) {
  const Time time = row.run.jobs[number].time;
  return time == Time::zero() ? 0 : bus_bandwidth(row.collectives[number], payload_of(row, number), time);
}

double job_algorithm_bandwidth(const JobsRow& row, std::size_t number) {
  const Time time = row.run.jobs[number].time;
  return time == Time::zero() ? 0 : algorithm_bandwidth(payload_of(row, number), time);
}

std::string note_of(const JobsRow& row, std::size_t number) {
  const JobResult& job = row.run.jobs[number];
  std::vector<std::string> parts;
  const CollectiveKind kind = row.collectives[number].kind;
  if (kind != row.collective.kind) { parts.emplace_back(name(kind)); }
  if (!job.roots.empty()) {
    parts.push_back(fmt::format("{} {}", job.roots.size() == 1 ? "root" : "roots", fmt::join(job.roots, ", ")));
  }
  if (job.slots) { parts.push_back(aggregation_text(*job.slots)); }
  if (job.waited > Time::zero()) { parts.push_back(fmt::format("waited {:.2f} us", microseconds(job.waited))); }
  if (!job.alone.fell_back.empty()) { parts.push_back("fell back: " + job.alone.fell_back); }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string job_line(const JobsRow& row, std::size_t number) {
  const JobResult& job = row.run.jobs[number];
  std::string line =
      fmt::format("{:>12} {:>12} {:>9} {:>5} {:>9} {:>7} {:>7} {:>9} {:>8.2f}  {:<20} {:<8} {:>2}  {}",
                  payload_of(row, number).count(), count_per_argument(row.collectives[number]), nccl_name(row.type),
                  number, fitted(microseconds(job.time), 9), fitted(job_algorithm_bandwidth(row, number), 7),
                  fitted(job_bus_bandwidth(row, number), 7), fitted(microseconds(job.alone.time), 9), job.slowdown,
                  job.alone.algorithm, job.alone.protocol, job.alone.channels,
                  note_of(row, number) + (job.alone.extrapolated ? " *" : ""));
  while (line.back() == ' ') { line.pop_back(); }
  return line + "\n";
}

Json shared_json(const JobsRow& row) {
  return {{"scenario", row.scenario},      {"case", row.case_name},     {"collective", name(row.collective.kind)},
          {"ranks", row.collective.ranks}, {"bytes", row.size.count()}, {"type", name(row.type)},
          {"network", row.network}};
}

Json job_json(const JobsRow& row, std::size_t number) {
  const JobResult& job = row.run.jobs[number];
  Json json = {{"job", number},
               {"collective", name(row.collectives[number].kind)},
               {"bytes", payload_of(row, number).count()},
               {"algorithm", job.alone.algorithm},
               {"protocol", job.alone.protocol},
               {"channels", job.alone.channels},
               {"time_us", microseconds(job.time)},
               {"algbw_gbps", job_algorithm_bandwidth(row, number)},
               {"busbw_gbps", job_bus_bandwidth(row, number)},
               {"alone_time_us", microseconds(job.alone.time)},
               {"slowdown", job.slowdown},
               {"waited_us", microseconds(job.waited)},
               {"roots", job.roots},
               {"fell_back", job.alone.fell_back},
               {"bound_time_us", microseconds(job.alone.bound.time)},
               {"extrapolated", job.alone.extrapolated},
               {"notes", job.alone.notes}};
  if (job.slots) { json["slots"] = slots_json(*job.slots); }
  return json;
}

}  // namespace

std::string jobs_header_lines(const TableHeader& header) {
  return description_lines(header) +
         fmt::format("#{:>11} {:>12} {:>9} {:>5} {:>9} {:>7} {:>7} {:>9} {:>8}  {:<20} {:<8} {:>2}  {}\n", "size",
                     "count", "type", "job", "time", "algbw", "busbw", "alone", "slowdown", "algorithm", "protocol",
                     "ch", "note") +
         fmt::format("#{:>11} {:>12} {:>9} {:>5} {:>9} {:>7} {:>7} {:>9}\n", "(B)", "(elements)", "", "", "(us)",
                     "(GB/s)", "(GB/s)", "(us)");
}

std::string jobs_row_lines(const JobsRow& row) {
  std::string lines;
  for (std::size_t number = 0; number < row.run.jobs.size(); ++number) { lines += job_line(row, number); }
  return lines;
}

std::string jobs_footer_lines(const std::vector<JobsRow>& rows, bool interrupted) {
  std::string lines;
  std::set<std::string> said;
  bool extrapolated = false;
  for (const JobsRow& row : rows) {
    for (const JobResult& job : row.run.jobs) {
      extrapolated |= job.alone.extrapolated;
      for (const std::string& note : job.alone.notes) {
        if (!note.starts_with("fell back") && said.insert(note).second) { lines += "# " + printable(note) + "\n"; }
      }
    }
  }
  if (extrapolated) { lines += "# * extrapolated: outside of what the profile was fitted on\n"; }
  return lines + (interrupted ? interruption_line() : "");
}

Json jobs_json(const JobsRow& row) {
  Json json = shared_json(row);
  json["time_us"] = microseconds(row.run.time);
  Json jobs = Json::array();
  for (std::size_t number = 0; number < row.run.jobs.size(); ++number) { jobs.push_back(job_json(row, number)); }
  json["jobs"] = jobs;
  return json;
}

std::vector<Json> jobs_records(const JobsRow& row) {
  std::vector<Json> records;
  for (std::size_t number = 0; number < row.run.jobs.size(); ++number) {
    records.push_back(shared_json(row));
    records.back().update(job_json(row, number));
  }
  return records;
}

}  // namespace athanor
