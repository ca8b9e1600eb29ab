#include "algorithms/execution/mpi/endpoints.hpp"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "algorithms/proof/violation.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

/// One message in so many asks for the receiver's answer (MPI_Issend), so that a sender of small messages, which MPI
/// takes at once, cannot fill the receiver's memory.
constexpr std::uint64_t kMessagesPerAnswer = 16;

/// Only moved, never reduced: any type of the size will do.
MPI_Datatype type_of_size(std::size_t size) {
  switch (size) {
    case 1: return MPI_INT8_T;
    case 2: return MPI_INT16_T;
    case 4: return MPI_INT32_T;
    case 8: return MPI_INT64_T;
    default: break;
  }
  require(false, "elements of {} bytes", size);
  return MPI_BYTE;
}

}  // namespace

MpiEndpoints::MpiEndpoints(const Communicator& communicator, const Wiring& wiring, const AgentCount& agent_count,
                           std::uint32_t slots, std::size_t element_size)
    : communicator_(communicator),
      wiring_(wiring),
      agent_count_(agent_count),
      slots_(slots),
      type_(type_of_size(element_size)),
      element_size_(static_cast<std::int64_t>(element_size)),
      inbound_(wiring.receivers.size()),
      outbound_(wiring.receivers.size()) {
  number_connections();
  received_.resize(in_.size() * slots_);
  lent_.resize(out_.size() * slots_);
  requests_.assign(received_.size() + lent_.size(), MPI_REQUEST_NULL);
  require(requests_.size() <= std::numeric_limits<int>::max(), "{} requests", requests_.size());
  completed_.resize(requests_.size());
  statuses_.resize(requests_.size());
}

std::uint32_t MpiEndpoints::process_of(std::uint32_t lane) const {
  return wiring_.lanes[lane].agent.value % communicator_.size();
}

/// In the order of the wiring, which all processes have alike.
void MpiEndpoints::number_connections() {
  std::vector<std::uint32_t> from(communicator_.size());
  std::vector<std::uint32_t> to(communicator_.size());
  for (std::uint32_t connection = 0; connection < wiring_.receivers.size(); ++connection) {
    const std::uint32_t sender = process_of(wiring_.senders[connection]);
    const std::uint32_t receiver = process_of(wiring_.receivers[connection]);
    if (receiver == communicator_.rank()) {
      inbound_[connection] = static_cast<std::uint32_t>(in_.size());
      in_.push_back({connection, static_cast<int>(sender), tag(from, sender), 0, 0});
    }
    if (sender == communicator_.rank()) {
      outbound_[connection] = static_cast<std::uint32_t>(out_.size());
      out_.push_back({connection, static_cast<int>(receiver), tag(to, receiver), 0});
    }
  }
}

int MpiEndpoints::tag(std::vector<std::uint32_t>& numbers, std::uint32_t peer) const {
  const std::int64_t number = numbers[peer]++;
  if (number > Communicator::largest_tag()) {
    throw SimulationError("mpi", fmt::format("two processes share more than {} connections, and this MPI library has "
                                             "no more tags; use fewer channels",
                                             Communicator::largest_tag()));
  }
  return static_cast<int>(number);
}

void MpiEndpoints::reset() {
  require(sends_under_way_ == 0, "{} sends under way", sends_under_way_);
  for (Inbound& in : in_) {
    require(in.posted == in.taken, "a receive without a message");
    in.posted = in.taken = 0;
  }
  for (Outbound& out : out_) { out.sent = 0; }
}

int MpiEndpoints::countable(std::uint32_t connection, Elements count) const {
  if (count.count() <= std::numeric_limits<int>::max()) { return static_cast<int>(count.count()); }
  throw SimulationError(
      "mpi", fmt::format("a message of {} elements on connection {}: MPI counts to {}; cut the payload into smaller "
                         "chunks",
                         count.count(), connection, std::numeric_limits<int>::max()));
}

void MpiEndpoints::post(std::uint32_t connection, const Message& to) {
  Inbound& in = in_[inbound_[connection]];
  require(in.posted - in.taken < slots_, "receive {} of connection {} without a slot", in.posted, connection);
  const std::size_t place = in_place(inbound_[connection], in.posted++);
  received_[place] = {to, false};
  check_mpi(MPI_Irecv(to.data, countable(connection, to.count), type_, in.source, in.tag, communicator_.get(),
                      &requests_[place]),
            "MPI_Irecv");
}

