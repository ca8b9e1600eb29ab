#pragma once

#include <string>

namespace athanor {

/// "fnv1a64:" and 16 hexadecimal digits: tells texts apart, no protection against forgery.
std::string text_hash(const std::string& text);

}  // namespace athanor
