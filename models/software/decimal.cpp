#include "models/software/decimal.hpp"

#include <cmath>

#include "sim/ratio.hpp"

namespace athanor {

void visit_decimal(Fields& fields, const char* key, double& number, std::int64_t least, std::int64_t most,
                   const char* meaning) {
  Ratio ratio{std::llround(number * static_cast<double>(kDecimalParts)), kDecimalParts};
  fields.required(key, ratio, meaning, {Ratio{least, kDecimalParts}, Ratio{most * kDecimalParts, kDecimalParts}});
  number = to_double(ratio);
}

}  // namespace athanor
