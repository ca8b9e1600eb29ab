#include "models/serving/kv_network.hpp"

#include <utility>

#include "sim/random.hpp"
#include "topologies/cluster.hpp"

namespace athanor {

KvNetwork::KvNetwork(Simulator& simulator, const Cluster& cluster, const PoolPlaces& places,
                     std::vector<KvShare> shares, const NetworkOptions& options, std::uint64_t seed,
                     std::function<void(std::uint32_t)> arrived)
    : places_(places),
      shares_(std::move(shares)),
      arrived_(std::move(arrived)),
      connections_(connect(cluster, seed, options)),
      sent_(connections_.count()) {
  network_.emplace(simulator, connections_, *cluster.fabric, options, seed, *this);
}

FabricConnections KvNetwork::connect(const Cluster& cluster, std::uint64_t seed, const NetworkOptions& options) const {
  ConnectionBuilder builder(cluster, striped(options.pairs_of_connections(), cluster));
  const std::uint32_t decode_begins = places_.prefill * places_.prefill_tensor;
  std::uint64_t flow = 0;
  for (std::uint32_t p = 0; p < places_.prefill; ++p) {
    for (std::uint32_t d = 0; d < places_.decode; ++d) {
      for (const KvShare& share : shares_) {
        builder.add(cluster.endpoints[p * places_.prefill_tensor + share.from],
                    cluster.endpoints[decode_begins + d * places_.decode_tensor + share.to], join_hash(seed, flow++));
      }
    }
  }
  return builder.take();
}

void KvNetwork::send(std::uint32_t request, KvRoute route, std::uint64_t tokens) {
  const std::size_t first = (std::size_t{route.prefill} * places_.decode + route.decode) * shares_.size();
  missing_[request].messages += shares_.size();
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    const auto connection = static_cast<std::uint32_t>(first + i);
    const Bytes size{shares_[i].bytes * static_cast<std::int64_t>(tokens)};
    bytes_ += static_cast<std::uint64_t>(size.count());
    sent_[connection].push_back(request);
    network_->network().move(ConnectionId{connection}, size);
  }
}

void KvNetwork::close(std::uint32_t request) { missing_[request].closed = true; }

void KvNetwork::delivered(ConnectionId connection) {
  std::deque<std::uint32_t>& queue = sent_[connection.value];
  const std::uint32_t request = queue.front();
  queue.pop_front();
  Missing& missing = missing_[request];
  if (--missing.messages > 0 || !missing.closed) { return; }
  missing_.erase(request);
  arrived_(request);
}

}  // namespace athanor
