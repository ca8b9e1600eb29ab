#include "topologies/fabric/router.hpp"

namespace athanor {

std::string_view name(Routing routing) {
  switch (routing) {
    case Routing::ecmp: return "ecmp";
    case Routing::d_mod_k: return "d_mod_k";
    case Routing::dimension_order: return "dimension_order";
    case Routing::minimal: return "minimal";
    case Routing::valiant: return "valiant";
    case Routing::ugal: return "ugal";
  }
  return "";
}

}  // namespace athanor
