#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/library/library.hpp"
#include "sim/config/fields.hpp"
#include "topologies/fabric/router.hpp"
#include "topologies/generators/overrides.hpp"
#include "topologies/scenario/cluster_config.hpp"

namespace athanor {

struct Cluster;

struct Presets;

/// Builds the clusters of scenarios, each only once: cases often differ in something else.
class ClusterCache {
 public:
  /// Presets are read when the first cluster is built. `scalings`: of the links of every cluster.
  explicit ClusterCache(const Library& library, std::vector<LinkScaling> scalings = {})
      : library_(library), scalings_(std::move(scalings)) {}

  struct Request {
    std::string json;  ///< of the "cluster" that was read: equal ones are the same cluster
    ClusterConfig config;
    std::optional<Routing> routing;
    std::optional<bool> pxn;
    std::string fabric;  ///< of several the one that ranks use; "": chosen
    SourceLocation routing_place;
    SourceLocation fabric_place;
    std::uint64_t seed = 1;
  };
  /// Null, with problems, where it cannot be built. Throws FileError and ScenarioError for the presets' own files.
  std::shared_ptr<const Cluster> build(const Request& request, Problems& problems);
  /// Keeps no cluster where it has more than `most`: a scenario with others comes.
  void tidy(std::size_t most);

 private:
  const Library& library_;
  std::vector<LinkScaling> scalings_;
  std::shared_ptr<const Presets> presets_;
  std::map<std::string, std::shared_ptr<const Cluster>> built_;
};

/// A preset as lists show it.
struct PresetSummary {
  std::string kind;  ///< "node", "gpu", "nic", "switch", "link"
  std::string name;
  std::string summary;
};
std::vector<PresetSummary> preset_summaries(const Library& library);

/// One node of this preset; null where no node has this name.
std::shared_ptr<const Cluster> preset_cluster(const std::string& name, const Library& library);

}  // namespace athanor
