#include "models/traces/chakra/node.hpp"
#include "sim/error.hpp"

namespace athanor {

bool reads_chakra_protobuf() { return false; }

namespace {

[[noreturn]] void refuse(const std::string& file) {
  throw ScenarioError(Problem{"no-protobuf",
                              "this build has no protobuf",
                              {file, 0, 0, ""},
                              "install protobuf-compiler and libprotobuf-dev and set the build up anew"});
}

}  // namespace

void read_chakra_protobuf(ByteSource& source, const TakeChakraNode&) { refuse(source.path()); }

std::string chakra_protobuf_head() { refuse(""); }

void append_chakra_protobuf(const ChakraNode&, std::string&) {}

}  // namespace athanor
