#include "tools/cli/manifest.hpp"

#include <array>

#include <unistd.h>

namespace athanor {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace athanor
