#include "models/experiments/shared_cluster_picture.hpp"

#include <algorithm>
#include <map>

#include "models/experiments/fabric_load.hpp"
#include "models/experiments/shared_cluster_record.hpp"
#include "models/jobs/gpu_hours.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kSpans = 240;  // of time, that loads of links are averaged over

JsonValue time_json(WallTime time) { return time == WallTime::max() ? JsonValue() : JsonValue(seconds(time)); }

JsonValue jobs_json(const JobsRun& run, const JobList& jobs) {
  JsonValue columns = JsonValue::object();
  for (const char* key : {"name", "user", "queue", "gpus", "state", "submitted", "started", "ended", "duration"}) {
    columns[key] = JsonValue::list();
  }
  for (const JobId id : jobs.jobs.ids()) {
    const Job& job = jobs.jobs[id];
    const JobOutcome& outcome = run.outcomes[id];
    columns["name"].push_back(jobs.title(id));
    columns["user"].push_back(jobs.name(job.user));
    columns["queue"].push_back(jobs.name(job.queue));
    columns["gpus"].push_back(static_cast<double>(gpu_milli_of(jobs.shape(id))) / Inventory::kWhole);
    columns["state"].push_back(text_of(outcome.state));
    columns["submitted"].push_back(seconds(job.submitted));
    columns["started"].push_back(time_json(outcome.started));
    columns["ended"].push_back(time_json(outcome.ended));
    columns["duration"].push_back(seconds(job.duration));
  }
  return columns;
}

/// Runs of nodes with equally many GPUs, shares of them in part: [first, last, GPUs on each].
JsonValue places_json(const Allocation& where, const Shape& shape) {
  std::map<NodeId, std::uint64_t> milli;
  for (const NodeShare& share : where) { milli[share.node] += gpu_milli_of({share}, shape); }
  JsonValue places = JsonValue::list();
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint64_t each = 0;
  const auto put = [&] {
    if (each == 0) { return; }
    JsonValue place = JsonValue::list();
    place.push_back(first);
    place.push_back(last);
    if (each % Inventory::kWhole == 0) {
      place.push_back(each / Inventory::kWhole);
    } else {
      place.push_back(static_cast<double>(each) / Inventory::kWhole);
    }
    places.push_back(std::move(place));
  };
  for (const auto& [node, here] : milli) {
    if (here == each && node.value == last + 1) {
      last = node.value;
      continue;
    }
    put();
    first = last = node.value;
    each = here;
  }
  put();
  return places;
}

JsonValue stints_json(const JobsRun& run, const JobList& jobs) {
  JsonValue stints = JsonValue::list();
  for (const JobStint& stint : run.stints) {
    JsonValue row = JsonValue::list();
    row.push_back(stint.job.value);
    row.push_back(seconds(stint.since));
    row.push_back(seconds(stint.until));
    row.push_back(places_json(stint.where, jobs.shape(stint.job)));
    stints.push_back(std::move(row));
  }
  return stints;
}

JsonValue outages_json(const JobsRun& run) {
  JsonValue outages = JsonValue::list();
  for (const Outage& outage : run.outages) {
    JsonValue row = JsonValue::list();
    row.push_back(outage.node.value);
    row.push_back(seconds(outage.since));
    row.push_back(seconds(std::min(outage.until, run.ended)));
    row.push_back(run.failures[outage.source].name);
    outages.push_back(std::move(row));
  }
  return outages;
}

/// Of all GPUs, in the order in which pictures stack them; and what each source of failures cost.
void put_hours(const JobsRun& run, const JobList& jobs, const NodeList& nodes, JsonValue& json) {
  const GpuHours hours = gpu_hours_of(run, jobs, nodes);
  json["gpu_hours"] = {{"work", hours.useful},
                       {"checkpoints", hours.writing},
                       {"work lost", hours.lost},
                       {"failed, not yet seen", hours.detecting},
                       {"without lost tasks", hours.incomplete},
                       {"starting", hours.starting},
                       {"down", hours.down},
                       {"idle", hours.idle}};
  constexpr double kHour = 3600;
  json["lost"] = JsonValue::object();
  for (const FailureAccount& account : run.failures) { json["lost"][account.name] = account.lost_gpu_seconds / kHour; }
}

