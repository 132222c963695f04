//! The catalogue of the metrics that a server has once: the name, kind and help text of each.

use crate::matches::telemetry::catalogue::catalogue;

catalogue! {
    ADMIN_REQUESTS = counter "game_admin_requests_total",
        "Requests to the admin interface, by request and outcome.";
    CERTIFICATE_EXPIRY = gauge "game_certificate_expiry_timestamp_seconds",
        "When the certificate that clients are shown ends, in seconds since 1970.";
    LOG_LINES_LOST = counter "game_log_lines_lost_total",
        "Lines that are not in the log, by reason.";
    PROCESS_CPU = gauge "game_process_cpu_seconds",
        "Processor time that the server has used since it began, over all threads.";
    PROCESS_DESCRIPTORS = gauge "game_process_open_descriptors", "Files and sockets open.";
    PROCESS_DESCRIPTOR_LIMIT = gauge "game_process_descriptor_limit",
        "Files and sockets that the system lets the server open.";
    PROCESS_MEMORY = gauge "game_process_resident_memory_bytes", "Memory that the server holds.";
    PROCESS_START = gauge "game_process_start_time_seconds",
        "When the server started, in seconds since 1970.";
    PROCESS_THREADS = gauge "game_process_threads", "Threads of the server.";
    PROXY_DATAGRAMS_DROPPED = counter "game_proxy_datagrams_dropped_total",
        "Datagrams of proxies that were dropped: a wrong header, or no room for another client.";
    UDP_RECEIVE_DROPS = counter "game_udp_receive_drops_total",
        "Datagrams that the kernel threw away because the server's UDP buffer was full.";
    WEBHOOK_POSTS = counter "game_webhook_posts_total", "Posts to the webhook, by outcome.";
}
