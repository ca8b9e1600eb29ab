// Numbers of 8 bits and 1, and sums of them over ranks on threads.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "algorithms/execution/quantized/quantized_all_reduce.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"

using namespace athanor;

namespace {

using Floats = std::vector<float>;

/// Uniform from -1 to 1, the same in every run.
std::vector<Floats> drawn(std::size_t ranks, std::size_t count, std::uint64_t seed = 1) {
  RandomStream random(seed, "quantized");
  std::vector<Floats> all(ranks, Floats(count));
  for (Floats& of_rank : all) {
    for (float& each : of_rank) { each = static_cast<float>(std::ldexp(random.bits() >> 40, -23)) - 1; }
  }
  return all;
}

Floats there_and_back(const QuantizedFormat& format, const Floats& numbers) {
  std::vector<std::byte> coded(quantized_size(format, numbers.size()));
  Floats result(numbers.size());
  quantize(format, numbers, coded);
  dequantize(format, coded, result);
  return result;
}

std::vector<QuantizedRank> ranks_of(const QuantizedFormat& format, std::size_t ranks, std::size_t count,
                                    bool feedback) {
  std::vector<QuantizedRank> all;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    all.emplace_back(format, static_cast<std::uint32_t>(ranks), rank, count, feedback);
  }
  return all;
}

std::vector<Floats> reduced(const QuantizedFormat& format, const std::vector<Floats>& inputs) {
  std::vector<QuantizedRank> ranks = ranks_of(format, inputs.size(), inputs.front().size(), false);
  std::vector<Floats> outputs(inputs.size(), Floats(inputs.front().size()));
  quantized_all_reduce(ranks, inputs, outputs);
  return outputs;
}

double exact(const std::vector<Floats>& inputs, std::size_t element) {
  double sum = 0;
  for (const Floats& input : inputs) { sum += static_cast<double>(input[element]); }
  return sum;
}

}  // namespace

TEST_CASE("a block has a scale in float32 and a byte, or a bit, for each number") {
  CHECK(quantized_size({QuantizedNumber::int8, 256}, 0) == 0);
  CHECK(quantized_size({QuantizedNumber::int8, 256}, 256) == 260);
  CHECK(quantized_size({QuantizedNumber::int8, 256}, 257) == 265);
  CHECK(quantized_size({QuantizedNumber::fp8_e4m3, 1}, 10) == 50);
  CHECK(quantized_size({QuantizedNumber::one_bit, 256}, 256) == 36);
  CHECK(quantized_size({QuantizedNumber::one_bit, 256}, 265) == 36 + 6);
}

TEST_CASE("numbers that codes hold come back as they were") {
  Floats whole;
  for (int i = -127; i <= 127; ++i) { whole.push_back(static_cast<float>(i) / 4); }
  CHECK(there_and_back({QuantizedNumber::int8, 255}, whole) == whole);
  // All finite codes of both: 2^-9 to 448 with 3 bits of mantissa, 2^-16 to 57,344 with 2.
  const auto codes = [](int mantissa, int least, double largest) {
    Floats all{0};
    for (double step = std::ldexp(1, least); step <= largest; step *= 2) {
      for (int i = step == std::ldexp(1, least) ? 1 : 1 << mantissa; i < 2 << mantissa; ++i) {
        if (i * step <= largest) { all.push_back(static_cast<float>(i * step)); }
      }
    }
    for (std::size_t i = all.size(); i-- > 1;) { all.push_back(-all[i]); }
    return all;
  };
  const Floats narrow = codes(3, -9, 448);
  CHECK(narrow.size() == 2 * 126 + 1);
  CHECK(there_and_back({QuantizedNumber::fp8_e4m3, 1000}, narrow) == narrow);
  const Floats wide = codes(2, -16, 57344);
  CHECK(wide.size() == 2 * 123 + 1);
  CHECK(there_and_back({QuantizedNumber::fp8_e5m2, 1000}, wide) == wide);
}

TEST_CASE("no number of a block is off by more than half a step of its largest, and some nearly are") {
  const Floats numbers = drawn(1, 100'000)[0];
  for (const QuantizedNumber number : {QuantizedNumber::int8, QuantizedNumber::fp8_e4m3, QuantizedNumber::fp8_e5m2}) {
    const Floats back = there_and_back({number, 1000}, numbers);
    double most = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      most = std::max(most, std::fabs(static_cast<double>(back[i]) - static_cast<double>(numbers[i])));
    }
    CHECK(most <= half_step(number) * (1 + 0x1p-20));
    CHECK(most > 0.9 * half_step(number));
  }
}

