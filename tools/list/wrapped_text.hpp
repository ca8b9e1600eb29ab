#pragma once

#include <string>
#include <string_view>

namespace athanor {

/// The words of a text in lines, each but the first behind `indent` blanks, none wider than 100 where words allow.
std::string wrapped(std::string_view text, std::size_t indent);

}  // namespace athanor
