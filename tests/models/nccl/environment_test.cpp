#include "models/nccl/tuning/environment.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

using namespace athanor;

namespace {

using Effect = NcclNote::Effect;

constexpr NcclVersion kNew{2, 30, 7};
constexpr NcclVersion kOld{2, 18, 3};

NcclEnvironment read(const std::string& name, const std::string& text, NcclVersion version = kNew) {
  return nccl_environment({{name, text}}, version);
}

/// NCCL ends with ncclInvalidUsage while it creates a communicator.
bool is_refused(const NcclEnvironment& environment) {
  return std::any_of(environment.notes.begin(), environment.notes.end(),
                     [](const NcclNote& note) { return note.effect == Effect::refused; });
}

/// The row of NCCL_ALGO or NCCL_PROTO for one function: '.' unset, 'x' off, 'o' on.
std::string row(const auto& rows, NcclFunction function) {
  std::string text;
  for (const NcclEnable each : rows.at(static_cast<std::size_t>(function))) {
    text += each == NcclEnable::unset ? '.' : each == NcclEnable::off ? 'x' : 'o';
  }
  return text;
}

std::string algorithms(const std::string& text, NcclFunction function, NcclVersion version = kNew) {
  return row(read("NCCL_ALGO", text, version).algorithms, function);
}

std::string protocols(const std::string& text, NcclFunction function, NcclVersion version = kNew) {
  return row(read("NCCL_PROTO", text, version).protocols, function);
}

void check_note(const NcclEnvironment& environment, Effect effect, const std::string& text) {
  REQUIRE(environment.notes.size() == 1);
  CHECK(environment.notes.front().effect == effect);
  CHECK(environment.notes.front().text == text);
}

}  // namespace

TEST_CASE("An empty environment is NCCL's default, without a note") {
  const NcclEnvironment environment = nccl_environment({}, kNew);
  CHECK(environment.notes.empty());
  CHECK_FALSE(is_refused(environment));
  CHECK(environment.cross_nic == 2);
  CHECK(environment.queue_pairs == 1);
  CHECK(environment.pxn);
  CHECK(environment.nvls);
  CHECK_FALSE(environment.collnet);
}

TEST_CASE("NCCL_ALGO lists algorithms for all functions, in letters of any case") {
  CHECK(algorithms("Ring", NcclFunction::all_reduce) == "xoxxxxx");
  CHECK(algorithms("rInG,tREE", NcclFunction::broadcast) == "ooxxxxx");
  CHECK(algorithms("^Tree", NcclFunction::all_reduce) == "x......");
  CHECK(algorithms("nvlstree,PAT", NcclFunction::all_gather) == "xxxxxoo");
  CHECK(read("NCCL_ALGO", "Ring").notes.empty());
}

TEST_CASE("NCCL_PROTO lists protocols for each function, the first entry for all") {
  CHECK(protocols("LL,Simple;allreduce:LL128", NcclFunction::all_reduce) == "xox");
  CHECK(protocols("LL,Simple;allreduce:LL128", NcclFunction::reduce) == "oxo");
  CHECK(protocols("^LL,Simple;BROADCAST:Simple", NcclFunction::broadcast) == "xxo");
  CHECK(protocols("^LL,Simple;BROADCAST:Simple", NcclFunction::all_gather) == "xox");
  CHECK(protocols("broadcast:^Simple;reduce:Simple,LL", NcclFunction::broadcast) == "oox");
  CHECK(protocols("broadcast:^Simple;reduce:Simple,LL", NcclFunction::reduce) == "oxo");
  CHECK(protocols("broadcast:^Simple;reduce:Simple,LL", NcclFunction::all_reduce) == "...");
  CHECK(protocols("", NcclFunction::all_reduce) == "...");
}

TEST_CASE("Excluding one protocol asks for LL128, as NCCL reads it") {
  CHECK(protocols("^LL", NcclFunction::all_reduce) == "xoo");
}

