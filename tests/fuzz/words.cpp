#include <algorithm>
#include <array>
#include <cctype>

#include "tests/fuzz/mutation.hpp"

namespace athanor::fuzz {

namespace {

constexpr std::array<std::string_view, 40> kExtremes{"0",
                                                     "-1",
                                                     "1",
                                                     "2",
                                                     "3",
                                                     "7",
                                                     "255",
                                                     "256",
                                                     "65535",
                                                     "65536",
                                                     "1000000",
                                                     "1000001",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967295",
                                                     "4294967296",
                                                     "9007199254740993",
                                                     "9223372036854775807",
                                                     "9223372036854775808",
                                                     "18446744073709551615",
                                                     "18446744073709551616",
                                                     "-9223372036854775808",
                                                     "1e308",
                                                     "-1e308",
                                                     "1e999",
                                                     "1e-320",
                                                     "0.1",
                                                     "1.abc",
                                                     "NaN",
                                                     "inf",
                                                     "",
                                                     " ",
                                                     "1/0",
                                                     "0/1",
                                                     "[0-4294967295]",
                                                     "../../x",
                                                     "/",
                                                     "\xff\xfe",
                                                     "\x1b[31m",
                                                     "=1+1"};

constexpr std::array<std::string_view, 24> kUnits{"",  "B",    "KiB",  "MiB",    "GiB", "TiB",   "KB", "GB",
                                                  "b", "Gb/s", "GB/s", "Mbit/s", "ps",  "ns",    "us", "ms",
                                                  "s", "h",    "%",    "x",      " B",  "GiB/s", "fs", "B/s"};

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string changed_number(std::string digits, RandomStream& random) {
  const auto last = [&] { return &digits[random.below(digits.size())]; };
  switch (random.below(7)) {
    case 0: *last() = static_cast<char>('0' + random.below(10)); return digits;
    case 1: return digits + std::string(1 + random.below(20), '0');
    case 2: return digits.substr(0, 1 + random.below(digits.size()));
    case 3: return "-" + digits;
    case 4: return std::string(extreme_word(random));
    case 5: return digits + "." + std::string(1 + random.below(20), '9');
    default: return std::to_string(random.bits() >> random.below(64));
  }
}

}  // namespace

std::string_view extreme_word(RandomStream& random) { return kExtremes[random.below(kExtremes.size())]; }

std::string changed_word(std::string_view word, RandomStream& random) {
  const auto first = std::find_if(word.begin(), word.end(), is_digit);
  if (first == word.end() || random.below(8) == 0) { return std::string(extreme_word(random)); }
  const auto end = std::find_if_not(first, word.end(), is_digit);
  if (random.below(3) == 0) {
    return std::string(word.begin(), end) + std::string(kUnits[random.below(kUnits.size())]);
  }
  return std::string(word.begin(), first) + changed_number({first, end}, random) + std::string(end, word.end());
}

}  // namespace athanor::fuzz
