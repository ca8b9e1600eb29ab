#include "models/jobs/inventory.hpp"

#include <algorithm>

#include "models/jobs/mig.hpp"
#include "sim/check.hpp"

namespace athanor {

namespace {

/// How often `need` fits; without need as often as anybody may want.
std::uint32_t times(std::uint32_t have, std::uint32_t need) { return need == 0 ? Node::kUnlimited : have / need; }

/// The rest of what may be without limit.
std::uint32_t less(std::uint32_t have, std::uint32_t need) { return have == Node::kUnlimited ? have : have - need; }
std::uint32_t more(std::uint32_t have, std::uint32_t given) { return have == Node::kUnlimited ? have : have + given; }

std::vector<std::uint16_t> indices_of(const std::vector<std::string>& wanted, const std::vector<std::string>& all) {
  std::vector<std::uint16_t> found;
  for (std::uint16_t type = 0; type < all.size(); ++type) {
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), all[type]) != wanted.end()) { found.push_back(type); }
  }
  return found;
}

}  // namespace

Inventory::Inventory(const NodeList& nodes, const JobList& jobs) : nodes_(&nodes), states_(nodes.nodes.size()) {
  const std::size_t kinds = std::max<std::size_t>(nodes.gpu_types.size(), 1);
  std::vector<std::uint32_t> most(kinds);
  std::uint32_t gpus = 0;
  for (const NodeId id : nodes.nodes.ids()) {
    const Node& node = nodes.nodes[id];
    require(node.gpus <= GpuSet::kMost, "node {} has {} GPUs", id.value, node.gpus);
    require(node.nics <= NicSet::kMost, "node {} has {} NICs", id.value, node.nics);
    most[node.gpu_type] = std::max<std::uint32_t>(most[node.gpu_type], node.gpus);
    states_[id] = {GpuSet::first(node.gpus), gpus, node.cpu_milli, node.memory_mib, 0, NicSet::first(node.nics)};
    gpus += node.gpus;
  }
  milli_.assign(gpus, kWhole);
  sliced_.assign(gpus, 0);
  for (const std::uint32_t count : most) { by_free_.emplace_back(count + 1, NodeSet(nodes.count())); }
  for (const NodeId id : nodes.nodes.ids()) { by_free_[nodes.nodes[id].gpu_type][nodes.nodes[id].gpus].add(id); }
  free_gpus_ = gpus;
  for (std::uint32_t set = 0; set < jobs.gpu_type_sets(); ++set) {
    types_.push_back(indices_of(jobs.gpu_types(GpuTypesId{set}), nodes.gpu_types));
  }
}

bool Inventory::has_type(NodeId node, GpuTypesId types) const {
  const std::vector<std::uint16_t>& known = types_[types];
  return types.value == 0 || std::find(known.begin(), known.end(), nodes_->nodes[node].gpu_type) != known.end();
}

GpuTypesId Inventory::common_types(GpuTypesId types, const std::vector<std::string>& others) {
  std::vector<std::uint16_t> common;
  for (const std::uint16_t type : types_[types]) {
    if (std::find(others.begin(), others.end(), nodes_->gpu_types[type]) != others.end()) { common.push_back(type); }
  }
  const auto found = std::find(types_.begin(), types_.end(), common);
  const auto id = static_cast<std::uint32_t>(found - types_.begin());
  if (found == types_.end()) { types_.push_back(std::move(common)); }
  return GpuTypesId{id};
}

std::uint32_t Inventory::room(NodeId node, const Demand& demand) const {
  const State& state = states_[node];
  const bool any_gpu = demand.gpus > 0 || demand.gpu_milli > 0;
  if (!state.open || (any_gpu && !has_type(node, demand.gpu_types))) { return 0; }
  std::uint32_t room = times(state.free.count(), demand.gpus);
  room = std::min(room, times(state.cpu_milli, demand.cpu_milli));
  room = std::min(room, times(state.memory_mib, demand.memory_mib));
  room = std::min(room, times(state.nics.count(), demand.nics));
  if (demand.gpu_milli > 0 && room > 0) {
    std::uint32_t shared = 0;
    for (std::uint32_t gpu = 0; gpu < nodes_->nodes[node].gpus; ++gpu) { shared += room_on(node, gpu, demand); }
    room = std::min(room, shared);
  }
  return room;
}

/// How many tasks that share a GPU this one takes. One that is split gets slices alone, and one that is not must be
/// free to be split.
std::uint32_t Inventory::room_on(NodeId node, std::uint32_t gpu, const Demand& demand) const {
  const std::uint16_t left = free_milli(node, gpu);
  const std::uint8_t sliced = sliced_[states_[node].first_gpu + gpu];
  if (demand.slice == 0) { return sliced == 0 ? left / demand.gpu_milli : 0; }
  if (sliced == 0 && left < kWhole) { return 0; }
  return std::min<std::uint32_t>(left / demand.gpu_milli, mig_room(mig_slice(demand.slice), sliced));
}

std::optional<NodeId> Inventory::next(std::uint16_t type, std::uint32_t free, NodeId from) const {
  return by_free_[type][free].next(from);
}