TEST_CASE("An unknown algorithm is refused from 2.24 on, with the nearest one") {
  const NcclEnvironment environment = read("NCCL_ALGO", "Rng");
  CHECK(is_refused(environment));
  check_note(environment, Effect::refused,
             "'Rng' is no algorithm; NCCL warns \"Unrecognized element token\" and ends with ncclInvalidUsage; did you "
             "mean Ring?");
  CHECK(is_refused(read("NCCL_ALGO", "CollNet")));
  CHECK(is_refused(read("NCCL_PROTO", "reduce:LL,bad,Simple")));
}

TEST_CASE("A comma where a semicolon belongs makes the next function an algorithm") {
  const NcclEnvironment environment = read("NCCL_ALGO", "allgather:nvls,reducescatter:nvls");
  CHECK(is_refused(environment));
  CHECK(environment.notes.front().text.starts_with("'reducescatter' is no algorithm"));
}

TEST_CASE("An unknown function and a later entry without one are refused") {
  check_note(read("NCCL_PROTO", "bad_prefix:LL"), Effect::refused,
             "'bad_prefix' is no function; NCCL warns \"Unrecognized prefix token\" and ends with ncclInvalidUsage; "
             "functions are AllReduce, AllGather, ReduceScatter, Broadcast and Reduce");
  check_note(read("NCCL_PROTO", "allreduce:LL128;LL,Simple"), Effect::refused,
             "all entries except the first must begin with a function and a colon, and 'LL,Simple' does not; NCCL ends "
             "with ncclInvalidUsage");
}

TEST_CASE("Before 2.24 unknown words say nothing, and functions are such words") {
  CHECK_FALSE(is_refused(read("NCCL_ALGO", "Rng", kOld)));
  check_note(read("NCCL_ALGO", "Rng", kOld), Effect::ignored,
             "'Rng' is no algorithm, and NCCL before 2.24 passes over it silently; did you mean Ring?");
  CHECK(algorithms("Rng", NcclFunction::all_reduce, kOld) == "xxxxxxx");
  CHECK(algorithms("Tree,Rng", NcclFunction::all_reduce, kOld) == "oxxxxxx");
  CHECK(protocols("allreduce:LL", NcclFunction::all_reduce, kOld) == "xxx");
  CHECK(protocols("", NcclFunction::all_reduce, kOld) == "xxx");
  CHECK(read("NCCL_PROTO", "", kOld).notes.front().effect == Effect::changed);
}

TEST_CASE("Numbers are read up to what is no digit, and that is said") {
  CHECK(read("NCCL_BUFFSIZE", "8388608").buffers[2] == Bytes{8388608});
  CHECK(read("NCCL_BUFFSIZE", "8388608").notes.empty());
  CHECK(read("NCCL_BUFFSIZE", "0x800000").buffers[2] == Bytes{8388608});
  check_note(read("NCCL_IB_QPS_PER_CONNECTION", "4.5"), Effect::changed,
             "'4.5' is read as 4, without units or fractions; write the whole number");
  check_note(read("NCCL_IB_QPS_PER_CONNECTION", "010"), Effect::changed,
             "'010' is read as 8: a number that begins with 0 is octal");
  CHECK(read("NCCL_IB_QPS_PER_CONNECTION", "010").queue_pairs == 8);
  CHECK(read("NCCL_NVLS_ENABLE", "yes").nvls == false);
  CHECK(read("NCCL_NVLS_ENABLE", "yes").notes.front().effect == Effect::changed);
  check_note(read("NCCL_IB_QPS_PER_CONNECTION", "99999999999999999999"), Effect::ignored,
             "'99999999999999999999' does not fit in 64 bits; NCCL uses its default");
  CHECK(read("NCCL_IB_QPS_PER_CONNECTION", "").queue_pairs == 1);
}

