#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/fields.hpp"
#include "sim/units.hpp"

namespace athanor {

// Where data of a workload's jobs is, as a scenario writes it.

struct WorkloadStorage {
  enum class Kind : std::uint8_t { file_system, object_store, nvme };
  std::string name;
  Kind kind = Kind::file_system;
  std::uint32_t servers = 1;
  std::optional<Bandwidth> read;  ///< of each server, of an object store in all, of nvme of each node
  std::optional<Bandwidth> write;
  std::optional<Bandwidth> node_read;  ///< of one client
  std::optional<Bandwidth> node_write;
  std::optional<std::uint64_t> operations;  ///< files opened per second, of all servers
  std::optional<Bandwidth> stream;
  std::uint32_t streams = 1;
  Time first_byte;
  std::vector<std::uint32_t> nodes;  ///< of the cluster, that are its servers
  std::optional<std::string> fabric;
  SourceLocation place;
};
void visit(Fields& fields, WorkloadStorage& storage);

struct WorkloadTier {
  Bytes quota;
  std::optional<Bandwidth> rate;
};

struct WorkloadCache {
  enum class Kind : std::uint8_t { page_cache, lru, minio, distributed };
  std::string name;
  Kind kind = Kind::page_cache;
  Bytes capacity;                 ///< of each node
  std::optional<Bandwidth> rate;  ///< to one node
  std::uint32_t replicas = 1;
  std::vector<WorkloadTier> tiers;  ///< of each replica
  bool loaded = false;
  SourceLocation place;
};
void visit(Fields& fields, WorkloadCache& cache);

struct WorkloadDataSet {
  enum class Order : std::uint8_t { shuffled, sharded, sequential };
  std::string name;
  std::string storage;
  Bytes size;
  std::uint64_t items = 1;
  std::uint32_t items_per_file = 1;
  Order order = Order::shuffled;
  std::vector<std::string> caches;
  SourceLocation place;
};
void visit(Fields& fields, WorkloadDataSet& data_set);

/// What a job reads.
struct WorkloadJobData {
  std::string set;
  std::uint32_t epochs = 1;
  std::optional<std::uint32_t> batch;  ///< items of one GPU in each step
  std::optional<Time> step;
  std::optional<Time> cpu;
  std::uint32_t cores_per_gpu = 1;
  SourceLocation place;
};
void visit(Fields& fields, WorkloadJobData& data);

}  // namespace athanor