const MpiEndpoints::Message* MpiEndpoints::arrived(std::uint32_t connection) const {
  const std::uint32_t in = inbound_[connection];
  if (in_[in].taken == in_[in].posted) { return nullptr; }
  const Posted& next = received_[in_place(in, in_[in].taken)];
  return next.arrived ? &next.message : nullptr;
}

void MpiEndpoints::take(std::uint32_t connection) {
  require(arrived(connection) != nullptr, "connection {} has no message to take", connection);
  ++in_[inbound_[connection]].taken;
}

bool MpiEndpoints::may_send(std::uint32_t connection) const {
  const std::uint32_t out = outbound_[connection];
  return requests_[received_.size() + out_place(out, out_[out].sent)] == MPI_REQUEST_NULL;
}

void MpiEndpoints::send(std::uint32_t connection, const std::byte* from, Elements count) {
  Outbound& out = out_[outbound_[connection]];
  const std::size_t place = out_place(outbound_[connection], out.sent);
  MPI_Request& request = requests_[received_.size() + place];
  require(request == MPI_REQUEST_NULL, "message {} of connection {} without a slot", out.sent, connection);
  const bool answered = out.sent++ % kMessagesPerAnswer == kMessagesPerAnswer - 1;
  const auto post = answered ? &MPI_Issend : &MPI_Isend;
  check_mpi(post(from, countable(connection, count), type_, out.destination, out.tag, communicator_.get(), &request),
            answered ? "MPI_Issend" : "MPI_Isend");
  lent_[place] = {from, from + count.count() * element_size_};
  ++sends_under_way_;
}

bool MpiEndpoints::lent(const std::byte* first, std::size_t bytes) const {
  if (sends_under_way_ == 0 || bytes == 0) { return false; }
  return std::any_of(lent_.begin(), lent_.end(),
                     [&](const Lent& range) { return range.first < first + bytes && first < range.end; });
}

std::uint32_t MpiEndpoints::unsent() const {
  const auto first = std::find_if(requests_.begin() + static_cast<std::ptrdiff_t>(received_.size()), requests_.end(),
                                  [](const MPI_Request& request) { return request != MPI_REQUEST_NULL; });
  require(first != requests_.end(), "no send is under way");
  const auto place = static_cast<std::size_t>(first - requests_.begin()) - received_.size();
  return out_[place / slots_].connection;
}

std::span<const std::uint32_t> MpiEndpoints::poll() {
  lanes_.clear();
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, completed_.data(), statuses_.data());
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) { check_mpi(code, "MPI_Testsome"); }
  if (count == MPI_UNDEFINED) { return lanes_; }
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(completed_[static_cast<std::size_t>(i)]);
    MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    if (code == MPI_SUCCESS) { status.MPI_ERROR = MPI_SUCCESS; }  // the library writes it only where one has failed
    if (index < received_.size()) {
      complete_receive(index, status);
    } else {
      check_mpi(status.MPI_ERROR, "MPI_Isend");
      complete_send(index - received_.size());
    }
  }
  return lanes_;
}

void MpiEndpoints::complete_receive(std::size_t place, const MPI_Status& status) {
  const Inbound& in = in_[place / slots_];
  Posted& posted = received_[place];
  int count = 0;
  int error_class = MPI_SUCCESS;
  check_mpi(MPI_Error_class(status.MPI_ERROR, &error_class), "MPI_Error_class");
  if (error_class != MPI_ERR_TRUNCATE) {
    check_mpi(status.MPI_ERROR, "MPI_Irecv");
    check_mpi(MPI_Get_count(&status, type_, &count), "MPI_Get_count");
  }
  if (error_class == MPI_ERR_TRUNCATE || count != posted.message.count.count()) {
    const WiredLane& sender = wiring_.lanes[wiring_.senders[in.connection]];
    const WiredLane& receiver = wiring_.lanes[wiring_.receivers[in.connection]];
    throw SimulationError("matching", fmt::format("matching at {}: receives {} elements where {} has sent {}",
                                                  describe(agent_count_, {receiver.agent, receiver.lane, {}, {}}),
                                                  posted.message.count.count(),
                                                  describe(agent_count_, {sender.agent, sender.lane, {}, {}}),
                                                  error_class == MPI_ERR_TRUNCATE ? "more" : fmt::format("{}", count)));
  }
  posted.arrived = true;
  lanes_.push_back(wiring_.receivers[in.connection]);
}

void MpiEndpoints::complete_send(std::size_t place) {
  lent_[place] = {};
  --sends_under_way_;
  lanes_.push_back(wiring_.senders[out_[place / slots_].connection]);
}

}  // namespace athanor
