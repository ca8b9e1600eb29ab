#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/jobs/data/cache_laws.hpp"
#include "models/jobs/data/storage_paths.hpp"
#include "models/jobs/job.hpp"

namespace athanor {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// Where data sets and checkpoints are. Rates are in bytes per second.
struct Storage {
  std::string name;
  bool on_nodes = false;           ///< every node has its own, whose rates these are; else all share one
  double read = kUnlimited;        ///< of all servers
  double write = kUnlimited;       ///< the same
  double operations = kUnlimited;  ///< files opened each second, of all clients
  double node_read = kUnlimited;   ///< of one client
  double node_write = kUnlimited;  ///< the same
  double first_byte = 0;           ///< seconds, of each file
  double stream = kUnlimited;      ///< of one stream; a client reads and writes `streams` files at a time
  std::uint32_t streams = 1;
  std::shared_ptr<const StoragePaths> paths = {};  ///< over the fabric; none: links do not limit
  bool beside_ranks = false;                       ///< these are links that calls of trainings use, too

  /// Of one client, with files of so many bytes.
  double client_rate(double most, double file_bytes) const;
};

/// What keeps items that were read.
struct DataCache {
  std::string name;
  bool shared = false;  ///< one for all nodes; else each node has its own
  Eviction eviction = Eviction::random;
  double capacity = 0;            ///< bytes
  double node_rate = kUnlimited;  ///< bytes per second, to one node
  double rate = kUnlimited;       ///< the same, to all
  bool loaded = false;            ///< has been filled before the first job
};

struct DataSet {
  std::string name;
  std::uint32_t storage = 0;  ///< of DataRules::storages
  double bytes = 0;
  double items = 1;
  double items_per_file = 1;
  ReadOrder order = ReadOrder::shuffled;
  std::vector<std::uint32_t> caches = {};  ///< of DataRules::caches, the nearest first

  double file_bytes() const { return bytes / items * items_per_file; }
};

/// What a job reads and writes.
struct JobIo {
  std::optional<std::uint32_t> data_set = {};  ///< of DataRules::data_sets
  std::uint32_t epochs = 1;                    ///< that its duration comes to
  double cpu_seconds = 0;                      ///< of a core, to prepare an item
  double cores_per_gpu = 1;                    ///< that prepare items
  double checkpoint_bytes = 0;                 ///< of all its nodes together
};

struct DataRules {
  std::vector<Storage> storages;
  std::vector<DataCache> caches;
  std::vector<DataSet> data_sets;
  std::vector<JobIo> io;                            ///< by IoId; that of 0 is of jobs which say nothing
  std::optional<std::uint32_t> checkpoint_storage;  ///< of storages
};

/// What became of the data of a job.
struct DataAccount {
  double read = 0;           ///< bytes that its loaders read
  double from_storage = 0;   ///< of these
  double working = 0;        ///< seconds
  double waiting_fetch = 0;  ///< of these, for data
  double waiting_cpu = 0;    ///< and for data to be prepared
  double first_epoch = 0;    ///< seconds that it worked in its first epoch

  double hit_share() const { return read > 0 ? std::max(0.0, 1 - from_storage / read) : 0; }
};

struct StorageAccount {
  double read = 0;  ///< bytes
  double written = 0;
  double busiest_read = 0;  ///< bytes per second
  double busiest_write = 0;
};

}  // namespace athanor
