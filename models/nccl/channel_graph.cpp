#include "models/nccl/channel_graph.hpp"

#include <array>
#include <cstddef>

namespace athanor {

std::string_view name(NcclPath path) {
  static constexpr std::array<std::string_view, 12> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB",
                                                           "P2C", "PXN", "PHB", "SYS", "NET", "DIS"};
  return kNames.at(static_cast<std::size_t>(path));
}

}  // namespace athanor
