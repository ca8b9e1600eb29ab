#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/training/parameter_server/parameter_server.hpp"
#include "sim/config/fields.hpp"

namespace athanor {

struct Cluster;

/// The "parameter_server" of a scenario: who trains how, and where the parameters are.
struct ParameterServerConfig {
  enum class Placement : std::uint8_t {
    apart,         ///< servers on the first endpoints, workers on those that follow
    with_workers,  ///< servers beside workers, evenly spread among them
  };
  std::vector<Bytes> sizes;                ///< of the parameters
  std::optional<std::uint32_t> shards;     ///< or ...
  std::vector<std::uint32_t> servers;      ///< ... endpoints: the copies of the first shard, then of the next one
  Placement placement = Placement::apart;  ///< of `shards`
  std::uint32_t copies = 1;                ///< of each shard
  std::optional<std::uint32_t> workers;    ///< absent: all endpoints that may be
  ParameterServerSetup setup;              ///< without workers, shards and parameters until it is resolved
  std::map<std::string, SourceLocation, std::less<>> places;  ///< of keys, "" for the whole
};

void visit(Fields& fields, ParameterServerConfig& config);

/// Finds the endpoints of workers and servers, and adds what does not fit the cluster to `problems`.
void resolve(ParameterServerConfig& config, const Cluster& cluster, Problems& problems);

/// "8 workers, 2 servers with 3 copies each, stale with bound 4".
std::string describe(const ParameterServerSetup& setup);

class ExperimentReader;
std::unique_ptr<ExperimentReader> parameter_server_reader();

}  // namespace athanor
