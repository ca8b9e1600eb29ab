#include "models/experiments/scenario/workload_data.hpp"

namespace athanor {

namespace {

constexpr Bandwidth kLeastRate{1};

void visit_servers(Fields& fields, WorkloadStorage& storage) {
  fields.optional("nodes", storage.nodes,
                  "Nodes of the cluster, counted from 0, that are its servers and run no jobs: its data crosses links");
  fields.optional("fabric", storage.fabric, "Of several fabrics the one that carries it; absent: the one of ranks");
  if (storage.fabric && storage.nodes.empty()) {
    fields.problem("fabric", "conflict", "a storage that is on no nodes uses no fabric", R"(write "nodes", too)");
  }
}

void visit_file_system(Fields& fields, WorkloadStorage& storage) {
  fields.optional("servers", storage.servers, "How many; of \"nodes\" as many as these", {1, 1'000'000});
  fields.optional("read", storage.read, "Of each server; absent: links alone limit it", {kLeastRate});
  fields.optional("write", storage.write, "Likewise", {kLeastRate});
  fields.optional("node_read", storage.node_read, "Of one client; absent: no limit", {kLeastRate});
  fields.optional("node_write", storage.node_write, "Likewise", {kLeastRate});
  fields.optional("operations", storage.operations, "Files opened per second, by all clients; absent: no limit", {1});
  visit_servers(fields, storage);
  if (!storage.nodes.empty() && fields.has("servers") && storage.servers != storage.nodes.size()) {
    fields.problem("servers", "conflict", "\"nodes\" are the servers", "leave out \"servers\"");
  }
  if (!storage.nodes.empty()) { storage.servers = static_cast<std::uint32_t>(storage.nodes.size()); }
}

void visit_object_store(Fields& fields, WorkloadStorage& storage) {
  fields.required("stream", storage.stream, "Rate of one stream", {kLeastRate});
  fields.optional("streams", storage.streams, "That a node has at once", {1, 1'000'000});
  fields.optional("first_byte", storage.first_byte, "Until the first byte of an object comes");
  fields.optional("read", storage.read, "To all nodes; absent: no limit", {kLeastRate});
  fields.optional("write", storage.write, "Likewise", {kLeastRate});
  fields.optional("operations", storage.operations, "Objects per second, for all clients; absent: no limit", {1});
  visit_servers(fields, storage);
}

void visit_nvme(Fields& fields, WorkloadStorage& storage) {
  fields.required("read", storage.read, "Of each node", {kLeastRate});
  fields.optional("write", storage.write, "Likewise", {kLeastRate});
}

Fields::VisitObject of_kind(WorkloadStorage& storage, WorkloadStorage::Kind kind,
                            void (*visit)(Fields&, WorkloadStorage&)) {
  return [&storage, kind, visit](Fields& nested) {
    if (nested.reading()) { storage.kind = kind; }
    visit(nested, storage);
  };
}

void visit_tier(Fields& fields, WorkloadTier& tier) {
  fields.required("quota", tier.quota, "Of each replica", {Bytes{1}});
  fields.optional("rate", tier.rate, "Of each replica; absent: no limit", {kLeastRate});
}

Fields::VisitObject on_node(WorkloadCache& cache, WorkloadCache::Kind kind) {
  return [&cache, kind](Fields& nested) {
    if (nested.reading()) { cache.kind = kind; }
    nested.required("capacity", cache.capacity, "Of each node", {Bytes{1}});
    nested.optional("rate", cache.rate, "To its node; absent: no limit", {kLeastRate});
  };
}

Fields::VisitObject distributed(WorkloadCache& cache) {
  return [&cache](Fields& nested) {
    if (nested.reading()) { cache.kind = WorkloadCache::Kind::distributed; }
    nested.optional("replicas", cache.replicas, "Of its workers, which together hold each item once", {1, 1'000'000});
    nested.required_list("tiers", cache.tiers, "Of each replica, the fastest first", visit_tier);
    nested.optional("rate", cache.rate, "To one node, such as that of FUSE; absent: no limit", {kLeastRate});
    nested.optional("loaded", cache.loaded, "It has been filled before the first job, as by a DataLoad");
  };
}

}  // namespace

void visit(Fields& fields, WorkloadStorage& storage) {
  using Kind = WorkloadStorage::Kind;
  fields.required("name", storage.name, "As data sets and checkpoints call it");
  fields.choice("kind", "What it is",
                {{"file_system", "Servers that all nodes share", of_kind(storage, Kind::file_system, visit_file_system),
                  storage.kind == Kind::file_system},
                 {"object_store", "Objects that come by streams",
                  of_kind(storage, Kind::object_store, visit_object_store), storage.kind == Kind::object_store},
                 {"nvme", "Every node has its own, with a copy of what it reads",
                  of_kind(storage, Kind::nvme, visit_nvme), storage.kind == Kind::nvme}},
                "file_system");
  storage.place = fields.place();
}

void visit(Fields& fields, WorkloadCache& cache) {
  using Kind = WorkloadCache::Kind;
  fields.required("name", cache.name, "As data sets call it");
  fields.choice("kind", "What it is",
                {{"page_cache", "Of a node's kernel: what is new takes the place of anything",
                  on_node(cache, Kind::page_cache), cache.kind == Kind::page_cache},
                 {"lru", "Of a node: what is new takes the place of what was read longest ago",
                  on_node(cache, Kind::lru), cache.kind == Kind::lru},
                 {"minio", "Of a node: what came first stays", on_node(cache, Kind::minio), cache.kind == Kind::minio},
                 {"distributed", "Of all nodes, as Alluxio and JindoFS have it: least recently used",
                  distributed(cache), cache.kind == Kind::distributed}});
  cache.place = fields.place();
}

void visit(Fields& fields, WorkloadDataSet& data_set) {
  using Order = WorkloadDataSet::Order;
  fields.required("name", data_set.name, "As jobs call it");
  fields.required("storage", data_set.storage, "Where it is");
  fields.required("size", data_set.size, "Of all items", {Bytes{1}});
  fields.required("items", data_set.items, "How many", {1});
  fields.optional("items_per_file", data_set.items_per_file, "That one file or object has", {1});
  fields.optional("order", data_set.order, "In which a job's nodes read it",
                  {{"shuffled", Order::shuffled}, {"sharded", Order::sharded}, {"sequential", Order::sequential}});
  fields.optional("caches", data_set.caches, "On the way, the nearest first");
  data_set.place = fields.place();
  if (fields.ok() && data_set.items_per_file > data_set.items) {
    fields.problem("items_per_file", "out-of-range", "a file has no more items than there are", "make it smaller");
  }
}

void visit(Fields& fields, WorkloadJobData& data) {
  fields.required("set", data.set, "A name of \"data_sets\"");
  fields.optional("epochs", data.epochs, "How often the job reads all of it", {1, 1'000'000});
  fields.optional("batch", data.batch, "Items of one GPU in each step; with \"step\" in place of the job's duration",
                  {1});
  fields.optional("step", data.step, "Time of the GPUs for it", {Time{1}});
  fields.optional("cpu", data.cpu, "Of one core, to prepare an item; absent: nothing", {Time{1}});
  fields.optional("cores_per_gpu", data.cores_per_gpu, "That prepare items", {1, 10'000});
  data.place = fields.place();
  if (fields.ok() && data.batch.has_value() != data.step.has_value()) {
    fields.problem("", "conflict", "\"batch\" and \"step\" belong together", "write both or none");
  }
  if (fields.has("cores_per_gpu") && !data.cpu) {
    fields.problem("cores_per_gpu", "conflict", "cores prepare nothing without \"cpu\"", "say what an item takes");
  }
}

}  // namespace athanor
