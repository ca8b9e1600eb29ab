#include "models/jobs/data/storage_load.hpp"

#include <algorithm>

namespace athanor {

double Storage::client_rate(double most, double file_bytes) const {
  const double of_a_file = first_byte + file_bytes / stream;
  return of_a_file > 0 ? std::min(most, streams * file_bytes / of_a_file) : most;
}

std::vector<NodePart> parts_of(const Allocation& where) {
  std::map<NodeId, double> gpus;
  double all = 0;
  for (const NodeShare& share : where) {
    const double here = share.gpus.count() > 0 ? share.gpus.count() : share.tasks;
    gpus[share.node] += here;
    all += here;
  }
  std::vector<NodePart> parts;
  for (const auto& [node, here] : gpus) { parts.push_back({node, here / all}); }
  return parts;
}

void StorageLoad::add(RateClaim& claim, What what, std::uint32_t first, std::uint32_t second, double each,
                      double capacity) {
  if (capacity == kUnlimited || each <= 0) { return; }
  const auto [at, fresh] = known_.try_emplace({what, first, second}, static_cast<std::uint32_t>(capacities_.size()));
  if (fresh) { capacities_.push_back(capacity); }
  for (auto& [resource, taken] : claim.takes) {
    if (resource != at->second) { continue; }
    taken += each;
    return;
  }
  claim.takes.emplace_back(at->second, each);
}

void StorageLoad::take(RateClaim& claim, std::uint32_t storage, NodeId node, double each, double file_bytes) {
  const Storage& from = rules_->storages[storage];
  const bool reads = direction_ == Direction::read;
  const double rate = reads ? from.read : from.write;
  if (from.on_nodes) { return add(claim, What::on_node, storage, node.value, each, rate); }
  add(claim, What::storage, storage, 0, each, rate);
  if (reads) { add(claim, What::operations, storage, 0, each / file_bytes, from.operations); }
  // Clients with streams have as many as they have; files of another size share them by time.
  const double client = from.client_rate(reads ? from.node_read : from.node_write, file_bytes);
  if (client != kUnlimited) { add(claim, What::client, storage, node.value, each / client, 1); }
  if (!from.paths) { return; }
  auto known = routes_->find({storage, node.value});
  if (known == routes_->end()) {
    known =
        routes_->emplace(std::pair{storage, node.value}, reads ? from.paths->reading(node) : from.paths->writing(node))
            .first;
  }
  for (const auto& [link, share] : known->second) {
    add(claim, What::link, link, 0, each * share, from.paths->rate(link));
  }
}

void StorageLoad::take_cached(RateClaim& claim, std::uint32_t cache, double each) {
  add(claim, What::cache, cache, 0, each, rules_->caches[cache].rate);
}

}  // namespace athanor
