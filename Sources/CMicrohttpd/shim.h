// The header of libmicrohttpd, with functions in place of its variadic functions, which Swift
// cannot call.
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#if MHD_VERSION < 0x00097100
#error "libmicrohttpd 0.9.71 or newer is required"
#endif

// Versions of the header differ in how Swift imports its enumerations.
static const enum MHD_Result composite_http_no = MHD_NO;
static const enum MHD_Result composite_http_yes = MHD_YES;
static const enum MHD_ConnectionNotificationCode composite_http_started =
    MHD_CONNECTION_NOTIFY_STARTED;

typedef void *(*composite_http_target)(void *context, const char *target,
                                       struct MHD_Connection *connection);

// The functions that libmicrohttpd calls on its thread, with the context as their first argument.
typedef struct {
  MHD_AccessHandlerCallback access;
  composite_http_target target;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connection;
} composite_http_functions;

typedef struct {
  unsigned int connections;
  unsigned int connections_per_address;
  // The bytes of memory of a connection, for the header of a request and that of a response.
  size_t memory;
} composite_http_limits;

// Leaves a part of a request target as it is. The package decodes targets itself, exactly once.
static inline size_t composite_http_keep(void *context, struct MHD_Connection *connection,
                                         char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

// Starts a server with one thread on a socket that listens. Returns null, with `errno`, if the
// system refuses the thread or a descriptor. A deadline of a connection is not its task.
static inline struct MHD_Daemon *composite_http_start(int listener, int has_ipv6,
                                                      composite_http_functions functions,
                                                      composite_http_limits limits,
                                                      void *context) {
  unsigned int flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (has_ipv6) flags |= MHD_USE_IPv6;
  errno = 0;
  return MHD_start_daemon(
      flags, 0, NULL, NULL, functions.access, context, MHD_OPTION_LISTEN_SOCKET, listener,
      MHD_OPTION_URI_LOG_CALLBACK, functions.target, context, MHD_OPTION_NOTIFY_COMPLETED,
      functions.completed, context, MHD_OPTION_NOTIFY_CONNECTION, functions.connection, context,
      MHD_OPTION_UNESCAPE_CALLBACK, composite_http_keep, NULL, MHD_OPTION_CONNECTION_LIMIT,
      limits.connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, limits.connections_per_address,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_END);
}

// The object that belongs to a connection; null if there is none.
static inline void *composite_http_object(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static inline int composite_http_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *composite_http_peer(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

// The bytes of the request line and the header of a request.
static inline size_t composite_http_header_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

// Calls the function for each field of the header of a request.
static inline void composite_http_read_header(struct MHD_Connection *connection,
                                              MHD_KeyValueIteratorN function, void *context) {
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, function, context);
}

// A response with a copy of the bytes; null if there is no memory.
static inline struct MHD_Response *composite_http_response(size_t size, const void *bytes) {
  return MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

// Whether the client has closed its end of a connection. Bytes that were received before do not
// hide this on Linux.
static inline int composite_http_is_gone(int socket) {
#ifdef __linux__
  enum { closed = 0x2000 };  // POLLRDHUP
#else
  enum { closed = POLLHUP };
#endif
  struct pollfd event = {.fd = socket, .events = closed};
  return poll(&event, 1, 0) > 0;
}
