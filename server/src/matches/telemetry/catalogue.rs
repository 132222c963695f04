//! The catalogue of the metrics of matches and of their threads: the name, kind and help text of
//! each.

/// Declares the name of every metric with its kind and the sentence that
/// Prometheus shows.
macro_rules! catalogue {
    ($($constant:ident = $kind:ident $name:literal, $help:literal;)*) => {
        $(pub(crate) const $constant: &str = $name;)*

        /// Describes each metric to the current recorder.
        pub(crate) fn describe() {
            $(catalogue!(@describe $kind $name, $help);)*
        }
    };
    (@describe counter $name:literal, $help:literal) => { metrics::describe_counter!($name, $help) };
    (@describe gauge $name:literal, $help:literal) => { metrics::describe_gauge!($name, $help) };
    (@describe histogram $name:literal, $help:literal) => { metrics::describe_histogram!($name, $help) };
}
pub(crate) use catalogue;

catalogue! {
    BUILD_INFO = gauge "game_build_info", "Always 1; the label holds the version of the server.";
    MAP_INFO = gauge "game_map_info", "1 for the current map, 0 for earlier ones; the labels hold name and hash.";
    TICK_RATE = gauge "game_tick_rate_hertz", "Ticks a second that the server aims at.";
    MAX_PLAYERS = gauge "game_max_players", "Players that the match holds.";

    MAP_LOAD = gauge "game_map_load_seconds", "Time that loading the map took, or compiling it.";

    OUTGOING_BYTES = counter "game_outgoing_bytes_total",
        "Bytes that were charged to the budgets of outgoing bytes, by kind.";
    PAGE_PLACES_LOST = counter "game_page_places_lost_total",
        "Connections to the pages that were closed to make room for others.";

    TICK_DURATION = histogram "game_tick_duration_seconds", "Time that a tick took to simulate.";
    TICK_PHASE = histogram "game_tick_phase_seconds",
        "Time that each part of the work for a tick took, for all clients together.";
    TICK_DELAY = histogram "game_tick_delay_seconds", "How long after its deadline a tick began.";
    TICKS = counter "game_ticks_total", "Ticks simulated.";
    TICK_OVERRUNS = counter "game_tick_overruns_total",
        "Ticks that were not done when the next one was due.";
    TICKS_DROPPED = counter "game_ticks_dropped_total",
        "Ticks left out because the server had fallen too far behind.";
    TICK_QUANTILES = gauge "game_tick_duration_last_minute_seconds",
        "Median and 99th percentile of the time that the last minute's ticks took.";
    TICK_AGE = gauge "game_tick_age_seconds", "Time since the last tick was finished.";
    MATCH_FAILED = gauge "game_match_failed",
        "1 if the match has failed while others of the server are played, else 0.";
    TICK_STALLS = counter "game_tick_stalls_total",
        "Stalls: periods of a second or more in which no tick was finished.";

    ENTITIES = gauge "game_entities", "Entities in the match, by kind.";
    AWAKE = gauge "game_props_awake", "Props that are awake.";
    AWAKE_BECAUSE = gauge "game_props_awake_because", "Props that are awake, by the reason why they are awake.";
    BODIES_COST = gauge "game_bodies_cost",
        "Estimated cost of the last tick's bodies: awake bodies, pairs that touch, and sub-steps that loads add.";
    DEGRADED_ISLANDS = gauge "game_degraded_islands",
        "Islands of bodies that the last tick simulated more cheaply, because of overload.";
    HALF_RATE_BODIES = gauge "game_half_rate_bodies",
        "Bodies of degraded islands that are simulated at half rate.";
    LIMBO = gauge "game_entities_limbo", "Entities that wait for a free place.";
    STUCK_PLAYERS = gauge "game_stuck_players",
        "Players who ask to move in sixteen directions and jump for two seconds, and do not move.";
    CASCADE_TESTS = counter "game_cascade_tests_total",
        "Pairs that a stage of the filter cascade tested.";
    CASCADE_DEFINITIVE = counter "game_cascade_definitive_total",
        "Pairs that a stage of the filter cascade decided.";
    IMPACT_QUERIES = counter "game_impact_queries_total", "Time-of-impact queries.";
    IMPACT_ITERATIONS = counter "game_impact_iterations_total",
        "Time intervals examined by time-of-impact queries.";
    BLOCKED_MOVES = counter "game_blocked_moves_total", "Moves that an obstacle cut short.";
    EMERGENCY_REPLACEMENTS = counter "game_emergency_replacements_total",
        "Entities taken out of an overlap and put back elsewhere; should stay zero.";
    AUDITS = counter "game_audits_total",
        "Ticks whose entities were audited by brute force.";
    AUDIT_FAILURES = counter "game_audit_failures_total",
        "Overlaps, and bodies with a number that is not finite, that audits found; should stay zero.";
    FALLEN = counter "game_fallen_total", "Entities that fell out of the map and were put back.";

    PLAYERS = gauge "game_players", "Players in the match.";
    CONNECTIONS = gauge "game_connections", "Open connections, by state.";
    JOINS = counter "game_joins_total", "Players let in.";
    LIMITS = counter "game_limits_hit_total",
        "Connections and messages refused or cut off because of a limit, by limit.";
    REJOINS = counter "game_rejoins_total", "Players back after their connection was lost.";
    LEVELS = counter "game_levels_total", "Changes of the match to another world.";
    REFUSALS = counter "game_refusals_total", "Connections refused before they joined, by reason.";
    DISCONNECTS = counter "game_disconnects_total", "Players that left, by reason.";
    LEFT_FIGHTING = counter "game_left_fighting_total",
        "Players who left in a fight and whose body stayed until it was over.";

    SNAPSHOTS = counter "game_snapshots_total",
        "Snapshots handed to the network, each one datagram.";
    SNAPSHOT_BYTES = counter "game_snapshot_bytes_total", "Bytes of the snapshots handed to the network.";
    SNAPSHOTS_SKIPPED = counter "game_snapshots_skipped_total",
        "Snapshots not made because the last one still waited for the path.";
    SNAPSHOTS_UNAFFORDABLE = counter "game_snapshots_unaffordable_total",
        "Snapshots not made because the client's budget was spent.";
    SNAPSHOT_ENTITIES = counter "game_snapshot_entities_total",
        "Entity records in the snapshots handed to the network.";
    EFFECTS = counter "game_effects_total",
        "Effects that clients were sent; repetitions are not counted.";
    EFFECT_BYTES = counter "game_effect_bytes_total",
        "Bytes of the datagrams of effects handed to the network.";
    EFFECTS_CUT = counter "game_effects_cut_total",
        "Effects that clients were not sent because there was no room for them.";
    DIGEST_MISMATCHES = counter "game_digest_mismatches_total",
        "Snapshots that a client decoded to another digest; should stay zero.";
    CHAT_LINES = counter "game_chat_lines_total", "Chat lines of players.";
    RETRIES = counter "game_retries_total",
        "Connection attempts that were asked to prove their address first.";
    MAPS_SENT = counter "game_maps_sent_total", "Times the map, or the game's data, was sent to a client.";
    COMMAND_DATAGRAMS = counter "game_command_datagrams_total",
        "Datagrams of commands and acknowledgements that were read.";
    DATAGRAMS_DROPPED = counter "game_datagrams_dropped_total",
        "Datagrams dropped, by reason.";
    RTT = histogram "game_rtt_seconds",
        "Round-trip time of each connection, read once a second.";
    SNAPSHOT_RATE = histogram "game_client_snapshot_rate",
        "Snapshots a second that each connection's line is found to carry.";
    DATAGRAMS = counter "game_udp_datagrams_total", "UDP datagrams of connections, by direction.";
    UDP_BYTES = counter "game_udp_bytes_total", "Bytes of the UDP datagrams of connections, by direction.";
    PACKETS = counter "game_quic_packets_total", "QUIC packets sent.";
    PACKETS_LOST = counter "game_quic_packets_lost_total", "QUIC packets sent and lost.";
    CONGESTION = counter "game_congestion_events_total",
        "Congestion events: a connection's path was found congested.";
    COMMANDS = counter "game_commands_total", "Commands received, by outcome.";
    COMMAND_TICKS = counter "game_command_ticks_total",
        "Ticks of players, by the source of their command.";

    RECORDING_FAILED = gauge "game_recording_failed",
        "1 if the recording ended before the match, else 0.";
    RECORDING_TICKS = counter "game_recording_ticks_total", "Ticks written to the recording.";
    RECORDING_BYTES = counter "game_recording_bytes_total", "Bytes written to the recording.";
    RECORDINGS_DELETED = counter "game_recordings_deleted_total",
        "Finished recordings deleted because of a limit of --record-keep.";

    THREAD_AGE = gauge "game_thread_age_seconds",
        "Time since the event loop of a thread turned; 0 if there is no such thread.";
}
