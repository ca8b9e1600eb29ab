#include "models/experiments/shared_cluster_data.hpp"

#include <fmt/core.h>

#include "models/experiments/shared_cluster_columns.hpp"

namespace athanor {

namespace {

constexpr double kGiga = 1e9;
constexpr std::size_t kJobsNamed = 10;

double stall_of(const DataAccount& account) {
  return account.working > 0 ? (account.waiting_fetch + account.waiting_cpu) / account.working : 0;
}

void put_storages(const DataOutcome& data, const DataRules& rules, Record& record) {
  JsonValue read = JsonValue::object();
  JsonValue written = JsonValue::object();
  JsonValue busiest_read = JsonValue::object();
  JsonValue busiest_write = JsonValue::object();
  for (std::size_t i = 0; i < rules.storages.size(); ++i) {
    const std::string& name = rules.storages[i].name;
    const StorageAccount& account = data.storages[i];
    read[name] = account.read / kGiga;
    written[name] = account.written / kGiga;
    busiest_read[name] = account.busiest_read / kGiga;
    busiest_write[name] = account.busiest_write / kGiga;
    std::string text;
    if (account.busiest_read > 0) {
      text = fmt::format("{:.1f} GB read, at most {:.2f} GB/s", account.read / kGiga, account.busiest_read / kGiga);
    }
    if (account.busiest_write > 0) {
      text += fmt::format("{}{:.1f} GB of checkpoints written, at most {:.2f} GB/s", text.empty() ? "" : "; ",
                          account.written / kGiga, account.busiest_write / kGiga);
    }
    record.remarks.push_back(fmt::format("{}: {}", name, text.empty() ? "nothing read or written" : text));
  }
  record.put(kStorageRead, read);
  record.put(kStorageWritten, written);
  record.put(kStorageBusiestRead, busiest_read);
  record.put(kStorageBusiestWrite, busiest_write);
}

}  // namespace

void put_data(const DataOutcome& data, const JobList& jobs, const DataRules& rules, Record& record) {
  DataAccount all;
  std::size_t named = 0;
  for (const JobId job : jobs.jobs.ids()) {
    const DataAccount& account = data.jobs[job];
    if (account.read <= 0) { continue; }
    const double gpus = static_cast<double>(gpu_milli_of(jobs.shape(job)));
    all.read += account.read;
    all.from_storage += account.from_storage;
    all.working += gpus * account.working;
    all.waiting_fetch += gpus * account.waiting_fetch;
    all.waiting_cpu += gpus * account.waiting_cpu;
    if (++named > kJobsNamed) { continue; }
    record.remarks.push_back(
        fmt::format("{}: waits {:.1f} % of its time for data; {:.1f} % of it from caches; first epoch {:.1f} s",
                    jobs.title(job), 100 * stall_of(account), 100 * account.hit_share(), account.first_epoch));
  }
  if (all.read > 0) {
    record.put(kStall, stall_of(all));
    record.put(kStallCpu, all.waiting_cpu / all.working);
    record.put(kHits, all.hit_share());
  }
  put_storages(data, rules, record);
}

std::string data_names() { return ",stall,hits,storage_gb,first_epoch_s"; }

std::string data_fields(const DataOutcome* data, JobId job) {
  if (data == nullptr || data->jobs[job].read <= 0) { return ",,,,"; }
  const DataAccount& account = data->jobs[job];
  return fmt::format(",{:.6f},{:.6f},{:.6f},{:.6f}", stall_of(account), account.hit_share(),
                     account.from_storage / kGiga, account.first_epoch);
}

}  // namespace athanor
