#include "algorithms/schedule/field_names.hpp"

namespace athanor {

namespace {

template <class Values>
auto named(const Values& values) {
  using E = std::remove_cvref_t<decltype(values.front())>;
  std::vector<Named<E>> names;
  for (const E each : values) { names.push_back({name(each), each}); }
  return Names<E>(std::move(names));
}

}  // namespace

Names<CollectiveKind> collective_names() { return named(collective_kinds()); }
Names<DataType> type_names() { return named(data_types()); }
Names<Reduction> reduction_names() { return named(reductions()); }

}  // namespace athanor
