#include "cli/stream/listen.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <memory>

#include "cli/terminal/output.hpp"

namespace maxmargin::cli::streaming {
namespace {

constexpr int listen_patience = 100;                       // milliseconds
constexpr std::size_t most_unread = std::size_t{1} << 18;  // bytes of unread answers
constexpr std::size_t turn_lines = 64;                     // before the next connection's turn

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

struct Connection {
  Connection(int descriptor, std::string name, const FeedOptions& options)
      : socket(descriptor), feed(std::move(name), options) {}

  Descriptor socket;
  Feed feed;
  std::string answers;
  bool unread = false;   ///< its unread answers were reported
  bool ended = false;    ///< it sends no more
  bool closing = false;  ///< closed when its answers are gone
  bool broken = false;
};

[[noreturn]] void fail_to_listen(const std::string& where) {
  throw Error(Fault::io, fmt::format("cannot listen at {}: {}", where, std::strerror(errno)),
              "choose another --listen HOST:PORT");
}

std::string shown_address(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
              NI_NUMERICHOST | NI_NUMERICSERV);
  return fmt::format("{}:{}", host, port);
}

int open_socket(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const std::string host = where.substr(0, colon), port = where.substr(colon + 1);
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  if (const int code = getaddrinfo(host.c_str(), port.c_str(), &wanted, &found); code != 0)
    throw Error(Fault::usage,
                fmt::format("--listen: '{}' is no address: {}", where, gai_strerror(code)),
                "write 127.0.0.1:7000");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  const int made = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) fail_to_listen(where);
  const int yes = 1;
  setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(made, found->ai_addr, found->ai_addrlen) != 0 || listen(made, 16) != 0) {
    close(made);
    fail_to_listen(where);
  }
  return made;
}

void send_answers(Connection& connection) {
  while (!connection.answers.empty()) {
    const ssize_t sent = send(connection.socket.number(), connection.answers.data(),
                              connection.answers.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      connection.broken = errno != EAGAIN && errno != EWOULDBLOCK;
      return;
    }
    connection.answers.erase(0, static_cast<std::size_t>(sent));
  }
}

void receive(Connection& connection) {
  char bytes[1 << 16];
  const ssize_t got = recv(connection.socket.number(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got > 0) {
    connection.feed.append({bytes, static_cast<std::size_t>(got)});
  } else if (got == 0) {
    connection.feed.finish();
    connection.ended = true;
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    connection.broken = true;
  }
}

/// Some rows of a connection. True: more of them may be complete.
bool take_turn(Connection& connection, Session& session, std::size_t most_bytes) {
  const Answer answer = [&](std::string_view line) { connection.answers += line; };
  const auto complain = [&](const Error& error) {
    std::string text = error.what();
    for (char& c : text)
      if (c == '\n' || c == '\r') c = ' ';
    connection.answers += "error: " + text + "\n";
    warn(text + " (skipped)");
  };
  FeedBatch batch;
  try {
    if (!connection.feed.next(batch, turn_lines)) return false;
    session.take(batch, connection.feed, answer, complain);
    // A line without an end: nothing that follows it is read.
    if (batch.fault && connection.feed.waiting_bytes() == 0 && batch.rows.count == 0 &&
        connection.feed.offset() - connection.feed.fault_offset() > most_bytes) {
      warn(connection.feed.name() + " is closed: its line does not end");
      connection.closing = true;
    }
    return true;
  } catch (const Error& error) {
    complain(error);
    connection.closing = true;
    return false;
  }
}

class Server {
 public:
  Server(const StreamArguments& arguments, Session& session)
      : arguments_(arguments), session_(session), socket_(open_socket(arguments.listen)) {}

  std::string address() const { return shown_address(socket_.number()); }

  void round() {
    std::vector<pollfd> waiting;
    const bool room = connections_.size() < arguments_.connections;
    waiting.push_back({socket_.number(), static_cast<short>(room ? POLLIN : 0), 0});
    for (const Connection& each : connections_) {
      short events = each.answers.empty() ? 0 : POLLOUT;
      if (listens_to(each)) events = static_cast<short>(events | POLLIN);
      waiting.push_back({each.socket.number(), events, 0});
    }
    const int ready = poll(waiting.data(), waiting.size(), busy_ ? 0 : listen_patience);
    if (ready > 0 && (waiting[0].revents & POLLIN) != 0) accept_one();
    busy_ = false;
    std::size_t at = 1;
    for (auto each = connections_.begin(); each != connections_.end() && at < waiting.size();
         ++at) {
      const short events = ready > 0 ? waiting[at].revents : static_cast<short>(0);
      serve_one(*each, events);
      each = is_over(*each) ? connections_.erase(each) : std::next(each);
    }
  }

 private:
  static bool listens_to(const Connection& connection) {
    return !connection.ended && !connection.closing && connection.answers.size() < most_unread &&
           connection.feed.waiting_bytes() < most_unread;
  }
  static bool is_over(const Connection& connection) {
    return connection.broken ||
           ((connection.closing || (connection.ended && connection.feed.waiting_bytes() == 0)) &&
            connection.answers.empty());
  }

  void accept_one() {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int made = accept4(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (made < 0) return;
    const int kept =
        static_cast<int>(most_unread);  // further answers wait in this process, not in the kernel
    setsockopt(made, SOL_SOCKET, SO_SNDBUF, &kept, sizeof kept);
    connections_.emplace_back(made, fmt::format("connection {}", ++count_), arguments_.feed());
  }

  void serve_one(Connection& connection, short events) {
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && listens_to(connection)) receive(connection);
    if (!connection.closing && connection.answers.size() < most_unread)
      busy_ = take_turn(connection, session_, arguments_.most_bytes) || busy_;
    if (!connection.answers.empty()) send_answers(connection);
    if (connection.answers.size() < most_unread || connection.unread) return;
    connection.unread = true;
    warn(connection.feed.name() + " does not read its answers; it has to wait until it does");
  }

  const StreamArguments& arguments_;
  Session& session_;
  Descriptor socket_;
  std::list<Connection> connections_;
  std::uint64_t count_ = 0;
  bool busy_ = false;
};

}  // namespace

void serve(const StreamArguments& arguments, Session& session, const StopRequest& stop,
           const std::function<void(const std::string&)>& told,
           const std::function<void()>& moment) {
  Server server(arguments, session);
  told(server.address());
  while (!stop.made()) {
    server.round();
    moment();
  }
}

}  // namespace maxmargin::cli::streaming
