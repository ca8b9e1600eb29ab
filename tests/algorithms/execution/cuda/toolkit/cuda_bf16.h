#pragma once

#include <cstdint>

struct __nv_bfloat16 {
  std::uint16_t bits;
};
float __bfloat162float(__nv_bfloat16 value);
__nv_bfloat16 __float2bfloat16_rn(float value);
