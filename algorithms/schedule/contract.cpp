#include "algorithms/schedule/contract.hpp"

#include "algorithms/schedule/layout.hpp"

namespace athanor {

namespace {

ElementRange part_of(const Collective& collective, std::uint32_t rank) {
  return block(collective.count, collective.ranks, rank);
}

}  // namespace

Elements Contract::input(std::uint32_t rank) const {
  switch (collective_.kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::gather: return part_of(collective_, rank).count;
    case CollectiveKind::all_to_all_v: return collective_.sizes->input(rank);
    case CollectiveKind::broadcast:
    case CollectiveKind::scatter:
    case CollectiveKind::send_receive: return rank == collective_.root ? collective_.count : Elements::zero();
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce:
    case CollectiveKind::barrier:
    case CollectiveKind::all_to_all: break;
  }
  return collective_.count;
}

Elements Contract::output(std::uint32_t rank) const {
  switch (collective_.kind) {
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter: return part_of(collective_, rank).count;
    case CollectiveKind::all_to_all: return part_of(collective_, rank).count * collective_.ranks;
    case CollectiveKind::all_to_all_v: return collective_.sizes->output(rank);
    case CollectiveKind::send_receive: return rank == receiver() ? collective_.count : Elements::zero();
    case CollectiveKind::reduce:
    case CollectiveKind::gather: return rank == collective_.root ? collective_.count : Elements::zero();
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_gather:
    case CollectiveKind::barrier:
    case CollectiveKind::broadcast: break;
  }
  return collective_.count;
}

bool Contract::promises(std::uint32_t rank) const {
  const bool only_root = collective_.kind == CollectiveKind::reduce || collective_.kind == CollectiveKind::gather;
  return !only_root || rank == collective_.root;
}

std::vector<Promise> Contract::promised(std::uint32_t rank) const {
  const ElementRange part = part_of(collective_, rank);
  std::vector<Promise> promises;
  switch (collective_.kind) {
    case CollectiveKind::all_reduce: return {{Elements::zero(), collective_.count, std::nullopt, Elements::zero()}};
    case CollectiveKind::reduce_scatter: return {{Elements::zero(), part.count, std::nullopt, part.first}};
    case CollectiveKind::broadcast: return {{Elements::zero(), collective_.count, collective_.root, Elements::zero()}};
    case CollectiveKind::scatter: return {{Elements::zero(), part.count, collective_.root, part.first}};
    case CollectiveKind::barrier: break;
    case CollectiveKind::reduce:
      if (rank == collective_.root) { return {{Elements::zero(), collective_.count, std::nullopt, Elements::zero()}}; }
      break;
    case CollectiveKind::send_receive:
      if (rank == receiver()) { return {{Elements::zero(), collective_.count, collective_.root, Elements::zero()}}; }
      break;
    case CollectiveKind::gather:
      if (rank != collective_.root) { break; }
      [[fallthrough]];
    case CollectiveKind::all_gather:
      for (std::uint32_t origin = 0; origin < collective_.ranks; ++origin) {
        const ElementRange theirs = part_of(collective_, origin);
        promises.push_back({theirs.first, theirs.count, origin, Elements::zero()});
      }
      break;
    case CollectiveKind::all_to_all:
      for (std::uint32_t origin = 0; origin < collective_.ranks; ++origin) {
        promises.push_back({part.count * origin, part.count, origin, part.first});
      }
      break;
    case CollectiveKind::all_to_all_v: return exchanged(rank);
  }
  return promises;
}

std::vector<Promise> Contract::exchanged(std::uint32_t rank) const {
  const AllToAllVSizes& sizes = *collective_.sizes;
  std::vector<Promise> promises;
  for (std::uint32_t origin = 0; origin < collective_.ranks; ++origin) {
    promises.push_back(
        {sizes.output_offset(origin, rank), sizes.size(origin, rank), origin, sizes.input_offset(origin, rank)});
  }
  return promises;
}

std::optional<Elements> Contract::in_place(std::uint32_t rank) const {
  switch (collective_.kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce: return Elements::zero();
    case CollectiveKind::all_gather:
    case CollectiveKind::gather: return part_of(collective_, rank).first;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter: return Elements::zero() - part_of(collective_, rank).first;
    case CollectiveKind::all_to_all:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::barrier:
    case CollectiveKind::send_receive: break;
  }
  return std::nullopt;
}

Memory user_memory(const Collective& collective, std::uint32_t rank) {
  const Contract contract(collective);
  Memory memory{contract.input(rank), contract.output(rank), Elements::zero(), std::nullopt};
  const auto offset = contract.in_place(rank);
  const bool has_both = !has_root(collective.kind) || rank == collective.root;
  if (collective.in_place && has_both && offset) { memory.in_place = offset->count(); }
  return memory;
}

}  // namespace athanor
