#include <doctest/doctest.h>

#include "models/network/packet/packet_settings.hpp"
#include "sim/json/document.hpp"

using namespace athanor;
using namespace athanor::literals;

namespace {

/// What is wrong with a transport, or "".
std::string fault(const std::string& transport) {
  const Document document = Document::parse(R"({"transport": )" + transport + "}", "here");
  Problems problems;
  PacketSettings settings;
  read_document(document, problems, [&](ObjectReader& reader) { read(reader, settings); });
  return problems.empty() ? "" : problems.list().front().place.pointer + ": " + problems.list().front().message;
}

}  // namespace

TEST_CASE("parts of a transport that do not go together are refused where they stand") {
  CHECK(fault(R"({"control": "dctcp", "recovery": "selective", "initial_window": "40KiB"})").empty());
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
