#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "models/network/network_settings.hpp"
#include "models/network/packet/packet_settings.hpp"
#include "sim/config/document.hpp"
#include "tests/json_text.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// The first that is wrong, or "".
template <class Settings>
std::string fault_of(const std::string& network, Settings& settings) {
  const Document document = Document::parse(network, "here");
  Problems problems;
  read_document(document, problems, [&](Fields& fields) { visit(fields, settings); });
  return problems.empty() ? "" : problems.list().front().place.pointer + ": " + problems.list().front().message;
}

std::string fault(const std::string& transport) {
  PacketSettings settings;
  return fault_of(R"({"transport": )" + transport + "}", settings);
}

PacketSettings settings_of(const std::string& network) {
  PacketSettings settings;
  CHECK(fault_of(network, settings).empty());
  return settings;
}

}  // namespace

TEST_CASE("parts of a transport that do not go together are refused where they stand") {
  CHECK(fault(R"({"control": "newreno", "recovery": "selective", "initial_window": "40KiB"})").empty());
  CHECK(fault(R"({"recovery": "selective", "acknowledge_every": 2})") ==
        "/transport/acknowledge_every: selective recovery acknowledges every packet");
  CHECK(fault(R"({"spray": true})").starts_with("/transport/spray: packets that take many paths come in any order"));
  CHECK(fault(R"({"spray": true, "recovery": "selective"})").empty());
  CHECK(fault(R"({"window": "8KiB", "acknowledge_every": 4})")
            .starts_with("/transport/acknowledge_every: the window is full before a packet is acknowledged"));
  CHECK(fault(R"({"window": "16KiB", "acknowledge_every": 4})").empty());
  CHECK(fault(R"({"control": "cubic", "initial_window": "1KiB"})") == "/transport/initial_window: less than a packet");
  CHECK(fault(R"({"control": "pull"})") ==
        "/transport/control: receivers that ask for single packets need selective recovery");
  CHECK(fault(R"({"control": "cubik"})").find("cubik") != std::string::npos);
}

TEST_CASE("the error of what is skipped lies between none and a tenth, and is none unless it is said") {
  NetworkSettings settings;
  CHECK(settings.skip_error == Ratio{0, 1});
  CHECK(fault_of(R"({"skip_error": 0.01})", settings).empty());
  CHECK(settings.skip_error == Ratio{1, 100});
  for (const char* wrong : {"-0.01", "0.11", "1"}) {
    CHECK(fault_of(R"({"skip_error": )" + std::string(wrong) + "}", settings).starts_with("/skip_error: "));
  }
}

TEST_CASE("presets of transports are defaults: what stands beside them wins") {
  using Recovery = TransportSpec::Recovery;
  const TransportSpec infiniband = settings_of(R"({"transport": {"preset": "infiniband_rc"}})").transport;
  CHECK(infiniband.payload + infiniband.header == 4122_B);
  CHECK(infiniband.recovery == Recovery::go_back_n);
  const TransportSpec roce =
      settings_of(
          R"({"transport": {"preset": "roce_v2", "payload": "1KiB"}, "switches": {"marking": {"from": "5kB", "to": "9kB"}}})")
          .transport;
  CHECK(roce.control->words().name == "dcqcn");
  CHECK(roce.payload + roce.header == 1106_B);
  const TransportSpec tcp =
      settings_of(
          R"({"transport": {"control": "dctcp", "preset": "tcp"}, "switches": {"marking": {"from": "5kB", "to": "9kB"}}})")
          .transport;
  CHECK(tcp.control->words().name == "dctcp");
  CHECK(tcp.recovery == Recovery::selective);
  CHECK(tcp.payload + tcp.header == 1538_B);  // an Ethernet frame of 1500 bytes with all that is around it
  CHECK(fault(R"({"preset": "rocev2"})").find("rocev2") != std::string::npos);
}

