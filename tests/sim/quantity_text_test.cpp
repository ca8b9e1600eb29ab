#include <array>

#include <doctest/doctest.h>

#include "sim/format.hpp"
#include "sim/parse.hpp"
#include "sim/power.hpp"

using namespace athanor;
using namespace athanor::literals;

TEST_CASE("a quantity is read exactly, in all its units") {
  CHECK(parse_time("1.5us").value == 1500_ns);
  CHECK(parse_time("0.000001us").value == 1_ps);
  CHECK(parse_time("3 ms").value == 3_ms);
  CHECK(parse_time("1e3ns").value == 1_us);
  CHECK(parse_time("2s").value == 2_s);
  CHECK(parse_time("-7ps").value == Time{-7});
  CHECK(parse_bytes("8B").value == 8_B);
  CHECK(parse_bytes("1.5KiB").value == 1536_B);
  CHECK(parse_bytes("1kB").value == 1000_B);
  CHECK(parse_bytes("1KB").value == 1000_B);
  CHECK(parse_bytes("8TiB").value == 8192_GiB);
  CHECK(parse_bytes("0.1GB").value == Bytes{100'000'000});
  CHECK(parse_bandwidth("400Gb/s").value == 50_GBps);
  CHECK(parse_bandwidth("400Gbit/s").value == 50_GBps);
  CHECK(parse_bandwidth("400Gbps").value == 50_GBps);
  CHECK(parse_bandwidth("50GB/s").value == 50_GBps);
  CHECK(parse_bandwidth("1MiB/s").value == Bandwidth{1'048'576});
  CHECK(parse_bandwidth("53.125Gb/s").value == Bandwidth{6'640'625'000});
  CHECK(parse_bytes("9223372036854775807B").value == Bytes::max());
}

TEST_CASE("what is no quantity is refused by kind") {
  CHECK(parse_time("1.5").mistake.code == "missing-unit");
  CHECK(parse_time("5m").mistake.code == "wrong-unit");
  CHECK(parse_time("").mistake.code == "wrong-type");
  CHECK(parse_time("us").mistake.code == "wrong-type");
  CHECK(parse_time(".5us").mistake.code == "wrong-type");
  CHECK(parse_time("1.us").mistake.code == "wrong-type");
  CHECK(parse_time("--1us").mistake.code == "wrong-type");
  CHECK(parse_time("1us ").mistake.code == "wrong-unit");
  CHECK(parse_time("0.5ps").mistake.code == "out-of-range");
  CHECK(parse_time("1e-999s").mistake.code == "out-of-range");
  CHECK(parse_time("107days").mistake.code == "wrong-unit");
  CHECK(parse_time("9223373s").mistake.code == "out-of-range");
  CHECK(parse_bytes("9223372036854775808B").mistake.code == "out-of-range");
  CHECK(parse_bytes("1e999B").mistake.code == "out-of-range");
  CHECK(parse_bytes("99999999999999999999999999999999999999999999B").mistake.code == "wrong-type");
  CHECK(parse_bandwidth("400Gb").mistake.hint.find("400Gb/s") != std::string::npos);
  CHECK(parse_bandwidth("1b/s").mistake.code == "out-of-range");
  CHECK(parse_ratio("1.5x").mistake.code == "wrong-type");
  CHECK(parse_ratio("1e-19").mistake.code == "out-of-range");
}

TEST_CASE("a count is a whole number, however it is spelt") {
  CHECK(parse_count("1e12") == 1'000'000'000'000);
  CHECK(parse_count("2.5e3") == 2500);
  CHECK(parse_count("0") == 0);
  CHECK(parse_count("18446744073709551615") == UINT64_MAX);
  for (const char* wrong : {"", "-1", "1.5", "1e-3", "18446744073709551616", "1e30", "12B", " 1"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_count(wrong));
  }
}

TEST_CASE("a ratio is an exact fraction") {
  CHECK(parse_ratio("0.95").value == Ratio{19, 20});
  CHECK(parse_ratio("1e-3").value == Ratio{1, 1000});
  CHECK(parse_ratio("0").value == Ratio{0, 1});
  CHECK(parse_ratio("0e-30").value == Ratio{0, 1});
  CHECK(Ratio{1, 3} < Ratio{34, 100});
  CHECK(scaled_down(Bandwidth{1000}, {1, 3}) == Bandwidth{333});
  CHECK(scaled_up(Time{1000}, {1, 3}) == Time{334});
  CHECK(scaled_up(Time::max(), {1, 1}) == Time::max());
  CHECK_THROWS(scaled_up(Time::max(), {3, 2}));
  for (const char* text : {"1e308", "-1e308", "1e-308", "-1e-308"}) { CHECK(!parse_ratio(text).value); }
}

TEST_CASE("people see the largest unit that fits") {
  CHECK(to_string(1500_ns) == "1.5 us");
  CHECK(to_string(0_ps) == "0 ps");
  CHECK(to_string(Time{-1'000'001}) == "-1.000001 us");
  CHECK(to_string(256_MiB) == "256 MiB");
  CHECK(to_string(8_GiB) == "8 GiB");
  CHECK(to_string(Bytes{1'500'000'000}) == "1.5 GB");
  CHECK(to_string(1001_B) == "1001 B");
  CHECK(to_string(0_B) == "0 B");
  CHECK(to_string(50_GBps) == "50 GB/s");
  CHECK(to_string(Bandwidth{12'500'000'000}) == "12.5 GB/s");
  CHECK(to_string(Ratio{95, 100}) == "0.95");
  CHECK(to_string(Ratio{1, 3}) == "1/3");
  CHECK(to_string(Ratio{2, 1}) == "2");
}

TEST_CASE("a formatted quantity is read back to the same value") {
  for (std::int64_t count = 1; count > 0 && count < INT64_MAX / 7; count = count * 7 + count % 3) {
    for (const std::int64_t signed_count : std::array{count, -count, count / 1'000 * 1'000, count / 1'024 * 1'024}) {
      CAPTURE(signed_count);
      CHECK(parse_time(to_string(Time{signed_count})).value == Time{signed_count});
      CHECK(parse_bytes(to_string(Bytes{signed_count})).value == Bytes{signed_count});
      CHECK(parse_bandwidth(to_string(Bandwidth{signed_count})).value == Bandwidth{signed_count});
    }
  }
  CHECK(parse_time(to_string(Time{INT64_MIN})).value == Time{INT64_MIN});
}

TEST_CASE("powers are read in milliwatts, and written in the largest unit that fits") {
  CHECK(parse_power("700W").value == Power{700'000});
  CHECK(parse_power("1.4kW").value == Power{1'400'000});
  CHECK(parse_power("250 mW").value == Power{250});
  CHECK(parse_power("-5W").value == Power{-5'000});
  CHECK(parse_power("700").mistake.code == "missing-unit");
  CHECK(parse_power("700w").mistake.hint.find("mW, W, kW, MW") != std::string::npos);
  CHECK(parse_power("0.1mW").mistake.code == "out-of-range");
  for (const std::int64_t count : {1, 999, 1'000, 700'000, 1'400'000, 120'000'000}) {
    CAPTURE(count);
    CHECK(parse_power(to_string(Power{count})).value == Power{count});
  }
}
