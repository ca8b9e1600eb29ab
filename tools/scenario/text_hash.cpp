#include "tools/scenario/text_hash.hpp"

#include <fmt/format.h>

namespace athanor {

std::string text_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) { hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3; }
  return fmt::format("fnv1a64:{:016x}", hash);
}

}  // namespace athanor
