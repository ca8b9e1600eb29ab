#include "models/traces/chakra/node.hpp"
#include "sim/error.hpp"

namespace athanor {

bool reads_chakra_protobuf() { return false; }

void read_chakra_protobuf(ByteSource& source, const TakeChakraNode&) {
  throw ScenarioError(Problem{"no-protobuf",
                              "this build reads no protobuf",
                              {source.path(), 0, 0, ""},
                              "install protobuf-compiler and libprotobuf-dev and set the build up anew"});
}

}  // namespace athanor
