#include "models/experiments/scenario/workload_io.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "models/jobs/mig.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

double rate_of(const std::optional<Bandwidth>& rate) { return rate ? static_cast<double>(rate->count()) : kUnlimited; }
double bytes_of(Bytes bytes) { return static_cast<double>(bytes.count()); }

double gpus_of(const WorkloadJobKind& job) {
  if (job.gpus) { return *job.gpus; }
  double gpus = 0;
  for (const WorkloadTasks& tasks : job.tasks) {
    const double each = tasks.slice > 0   ? mig_slice(tasks.slice).gpu_milli() / 1000.0
                        : tasks.gpu_milli ? *tasks.gpu_milli / 1000.0
                                          : tasks.gpus;
    gpus += tasks.count * each;
  }
  return gpus;
}

/// The index of a name; none: a problem that lists the names there are.
template <class Named>
std::optional<std::uint32_t> find(const std::vector<Named>& all, const std::string& name, const char* what,
                                  const SourceLocation& place, Problems& problems) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) { return i; }
    names.push_back(all[i].name);
  }
  problems.add({"unknown-name", fmt::format("there is no {} '{}'", what, name), place,
                names.empty() ? fmt::format("the workload has none") : "it has " + enumeration(names)});
  return {};
}

template <class Named>
void check_names(const std::vector<Named>& all, const char* what, Problems& problems) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (all[i].name != all[j].name) { continue; }
      problems.add({"duplicate", fmt::format("two {}s are called '{}'", what, all[i].name), all[i].place,
                    "give one another name"});
    }
  }
}

class RulesMaker {
 public:
  RulesMaker(const WorkloadConfig& workload, const Cluster& cluster, NodeList& nodes, Problems& problems)
      : workload_(workload), cluster_(cluster), nodes_(nodes), problems_(problems) {}

  std::shared_ptr<const DataRules> make() {
    const std::size_t before = problems_.size();
    check_names(workload_.storages, "storage", problems_);
    check_names(workload_.caches, "cache", problems_);
    check_names(workload_.data_sets, "data set", problems_);
    for (const WorkloadStorage& storage : workload_.storages) { add(storage); }
    for (const WorkloadDataSet& data_set : workload_.data_sets) { add(data_set); }
    for (const WorkloadCache& cache : workload_.caches) { add(cache); }
    add_checkpoints();
    rules_.io.push_back({.checkpoint_bytes = bytes_of(workload_.rules.checkpoints.bytes.value_or(Bytes{}))});
    for (const WorkloadJob& job : workload_.written) { add(job); }
    if (workload_.arrivals) {
      for (const auto& each : workload_.arrivals->classes) { add(each); }
    }
    if (problems_.size() == before) { check_use(); }
    if (problems_.size() > before || (workload_.data_sets.empty() && !rules_.checkpoint_storage)) { return nullptr; }
    return std::make_shared<const DataRules>(std::move(rules_));
  }

 private:
  void refuse(const char* code, const std::string& message, const SourceLocation& place, const std::string& hint) {
    problems_.add({code, message, place, hint});
  }

  void add(const WorkloadStorage& storage) {
    Storage made;
    made.name = storage.name;
    made.on_nodes = storage.kind == WorkloadStorage::Kind::nvme;
    made.read = rate_of(storage.read) * storage.servers;
    made.write = rate_of(storage.write) * storage.servers;
    made.node_read = rate_of(storage.node_read);
    made.node_write = rate_of(storage.node_write);
    if (storage.operations) { made.operations = static_cast<double>(*storage.operations); }
    made.first_byte = seconds(storage.first_byte);
    made.stream = rate_of(storage.stream);
    made.streams = storage.streams;
    if (!storage.nodes.empty()) { made.paths = paths_of(storage); }
    made.beside_ranks = made.paths && network_of(storage) == cluster_.network;
    rules_.storages.push_back(std::move(made));
  }