/// Of nodes below one switch, or of all nodes.
void put_domains(const JobsRun& run, const JobList& jobs, const NodeList& nodes, JsonValue& json) {
  const IdVector<NodeId, NodeHours> by_node = hours_by_node(run, jobs, nodes);
  const NodeTier* tier = nodes.tiers.empty() ? nullptr : &nodes.tiers.front();
  std::vector<NodeHours> sums(tier == nullptr ? 1 : tier->count);
  JsonValue domains = JsonValue::list();
  JsonValue gpus = JsonValue::list();
  for (const NodeId node : nodes.nodes.ids()) {
    const std::uint32_t domain = tier == nullptr ? 0 : tier->domains[node];
    sums[domain].used += by_node[node].used;
    sums[domain].down += by_node[node].down;
    sums[domain].idle += by_node[node].idle;
    domains.push_back(domain);
    gpus.push_back(nodes.nodes[node].gpus);
  }
  JsonValue hours = JsonValue::list();
  for (const NodeHours& sum : sums) { hours.push_back(std::vector<double>{sum.used, sum.down, sum.idle}); }
  json["nodes"] = {{"gpus", gpus}, {"domains", domains}};
  json["tier"] = tier == nullptr ? "cluster" : tier->name;
  json["domain_hours"] = hours;
}

void put_stuck_jobs(const JobsRun& run, const JobList& jobs, JsonValue& json) {
  json["stuck"] = JsonValue::list();
  for (const StuckJob& each : run.stuck) { json["stuck"].push_back(jobs.title(each.job) + " " + each.reason); }
}

}  // namespace

JsonValue picture_json(const JobsRun& run, const JobList& jobs, const NodeList& nodes) {
  JsonValue json = {{"ended", seconds(run.ended)},
                    {"jobs", jobs_json(run, jobs)},
                    {"stints", stints_json(run, jobs)},
                    {"outages", outages_json(run)}};
  put_hours(run, jobs, nodes, json);
  put_domains(run, jobs, nodes, json);
  put_stuck_jobs(run, jobs, json);
  return json;
}

void put_data_picture(const DataOutcome& data, const JobList& jobs, const DataRules& rules, JsonValue& json) {
  JsonValue rows = JsonValue::list();
  for (const JobId job : jobs.jobs.ids()) {
    const DataAccount& account = data.jobs[job];
    if (account.read <= 0 || account.working <= 0) { continue; }
    rows.push_back({{"job", job.value},
                    {"fetching", account.waiting_fetch / account.working},
                    {"preparing", account.waiting_cpu / account.working},
                    {"working", account.working},
                    {"read", account.read},
                    {"hits", account.hit_share()}});
  }
  json["data"] = rows;
  json["storages"] = JsonValue::list();
  for (std::size_t i = 0; i < rules.storages.size(); ++i) {
    const StorageAccount& account = data.storages[i];
    json["storages"].push_back({{"name", rules.storages[i].name},
                                {"read", account.read},
                                {"written", account.written},
                                {"busiest_read", account.busiest_read},
                                {"busiest_write", account.busiest_write}});
  }
}

void put_trainings_picture(const JobsRun& run, const JobList& jobs, const Fabric& fabric, TrainingSpeeds& trainings,
                           JsonValue& json) {
  JsonValue rows = JsonValue::list();
  for (const auto& [job, pace] : trainings.paces()) {
    if (pace.best <= 0 || pace.alone <= 0) { continue; }
    rows.push_back({{"job", job.value},
                    {"best", pace.best},
                    {"placement", pace.alone / pace.best},
                    {"others", pace.time / pace.alone}});
  }
  json["trainings"] = rows;
  const FabricLoad load = fabric_load(run, jobs, fabric, trainings, kSpans);
  JsonValue switches = JsonValue::list();
  for (const FabricLoad::OfSwitch& each : load.switches) {
    JsonValue row = {{"name", each.name}, {"links", each.links}, {"busy", each.busy}, {"busiest", each.busiest}};
    row["shared"] = std::vector<double>(each.shared.begin(), each.shared.end());
    switches.push_back(std::move(row));
  }
  json["links"] = {{"width", load.width}, {"switches", switches}};
}

}  // namespace athanor