TEST_CASE("parameters of a control are those of its paper where the scenario says nothing else") {
  PacketSettings settings;
  const nlohmann::json schema = tree_of(describe_schema("x", [&](Fields& fields) { visit(fields, settings); }));
  const auto usual = [&](const char* control, const char* key) {
    return schema.at("properties").at("transport").at("properties").at(control).at("properties").at(key).at("default");
  };
  CHECK(usual("hpcc", "utilisation") == 0.95);
  CHECK(usual("hpcc", "most_stages") == 5);
  CHECK(usual("dcqcn", "gain") == 1.0 / 256);
  CHECK(usual("dcqcn", "increase_interval") == "55 us");
  CHECK(usual("swift", "decrease") == 0.8);
  CHECK(fault(R"({"hpcc": {"utilisation": 2}})").starts_with("/transport/hpcc/utilisation"));
  CHECK(fault(R"({"control": "swift", "dcqcn": {"gain": 2}})").starts_with("/transport/dcqcn/gain"));
}

TEST_CASE("packets of PCIe and NVLink are those of the scenario") {
  const PacketSettings settings =
      settings_of(R"({"pcie": {"payload": "512B", "overhead": "20B"}, "nvlink": {"payload": "128B"}})");
  CHECK(settings.pcie.unit == 512);
  CHECK(settings.pcie.overhead == 20);
  CHECK(settings.nvlink.unit == 128);
  CHECK(settings.nvlink.overhead == 16);
  PacketSettings wrong;
  CHECK(fault_of(R"({"pcie": {"payload": "130B"}})", wrong) == "/pcie/payload: no multiple of 4 B");
  CHECK(fault_of(R"({"nvlink": {"payload": "512B"}})", wrong).starts_with("/nvlink/payload"));
}

TEST_CASE("credits: a buffer holds a packet at least, and nothing that has to do with losses stands beside them") {
  const auto switches = [](const std::string& keys) {
    PacketSettings settings;
    return fault_of(R"({"switches": {"flow_control": "credits", )" + keys + "}}", settings);
  };
  CHECK(switches(R"("lane_buffer": "8KiB")").empty());
  CHECK(switches(R"("lane_buffer": "4KiB")") ==
        "/switches: a packet of 4160 B never fits into a \"lane_buffer\" of 4 KiB");
  CHECK(switches(R"("trims": true)").starts_with("/switches/trims"));
  CHECK(switches(R"("buffer": "1MiB")").starts_with("/switches/buffer"));
  CHECK(fault(R"({"class": 4})").starts_with("/transport/class"));
}

TEST_CASE("no buffer is smaller than a packet, and who slows down by marks needs switches that mark") {
  const auto faults = [](const std::string& network) {
    PacketSettings settings;
    return fault_of(network, settings);
  };
  CHECK(faults(R"({"switches": {"flow_control": "none", "queue": "4KiB"}})") ==
        "/switches: a packet of 4160 B never fits into a \"queue\" of 4 KiB");
  CHECK(faults(R"({"switches": {"buffer": "4KiB"}})") ==
        "/switches: a packet of 4160 B never fits into a \"buffer\" of 4 KiB");
  CHECK(faults(R"({"switches": {"flow_control": "none", "queue": "4160B"}})").empty());
  CHECK(fault(R"({"preset": "roce_v2"})").starts_with("/transport: its control slows down for packets"));
  CHECK(fault(R"({"control": "dctcp", "recovery": "selective"})").starts_with("/transport: its control slows down"));
}

TEST_CASE("switches that balance load need a transport that stands the order that comes of it") {
  const auto faults = [](const std::string& network) {
    PacketSettings settings;
    return fault_of(network, settings);
  };
  CHECK(faults(R"({"switches": {"load_balancing": "adaptive"}})").starts_with("/switches: packets that switches send"));
  CHECK(faults(R"({"switches": {"load_balancing": "flowlets", "flowlet_gap": "10us"}})").empty());
  CHECK(faults(R"({"transport": {"recovery": "selective", "spray": true}, "switches": {"load_balancing": "adaptive"}})")
            .starts_with("/switches: with \"spray\" hosts choose"));
  const PacketSettings settings =
      settings_of(R"({"transport": {"recovery": "selective"}, "switches": {"load_balancing": "adaptive"}})");
  CHECK(settings.transport.any_order);
  CHECK_FALSE(settings_of(R"({"switches": {"load_balancing": "flowlets"}})").transport.any_order);
}