  std::optional<std::uint8_t> network_of(const WorkloadStorage& storage) {
    if (!storage.fabric) { return cluster_.network; }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cluster_.networks.size(); ++i) {
      if (cluster_.networks[i].name == *storage.fabric) { return static_cast<std::uint8_t>(i + 1); }
      names.push_back(cluster_.networks[i].name);
    }
    refuse("unknown-name", fmt::format("the cluster has no fabric '{}'", *storage.fabric), storage.place,
           names.empty() ? "it has one without a name; leave out \"fabric\"" : "it has " + enumeration(names));
    return {};
  }

  std::shared_ptr<const StoragePaths> paths_of(const WorkloadStorage& storage) {
    const std::size_t before = problems_.size();
    std::vector<NodeId> servers;
    for (const std::uint32_t node : storage.nodes) {
      if (node >= nodes_.count()) {
        refuse("out-of-range", fmt::format("the cluster has no node {} that could serve '{}'", node, storage.name),
               storage.place, fmt::format("it has nodes 0 to {}", nodes_.count() - 1));
      } else if (std::find(servers.begin(), servers.end(), NodeId{node}) != servers.end()) {
        refuse("duplicate", fmt::format("node {} is named twice by '{}'", node, storage.name), storage.place,
               "name it once");
      } else {
        servers.push_back(NodeId{node});
      }
    }
    const auto network = network_of(storage);
    if (problems_.size() > before) { return nullptr; }
    auto paths = std::make_shared<const StoragePaths>(cluster_, servers, network);
    if (const auto node = paths->cut_off()) {
      refuse("no-route",
             fmt::format("no link joins node {} and the storage '{}'{}", node->value, storage.name,
                         storage.fabric ? fmt::format(" on the fabric '{}'", *storage.fabric) : ""),
             storage.place, "put it on nodes that all others reach, or on another \"fabric\"");
    }
    for (const NodeId server : servers) { nodes_.nodes[server].gpus = 0; }
    return paths;
  }

  void add(const WorkloadDataSet& data_set) {
    DataSet made;
    made.name = data_set.name;
    made.bytes = bytes_of(data_set.size);
    made.items = static_cast<double>(data_set.items);
    made.items_per_file = data_set.items_per_file;
    made.order = data_set.order == WorkloadDataSet::Order::shuffled  ? ReadOrder::shuffled
                 : data_set.order == WorkloadDataSet::Order::sharded ? ReadOrder::sharded
                                                                     : ReadOrder::sequential;
    const auto storage = find(workload_.storages, data_set.storage, "storage", data_set.place, problems_);
    made.storage = storage.value_or(0);
    if (storage && limits_nothing(*storage, true)) {
      refuse("missing-key", fmt::format("nothing limits how fast '{}' is read", data_set.storage), data_set.place,
             "say its rate, \"read\", or the \"nodes\" that serve it");
    }
    for (const std::string& name : data_set.caches) {
      if (const auto cache = find(workload_.caches, name, "cache", data_set.place, problems_)) {
        made.caches.push_back(*cache);
      }
    }
    rules_.data_sets.push_back(std::move(made));
  }

  bool limits_nothing(std::uint32_t storage, bool reading) const {
    const Storage& s = rules_.storages[storage];
    const bool limited = (reading ? s.read : s.write) < kUnlimited || s.paths ||
                         (reading ? s.node_read : s.node_write) < kUnlimited || s.stream < kUnlimited ||
                         (reading && s.operations < kUnlimited);
    return !limited && workload_.storages[storage].nodes.empty();
  }

  void add(const WorkloadCache& cache) {
    using Kind = WorkloadCache::Kind;
    DataCache made;
    made.name = cache.name;
    made.shared = cache.kind == Kind::distributed;
    made.eviction = cache.kind == Kind::page_cache ? Eviction::random
                    : cache.kind == Kind::minio    ? Eviction::none
                                                   : Eviction::least_recent;
    made.capacity = bytes_of(cache.capacity);
    made.node_rate = rate_of(cache.rate);
    made.loaded = cache.loaded;
    if (made.shared) { put_tiers(cache, made); }
    rules_.caches.push_back(std::move(made));
  }

  /// All tiers of all replicas, filled from the fastest on with what data sets there are.
  void put_tiers(const WorkloadCache& cache, DataCache& made) const {
    double wanted = 0;
    for (const WorkloadDataSet& data_set : workload_.data_sets) {
      const bool here = std::find(data_set.caches.begin(), data_set.caches.end(), cache.name) != data_set.caches.end();
      if (here) { wanted += bytes_of(data_set.size); }
    }
    made.capacity = 0;
    double took = 0;
    double filled = 0;
    for (const WorkloadTier& tier : cache.tiers) {
      const double room = bytes_of(tier.quota) * cache.replicas;
      const double here = std::min(room, wanted - filled);
      made.capacity += room;
      filled += here;
      took += here / (rate_of(tier.rate) * cache.replicas);
    }
    if (took > 0) { made.rate = filled / took; }
  }

  void add_checkpoints() {
    const CheckpointRules& saves = workload_.rules.checkpoints;
    if (saves.storage.empty()) { return; }
    rules_.checkpoint_storage = find(workload_.storages, saves.storage, "storage", workload_.place, problems_);
    if (rules_.checkpoint_storage && limits_nothing(*rules_.checkpoint_storage, false)) {
      refuse("missing-key", fmt::format("nothing limits how fast '{}' is written", saves.storage), workload_.place,
             "say its rate, \"write\", or the \"nodes\" that serve it");
    }
    const auto lacks = [&](const WorkloadJobKind& job) { return !job.parameters && !saves.bytes; };
    bool lacking = workload_.log && !saves.bytes;
    for (const WorkloadJob& job : workload_.written) { lacking = lacking || lacks(job); }
    if (workload_.arrivals) {
      for (const auto& each : workload_.arrivals->classes) { lacking = lacking || lacks(each); }
    }
    if (!lacking) { return; }
    refuse("missing-key", "a job does not say how large its checkpoints are", workload_.place,
           R"(give jobs "parameters", or "checkpoints" their "bytes")");
  }

  void add(const WorkloadJobKind& job) {
    const CheckpointRules& saves = workload_.rules.checkpoints;
    JobIo io = rules_.io.front();
    if (job.parameters) { io.checkpoint_bytes = to_double(*job.parameters) * to_double(saves.bytes_per_parameter); }
    if (job.parameters && saves.storage.empty()) {
      refuse("conflict", "a job has \"parameters\", and no checkpoints are written to a storage", workload_.place,
             R"(write "storage" of "checkpoints", or leave out "parameters")");
    }
    if (job.data) {
      io.data_set = find(workload_.data_sets, job.data->set, "data set", job.data->place, problems_);
      io.epochs = job.data->epochs;
      io.cpu_seconds = job.data->cpu ? seconds(*job.data->cpu) : 0;
      io.cores_per_gpu = job.data->cores_per_gpu;
    }
    rules_.io.push_back(io);
  }

  /// What has no effect is not meant.
  void check_use() {
    std::vector<bool> storages(workload_.storages.size());
    std::vector<bool> caches(workload_.caches.size());
    std::vector<bool> data_sets(workload_.data_sets.size());
    if (rules_.checkpoint_storage) { storages[*rules_.checkpoint_storage] = true; }
    for (const JobIo& io : rules_.io) {
      if (io.data_set) { data_sets[*io.data_set] = true; }
    }
    for (const DataSet& data_set : rules_.data_sets) {
      if (data_set.storage < storages.size()) { storages[data_set.storage] = true; }
      for (const std::uint32_t cache : data_set.caches) { caches[cache] = true; }
    }
    refuse_unused(workload_.storages, storages, "storage", "data set or checkpoint");
    refuse_unused(workload_.caches, caches, "cache", "data set");
    refuse_unused(workload_.data_sets, data_sets, "data set", "job");
  }

  template <class Named>
  void refuse_unused(const std::vector<Named>& all, const std::vector<bool>& used, const char* what,
                     const char* by_what) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (used[i]) { continue; }
      refuse("without-effect", fmt::format("no {} uses the {} '{}'", by_what, what, all[i].name), all[i].place,
             "leave it out");
    }
  }

  const WorkloadConfig& workload_;
  const Cluster& cluster_;
  NodeList& nodes_;
  Problems& problems_;
  DataRules rules_;
};

}  // namespace

void put_durations(WorkloadConfig& workload, Problems& problems) {
  for (WorkloadJob& job : workload.written) {
    if (!job.data || !job.data->step) { continue; }
    const auto set = find(workload.data_sets, job.data->set, "data set", job.data->place, problems);
    if (!set) { continue; }
    const double items = static_cast<double>(workload.data_sets[*set].items) * job.data->epochs;
    const double gpus = gpus_of(job);
    const double span = gpus > 0 ? items / (gpus * *job.data->batch) * seconds(*job.data->step) : 0;
    if (span <= 0 || span > 1e12) {
      problems.add({"out-of-range", fmt::format("a job of {} items on {} GPUs lasts {} s", items, gpus, span),
                    job.data->place, "change \"step\", \"batch\" or \"epochs\""});
      continue;
    }
    job.duration = WallTime{std::max<std::int64_t>(1, std::llround(span * 1e6))};
  }
}

std::shared_ptr<const DataRules> data_rules_of(const WorkloadConfig& workload, const Cluster& cluster, NodeList& nodes,
                                               Problems& problems) {
  return RulesMaker(workload, cluster, nodes, problems).make();
}

}  // namespace athanor
