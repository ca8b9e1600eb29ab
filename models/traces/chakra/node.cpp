#include "models/traces/chakra/node.hpp"

namespace athanor {

void ChakraNode::set(std::string_view attribute, std::int64_t value) {
  if (attribute == "is_cpu_op") {
    cpu = value != 0;
  } else if (attribute == "num_ops") {
    operations = value;
  } else if (attribute == "tensor_size") {
    tensor_size = value;
  } else if (attribute == "comm_type") {
    collective_type = value;
  } else if (attribute == "comm_size") {
    size = value;
  } else if (attribute == "comm_src") {
    from = value;
  } else if (attribute == "comm_dst") {
    to = value;
  } else if (attribute == "comm_tag") {
    tag = value;
  } else if (attribute == "root_rank" || attribute == "root") {
    root = value;
  }
}

}  // namespace athanor
