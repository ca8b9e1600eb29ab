#pragma once

#include <string>

namespace athanor {

/// What a measured step ran with.
struct MeasuredWith {
  std::string software;   ///< steps of one software have in common what no other part says; "": not said
  std::string framework;  ///< the family of frameworks that the software is of; "": not said
  std::string release;    ///< of the software; "": not said
  bool operator==(const MeasuredWith&) const = default;
};

/// "megatron-bridge 26.02".
std::string text_of(const MeasuredWith& with);

}  // namespace athanor
