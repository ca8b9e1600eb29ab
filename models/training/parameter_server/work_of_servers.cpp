#include "models/training/parameter_server/work_of_servers.hpp"

#include <algorithm>
#include <vector>

#include "topologies/cluster.hpp"

namespace athanor {

WorkCount work_of(const ParameterServerSetup& setup, const Cluster& cluster, const NetworkOptions& options) {
  const auto workers = static_cast<double>(setup.workers.size());
  const auto shards = static_cast<double>(setup.shards.size());
  const auto copies = static_cast<double>(setup.shards.front().size());
  std::vector<LinkId> path;
  const std::uint32_t last = setup.workers.back();
  if (last != setup.shards.front().front()) {
    cluster.router->route({cluster.endpoints[last], cluster.endpoints[setup.shards.front().front()]}, path);
  }
  // Each worker gets a part of the parameters and sends its gradients to every shard, which tells its copies.
  const double steps = setup.warm_up + setup.steps;
  const double changes = setup.update == ParameterServerSetup::Update::synchronous ? 1 : workers;
  const double exchanges = steps * workers * shards;
  const double told = steps * changes * shards * 2 * (copies - 1);
  WorkCount work;
  work[Work::run] = 1;
  work[Work::link] = cluster.fabric->links();
  work[Work::message] = 2 * exchanges + told;
  work.bytes = workers * shards * 500;
  const auto flows = std::min(workers * shards, workers * 2);  // that end and begin beside each other
  if (options.level == NetworkLevel::flow) { work[Work::reshared] = work[Work::message] * flows * 0.1; }
  if (options.level != NetworkLevel::packet) { return work; }
  const auto payload = static_cast<double>(options.packet.transport.payload.count());
  const double shard = static_cast<double>(setup.parameters.count()) / shards;
  const double of_exchange = std::max(1.0, shard / payload) * (1 + to_double(setup.gradient));
  const double of_change = std::max(1.0, shard * to_double(setup.gradient) / payload) * (copies - 1);
  const double packets = exchanges * of_exchange + steps * changes * shards * of_change;
  const double ports = std::min(static_cast<double>(cluster.fabric->links()), 4 * (workers + shards * copies));
  add_hops(packets * static_cast<double>(path.size()) * (1 + 1.0 / options.packet.transport.acknowledge_every),
           ports * kPortBytes, work);
  work.bytes += ports * kPortBytes;
  return work;
}

}  // namespace athanor
