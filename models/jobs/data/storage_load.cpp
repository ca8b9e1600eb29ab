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

std::uint32_t StorageLoad::resource(What what, std::uint32_t first, std::uint32_t second, double capacity) {
  const auto [at, fresh] = known_.try_emplace({what, first, second}, static_cast<std::uint32_t>(capacities_.size()));
  if (!fresh) { return at->second; }
  capacities_.push_back(capacity);
  wanted_.push_back(0);
  places_.push_back(0);
  return at->second;
}

void StorageLoad::add(RateClaim& claim, std::uint32_t resource, double each) {
  if (each <= 0) { return; }
  const std::uint32_t place = places_[resource];
  if (place < claim.takes.size() && claim.takes[place].first == resource) {
    claim.takes[place].second += each;
    return;
  }
  places_[resource] = static_cast<std::uint32_t>(claim.takes.size());
  claim.takes.emplace_back(resource, each);
}

void StorageLoad::add(RateClaim& claim, What what, std::uint32_t first, std::uint32_t second, double each,
                      double capacity) {
  if (capacity != kUnlimited) { add(claim, resource(what, first, second, capacity), each); }
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
  for (const auto& [link, share] : route(storage, node)) { add(claim, link, each * share); }
}

const StoragePaths::Shares& StorageLoad::route(std::uint32_t storage, NodeId node) {
  const auto [at, fresh] = routes_.try_emplace({storage, node});
  if (!fresh) { return at->second; }
  const StoragePaths& paths = *rules_->storages[storage].paths;
  at->second = direction_ == Direction::read ? paths.reading(node) : paths.writing(node);
  for (auto& [link, share] : at->second) {
    const std::uint32_t number = resource(What::link, link, 0, paths.rate(link));
    link_of_[number] = link;
    link = number;
  }
  return at->second;
}

void StorageLoad::take_cached(RateClaim& claim, std::uint32_t cache, double each) {
  add(claim, What::cache, cache, 0, each, rules_->caches[cache].rate);
}

double StorageLoad::alone(const RateClaim& claim) const {
  double rate = claim.most;
  for (const auto& [resource, each] : claim.takes) { rate = std::min(rate, capacities_[resource] / each); }
  return rate;
}

std::vector<std::pair<std::uint32_t, double>> StorageLoad::links(const RateClaim& claim, double rate) const {
  std::map<std::uint32_t, double> shares;
  for (const auto& [resource, each] : claim.takes) {
    const auto link = link_of_.find(resource);
    if (link != link_of_.end()) { shares[link->second] = std::min(1.0, each * rate / capacities_[resource]); }
  }
  return {shares.begin(), shares.end()};
}

bool StorageLoad::is_short(std::uint32_t resource) const {
  constexpr double kRounding = 1e-9;
  return wanted_[resource] > capacities_[resource] * (1 + kRounding);
}

void StorageLoad::count(const RateClaim& claim, double times) {
  for (const auto& [resource, each] : claim.takes) {
    const bool was_short = is_short(resource);
    wanted_[resource] += times * each * claim.most;
    if (is_short(resource) && !was_short) { ++short_; }
    if (was_short && !is_short(resource)) { --short_; }
  }
}

std::vector<double> StorageLoad::share(const std::vector<const RateClaim*>& claims) const {
  std::vector<double> rates;
  if (short_ == 0) {
    for (const RateClaim* claim : claims) { rates.push_back(claim->most); }
    return rates;
  }
  // What there is enough of limits nobody.
  std::vector<RateClaim> limited;
  for (const RateClaim* claim : claims) {
    limited.push_back({claim->weight, claim->most, {}});
    for (const auto& take : claim->takes) {
      if (is_short(take.first)) { limited.back().takes.push_back(take); }
    }
  }
  return share_rates(limited, capacities_);
}

}  // namespace athanor
