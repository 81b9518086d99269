// The header of libcurl, with functions in place of its macros for variadic functions, which Swift
// cannot call.
#include <curl/curl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x075000
#error "libcurl 7.80 or newer is required"
#endif

#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt
#undef curl_share_setopt

static inline CURLcode composite_curl_set_number(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode composite_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(handle, option, value);
}

// libcurl copies strings. Other memory must exist as long as the handle uses it.
static inline CURLcode composite_curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode composite_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}

static inline CURLcode composite_curl_set_transfer(CURL *handle, CURLoption option,
                                                   curl_write_callback value) {
  return curl_easy_setopt(handle, option, value);
}

typedef int (*composite_curl_start)(void *context, char *remote, char *local, int remote_port,
                                    int local_port);

// Sets the function that is called on a connection, before a request is sent.
static inline CURLcode composite_curl_set_start(CURL *handle, composite_curl_start value) {
  return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

// Sets the function that is called with the messages for people.
static inline void composite_curl_set_messages(CURL *handle, curl_debug_callback value) {
  curl_easy_setopt(handle, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, value);
}

// What a message says about a stream of HTTP/2. No result code of libcurl says it.
typedef enum {
  composite_stream_unknown,
  // The request is sent on the stream with the number.
  composite_stream_opened,
  // The server takes no further streams, and processes none after the number.
  composite_stream_limit,
  // The server has refused the stream of the request.
  composite_stream_refused,
  // libcurl sends the request again, maybe on another connection.
  composite_stream_ended,
} composite_stream_news;

// Reads a message. The texts are those of libcurl 7.80 to 8.22; nothing is concluded from others.
static inline composite_stream_news composite_curl_read_message(const char *bytes, size_t size,
                                                                unsigned *number) {
  char text[96];
  if (size >= sizeof text) size = sizeof text - 1;
  memcpy(text, bytes, size);
  text[size] = 0;
  int end = 0;
  if (sscanf(text, "Using Stream ID: %u", number) == 1) return composite_stream_opened;
  if (sscanf(text, "[HTTP/2] [%u] OPENED stream%n", number, &end) == 1 && end > 0)
    return composite_stream_opened;
  if (sscanf(text, "received GOAWAY, error=%*u, last_stream=%u", number) == 1
      || sscanf(text, "recveived GOAWAY, error=%*u, last_stream=%u", number) == 1)
    return composite_stream_limit;
  if (sscanf(text, "HTTP/2 stream %u refused by server%n", number, &end) == 1 && end > 0)
    return composite_stream_refused;
  if (!strncmp(text, "REFUSED_STREAM, retrying", 24)) return composite_stream_refused;
  if (!strncmp(text, "Connection died", 15)) return composite_stream_ended;
  return composite_stream_unknown;
}

// Sets the function that makes the socket of a connection.
static inline void composite_curl_set_connect(CURL *handle, curl_opensocket_callback connect) {
  curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, connect);
}

// Makes the socket of a connection, which a child process does not inherit.
static inline curl_socket_t composite_curl_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Sets what is the same for every request, as far as this version of libcurl knows it.
static inline void composite_curl_set_defaults(CURL *handle) {
  // No signals: they belong to the program.
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  // Paths are sent as they are, bodies stay encoded, and nothing but HTTP is requested.
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_HTTP_CONTENT_DECODING, 0L);
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
  // Otherwise the end of a request waits for the lookup of its host.
  curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

static inline long composite_curl_number(CURL *handle, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

// Makes the transfers of a share have the same cookies.
static inline CURLSHcode composite_curl_share_cookies(CURLSH *share) {
  return curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
}

// A time in microseconds.
static inline curl_off_t composite_curl_time(CURL *handle, CURLINFO info) {
  curl_off_t value = 0;
  return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline void *composite_curl_private(CURL *handle) {
  void *value = 0;
  return curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : 0;
}

static inline CURLMcode composite_curl_multi_set_number(CURLM *multi, CURLMoption option,
                                                        long value) {
  return curl_multi_setopt(multi, option, value);
}

// Sets the functions that watch a socket, and that set the time of the next work.
static inline void composite_curl_multi_set_functions(CURLM *multi, curl_socket_callback watch,
                                                      curl_multi_timer_callback timer,
                                                      void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

enum { composite_events_limit = 64 };

// A socket that is ready, with the bits that libcurl has for this.
typedef struct {
  int socket;
  int bits;
} composite_event;

// Watches a socket in a set of `epoll`, or changes its watch, with the bits of a socket function of
// libcurl.
static inline int composite_watch(int set, int change, int socket, int bits) {
  struct epoll_event event = {.data.fd = socket};
  if (bits & CURL_POLL_IN) event.events |= EPOLLIN;
  if (bits & CURL_POLL_OUT) event.events |= EPOLLOUT;
  return epoll_ctl(set, change, socket, &event);
}

// Waits until a socket of the set is ready. Returns the number of ready sockets, which are stored in
// the array.
static inline int composite_wait(int set, composite_event *ready, int milliseconds) {
  struct epoll_event events[composite_events_limit];
  int count = epoll_wait(set, events, composite_events_limit, milliseconds);
  for (int i = 0; i < count; i++) {
    ready[i].socket = events[i].data.fd;
    ready[i].bits = 0;
    if (events[i].events & EPOLLIN) ready[i].bits |= CURL_CSELECT_IN;
    if (events[i].events & EPOLLOUT) ready[i].bits |= CURL_CSELECT_OUT;
    if (events[i].events & (EPOLLERR | EPOLLHUP)) ready[i].bits |= CURL_CSELECT_ERR;
  }
  return count < 0 ? 0 : count;
}

// The handle and the result of a transfer that has ended, in the order of their ends. Returns the
// handle; null if there is no other.
static inline CURL *composite_curl_next_end(CURLM *multi, CURLcode *result) {
  int rest;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &rest));) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    return message->easy_handle;
  }
  return 0;
}

// Whether a socket has the port, and bytes or the end of the connection can be read from it.
static inline int composite_curl_has_unread_bytes(curl_socket_t socket, int port) {
  union {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
    struct sockaddr_storage storage;
  } address;
  socklen_t length = sizeof address;
  if (getsockname(socket, &address.any, &length) != 0) return 0;
  int own = address.any.sa_family == AF_INET    ? ntohs(address.ip4.sin_port)
            : address.any.sa_family == AF_INET6 ? ntohs(address.ip6.sin6_port)
                                                : -1;
  char byte;
  return own == port && recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

// Prevents that a connection which is lost while the calling thread writes to it ends the process.
static inline void composite_block_sigpipe(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
}
