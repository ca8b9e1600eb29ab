#include "models/training/measured_with.hpp"

namespace athanor {

std::string text_of(const MeasuredWith& with) {
  return with.release.empty() ? with.software : with.software + " " + with.release;
}

}  // namespace athanor
