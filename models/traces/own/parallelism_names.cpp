#include "models/traces/own/parallelism_names.hpp"

namespace athanor {

Names<Parallelism> parallelism_names() {
  Names<Parallelism> names({});
  for (std::size_t i = 0; i < kParallelisms; ++i) {
    const auto use = static_cast<Parallelism>(i);
    names.named.push_back({name(use), use});
  }
  return names;
}

}  // namespace athanor