TEST_CASE("ties go to even codes, nothing beyond the largest, and zeros stay") {
  // Of a scale of 1: 0.5, 1.5 and 2.5.
  CHECK(there_and_back({QuantizedNumber::int8, 8}, {127, 0.5F, 1.5F, 2.5F, -0.5F}) == Floats{127, 0, 2, 2, 0});
  CHECK(there_and_back({QuantizedNumber::fp8_e4m3, 8}, {448, 17, 19, 447}) == Floats{448, 16, 20, 448});
  CHECK(there_and_back({QuantizedNumber::int8, 2}, {0, 0, 0}) == Floats{0, 0, 0});
  CHECK(there_and_back({QuantizedNumber::one_bit, 4}, {1, -2, 3, -6}) == Floats{3, -3, 3, -3});
}

TEST_CASE("what is not finite is refused") {
  for (const float wrong : {std::nanf(""), HUGE_VALF}) {
    CHECK_THROWS_AS(there_and_back({QuantizedNumber::int8, 4}, {1, wrong}), SimulationError);
  }
}

TEST_CASE("the error of a quantised all-reduce stays within its bound, and all ranks get the same bits") {
  for (const std::size_t ranks : {1U, 2U, 3U, 5U, 8U}) {
    for (const std::size_t count : {1U, 7U, 1000U, 4099U}) {
      const std::vector<Floats> inputs = drawn(ranks, count, count);
      for (const QuantizedNumber number : quantized_numbers()) {
        CAPTURE(ranks);
        CAPTURE(count);
        CAPTURE(name(number));
        const QuantizedFormat format{number, 64};
        const std::vector<Floats> outputs = reduced(format, inputs);
        const std::vector<double> bounds = quantized_error_bound(format, inputs);
        std::size_t beyond = 0;
        for (std::size_t i = 0; i < count; ++i) {
          beyond += std::fabs(static_cast<double>(outputs[0][i]) - exact(inputs, i)) > bounds[i] ? 1 : 0;
        }
        CHECK(beyond == 0);
        CHECK(std::count(outputs.begin(), outputs.end(), outputs[0]) == static_cast<std::ptrdiff_t>(ranks));
      }
    }
  }
}

TEST_CASE("numbers that codes hold are added up exactly") {
  // Of each block the largest is 127, of the sums 2 x 127.
  std::vector<Floats> inputs(2, Floats(512));
  for (std::size_t i = 0; i < 512; ++i) { inputs[0][i] = inputs[1][i] = static_cast<float>(i % 128); }
  const std::vector<Floats> outputs = reduced({QuantizedNumber::int8, 128}, inputs);
  for (std::size_t i = 0; i < 512; ++i) { CHECK(outputs[0][i] == 2 * static_cast<float>(i % 128)); }
}

TEST_CASE("smaller blocks have smaller errors where numbers differ in size") {
  std::vector<Floats> inputs = drawn(4, 4096);
  for (Floats& of_rank : inputs) {
    for (std::size_t i = 0; i < of_rank.size(); ++i) { of_rank[i] *= std::ldexp(1.0F, static_cast<int>(i / 512)); }
  }
  const auto error = [&](std::size_t block) {
    const Floats output = reduced({QuantizedNumber::int8, block}, inputs)[0];
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
      sum += std::fabs(static_cast<double>(output[i]) - exact(inputs, i));
    }
    return sum;
  };
  CHECK(error(64) < error(512));
  CHECK(error(512) < error(4096));
}

TEST_CASE("what signs lose is made up for: of T sums that are fed back the mean is off by what is left over T") {
  // Sums of T rounds are T S - what inputs and the sum have left behind, which stays as large as it was.
  const std::vector<Floats> inputs = drawn(4, 256);
  const auto mean_error = [&](int rounds, bool feedback) {
    std::vector<QuantizedRank> ranks = ranks_of({QuantizedNumber::one_bit, 64}, 4, 256, feedback);
    std::vector<Floats> outputs(4, Floats(256));
    std::vector<double> sums(256);
    for (int round = 0; round < rounds; ++round) {
      quantized_all_reduce(ranks, inputs, outputs);
      for (std::size_t i = 0; i < sums.size(); ++i) { sums[i] += static_cast<double>(outputs[0][i]); }
    }
    double error = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) { error += std::fabs(sums[i] / rounds - exact(inputs, i)) / 256; }
    return error;
  };
  const double once = mean_error(1, true);
  CHECK(once == mean_error(1, false));
  CHECK(mean_error(64, false) == doctest::Approx(once));
  CHECK(mean_error(64, true) < once / 8);
  CHECK(mean_error(256, true) < once / 30);
}