TEST_CASE("A buffer written with a unit is a few bytes, which cannot work") {
  const NcclEnvironment environment = read("NCCL_BUFFSIZE", "4M");
  CHECK(is_refused(environment));
  REQUIRE(environment.notes.size() == 2);
  CHECK(environment.notes[0].text == "'4M' is read as 4, without units or fractions; write the whole number");
  CHECK(environment.notes[1].effect == Effect::refused);
  CHECK(is_refused(read("NCCL_NVLS_CHUNKSIZE", "100")));
  CHECK(is_refused(read("NCCL_LL128_BUFFSIZE", "-5")));
}

TEST_CASE("Channels stay within what NCCL has") {
  CHECK(read("NCCL_MIN_NCHANNELS", "32").least_channels == 32);
  CHECK(read("NCCL_MIN_NCHANNELS", "100").least_channels == 64);
  CHECK(read("NCCL_MIN_NCHANNELS", "100", kOld).least_channels == 32);
  CHECK(read("NCCL_MIN_NCHANNELS", "100").notes.front().effect == Effect::changed);
  CHECK(read("NCCL_MIN_NCHANNELS", "-1").least_channels == 0);
  CHECK(read("NCCL_MAX_NCHANNELS", "0").most_channels == 1);
  CHECK(read("NCCL_MAX_NCHANNELS", "0").notes.front().text == "0 is below 1; NCCL warns and takes 1");
  CHECK(read("NCCL_MAX_NCHANNELS", "-2").most_channels == std::nullopt);
  CHECK(read("NCCL_MAX_NRINGS", "4").most_channels == 4);
  CHECK(nccl_environment({{"NCCL_MAX_NRINGS", "4"}, {"NCCL_MAX_NCHANNELS", "8"}}, kNew).most_channels == 8);
}

TEST_CASE("Numbers of blocks that are too low are passed over, and a minimum above the maximum is lowered") {
  CHECK(read("NCCL_MAX_CTAS", "0").most_blocks == std::nullopt);
  CHECK(read("NCCL_MAX_CTAS", "0").notes.front().effect == Effect::ignored);
  CHECK(read("NCCL_MAX_CTAS", "200").most_blocks == 64);
  const NcclEnvironment both = nccl_environment({{"NCCL_MIN_CTAS", "16"}, {"NCCL_MAX_CTAS", "8"}}, kNew);
  CHECK(both.least_blocks == 8);
  CHECK(both.most_blocks == 8);
  check_note(both, Effect::changed, "16 is more than NCCL_MAX_CTAS; NCCL takes 8 for both");
}

TEST_CASE("Threads are multiples of 32 between 64 and 512, of LL128 between 160 and 640") {
  CHECK(read("NCCL_NTHREADS", "256").threads == 256);
  CHECK(read("NCCL_NTHREADS", "100").threads == 512);
  CHECK(read("NCCL_NTHREADS", "100").notes.front().text == "100 is no multiple of 32; NCCL takes 512");
  CHECK(read("NCCL_NTHREADS", "1024").threads == 512);
  CHECK(read("NCCL_NTHREADS", "32").threads == 64);
  CHECK(read("NCCL_NTHREADS", "0").threads == std::nullopt);
  CHECK(read("NCCL_LL128_NTHREADS", "64").ll128_threads == 160);
}

TEST_CASE("Levels are read by their exact names; other words switch them off") {
  CHECK(read("NCCL_P2P_LEVEL", "NVL").peer_level == NcclPath::nvl);
  CHECK(read("NCCL_NET_GDR_LEVEL", "SYS").direct_level == NcclPath::sys);
  CHECK(read("NCCL_IB_GDR_LEVEL", "PXB").direct_level == NcclPath::pxb);
  CHECK(read("NCCL_P2P_LEVEL", "3").peer_level == NcclPath::phb);
  CHECK(read("NCCL_P2P_LEVEL", "9").peer_level == NcclPath::sys);
  CHECK(read("NCCL_P2P_LEVEL", "3").notes.empty());
  CHECK(read("NCCL_P2P_LEVEL", "nvl").peer_level == NcclPath::loc);
  check_note(
      read("NCCL_P2P_LEVEL", "nvl"), Effect::changed,
      "'nvl' is no level and is read as the number 0, LOC: never; levels are written LOC, NVL, PIX, PXB, PHB and "
      "SYS");
}

