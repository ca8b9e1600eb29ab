#pragma once

#include <cstdint>

struct __half {
  std::uint16_t bits;
};
float __half2float(__half value);
__half __float2half_rn(float value);