NodeShare Inventory::share(NodeId node, std::uint32_t group, const Demand& demand, std::uint32_t tasks) const {
  NodeShare share{node, group, tasks, {}};
  share.nics = free_nics(node).lowest(demand.nics * tasks);
  if (demand.gpu_milli == 0) {
    share.gpus = free_gpus(node).lowest(demand.gpus * tasks);
    return share;
  }
  require(tasks == 1, "{} tasks share one GPU", tasks);
  std::optional<std::uint32_t> best;
  for (std::uint32_t gpu = 0; gpu < nodes_->nodes[node].gpus; ++gpu) {
    const std::uint16_t left = free_milli(node, gpu);
    if (room_on(node, gpu, demand) > 0 && (!best || left < free_milli(node, *best))) { best = gpu; }
  }
  require(best.has_value(), "no GPU of node {} has {} thousandths left", node.value, demand.gpu_milli);
  share.gpus.add(*best);
  if (demand.slice > 0) {
    share.first_eighth = mig_start(mig_slice(demand.slice), sliced_[states_[node].first_gpu + *best]).value();
  }
  return share;
}

void Inventory::set_free(NodeId node, GpuSet free) {
  State& state = states_[node];
  if (state.open) {
    std::vector<NodeSet>& sets = by_free_[nodes_->nodes[node].gpu_type];
    const std::uint32_t before = state.free.count();
    const std::uint32_t after = free.count();
    free_gpus_ = free_gpus_ - before + after;
    if (before != after) {
      sets[before].remove(node);
      sets[after].add(node);
    }
  }
  state.free = free;
}

bool Inventory::has(const NodeShare& share, const Demand& demand) const {
  if (room(share.node, demand) < share.tasks || !(share.nics - free_nics(share.node)).empty()) { return false; }
  if (demand.gpu_milli == 0) { return (share.gpus - free_gpus(share.node)).empty(); }
  const std::uint32_t gpu = share.gpus.least();
  if (room_on(share.node, gpu, demand) == 0) { return false; }
  const std::uint8_t sliced = sliced_[states_[share.node].first_gpu + gpu];
  return demand.slice == 0 || (mig_slice(demand.slice).at(share.first_eighth) & sliced) == 0;
}

void Inventory::take(const NodeShare& share, const Demand& demand) {
  State& state = states_[share.node];
  require((share.gpus - state.free).empty() || demand.gpu_milli > 0, "node {} does not have these GPUs",
          share.node.value);
  GpuSet free = state.free;
  for (GpuSet left = share.gpus; !left.empty();) {
    const std::uint32_t gpu = left.least();
    left.remove(gpu);
    free.remove(gpu);
    std::uint16_t& milli = milli_[state.first_gpu + gpu];
    const std::uint16_t taken = demand.gpu_milli > 0 ? demand.gpu_milli : kWhole;
    require(milli >= taken, "GPU {} of node {} has {} thousandths, not {}", gpu, share.node.value, milli, taken);
    milli = static_cast<std::uint16_t>(milli - taken);
    if (demand.slice == 0) { continue; }
    const std::uint8_t eighths = mig_slice(demand.slice).at(share.first_eighth);
    std::uint8_t& sliced = sliced_[state.first_gpu + gpu];
    require((sliced & eighths) == 0, "GPU {} of node {} has two slices in one place", gpu, share.node.value);
    sliced |= eighths;
  }
  set_free(share.node, free);
  state.cpu_milli = less(state.cpu_milli, demand.cpu_milli * share.tasks);
  state.memory_mib = less(state.memory_mib, demand.memory_mib * share.tasks);
  require(share.nics.count() == demand.nics * share.tasks && (share.nics - state.nics).empty(),
          "node {} does not have these {} NICs", share.node.value, share.nics.count());
  state.nics = state.nics - share.nics;
  state.tasks += share.tasks;
}

void Inventory::give_back(const NodeShare& share, const Demand& demand) {
  State& state = states_[share.node];
  GpuSet free = state.free;
  for (GpuSet left = share.gpus; !left.empty();) {
    const std::uint32_t gpu = left.least();
    left.remove(gpu);
    std::uint16_t& milli = milli_[state.first_gpu + gpu];
    milli = static_cast<std::uint16_t>(milli + (demand.gpu_milli > 0 ? demand.gpu_milli : kWhole));
    require(milli <= kWhole, "GPU {} of node {} is given back twice", gpu, share.node.value);
    if (milli == kWhole) { free.add(gpu); }
    if (demand.slice > 0) {
      sliced_[state.first_gpu + gpu] &= static_cast<std::uint8_t>(~mig_slice(demand.slice).at(share.first_eighth));
    }
  }
  set_free(share.node, free);
  state.cpu_milli = more(state.cpu_milli, demand.cpu_milli * share.tasks);
  state.memory_mib = more(state.memory_mib, demand.memory_mib * share.tasks);
  state.nics = state.nics | share.nics;
  state.tasks -= share.tasks;
}

void Inventory::take(const Allocation& allocation, const Shape& shape) {
  for (const NodeShare& share : allocation) { take(share, shape[share.group].each); }
}

void Inventory::give_back(const Allocation& allocation, const Shape& shape) {
  for (const NodeShare& share : allocation) { give_back(share, shape[share.group].each); }
}

void Inventory::close(NodeId node) {
  State& state = states_[node];
  if (!state.open) { return; }
  by_free_[nodes_->nodes[node].gpu_type][state.free.count()].remove(node);
  free_gpus_ -= state.free.count();
  state.open = false;
}

void Inventory::open(NodeId node) {
  State& state = states_[node];
  if (state.open) { return; }
  state.open = true;
  by_free_[nodes_->nodes[node].gpu_type][state.free.count()].add(node);
  free_gpus_ += state.free.count();
}

}  // namespace athanor