TEST_CASE("Switches are read as NCCL does") {
  CHECK(read("NCCL_CROSS_NIC", "1").cross_nic == 1);
  CHECK(read("NCCL_CROSS_NIC", "3").cross_nic == 0);
  CHECK(read("NCCL_CROSS_NIC", "3").notes.front().effect == Effect::changed);
  CHECK_FALSE(read("NCCL_PXN_DISABLE", "1").pxn);
  CHECK(read("NCCL_P2P_PXN_LEVEL", "1").peer_pxn == 1);
  CHECK(read("NCCL_P2P_PXN_LEVEL", "3").peer_pxn == 0);
  CHECK_FALSE(read("NCCL_P2P_DISABLE", "1").peer_access);
  CHECK(read("NCCL_P2P_DISABLE", "2").peer_access);
  CHECK(read("NCCL_COLLNET_ENABLE", "1").collnet);
  CHECK(read("NCCL_PAT_ENABLE", "2").pat == std::nullopt);
  CHECK(read("NCCL_PAT_ENABLE", "1").pat == true);
  CHECK(read("NCCL_NET_OVERHEAD", "1500").network_overhead == doctest::Approx(1.5));
  CHECK(read("NCCL_P2P_LL_THRESHOLD", "0").peer_ll_threshold == Bytes{0});
}

TEST_CASE("Ports of a card are merged unless NCCL_IB_MERGE_NICS or NCCL_NET_MERGE_LEVEL say no, each in its releases") {
  CHECK(nccl_environment({}, kNew).merge_ports);
  CHECK_FALSE(read("NCCL_IB_MERGE_NICS", "0").merge_ports);
  CHECK(read("NCCL_IB_MERGE_NICS", "1").merge_ports);
  CHECK_FALSE(read("NCCL_IB_MERGE_NICS", "0", {2, 20, 3}).merge_ports);
  check_note(read("NCCL_IB_MERGE_NICS", "0", {2, 19, 4}), Effect::ignored,
             "NCCL merges the ports of a card from 2.20 on");
  CHECK_FALSE(read("NCCL_NET_MERGE_LEVEL", "LOC").merge_ports);
  CHECK(read("NCCL_NET_MERGE_LEVEL", "PORT").merge_ports);
  CHECK(read("NCCL_NET_MERGE_LEVEL", "PORT").notes.empty());
  CHECK(read("NCCL_NET_MERGE_LEVEL", "LOC", {2, 23, 4}).merge_ports);
  check_note(read("NCCL_NET_MERGE_LEVEL", "LOC", {2, 23, 4}), Effect::ignored,
             "NCCL reads it from 2.24 on; before, NCCL_IB_MERGE_NICS=0 keeps ports apart");
  check_note(read("NCCL_NET_MERGE_LEVEL", "PIX"), Effect::not_modelled,
             "NICs of several cards are not merged here; write PORT or LOC");
  check_note(
      read("NCCL_NET_MERGE_LEVEL", "port"), Effect::ignored,
      "'port' is none of LOC, PORT, PIX, PXB, P2C, PXN, PHB, SYS; NCCL merges the ports of a card, as with PORT");
}

TEST_CASE("Names that NCCL does not know are named, with the nearest that it does") {
  check_note(read("NCCL_ALOG", "Ring"), Effect::unknown,
             "is no variable of NCCL, which passes over it silently; did you mean NCCL_ALGO?");
  check_note(read("SOMETHING_ELSE_ALTOGETHER", "1"), Effect::unknown,
             "is no variable of NCCL, which passes over it silently");
  check_note(read("NCCL_DEBUG", "INFO"), Effect::not_modelled, "NCCL reads it, but nothing here depends on it");
  CHECK_FALSE(is_refused(read("NCCL_ALOG", "Ring")));
}
