// The client library of the arena server, for C. Generated from client-bot/client-c by
// cbindgen: do not edit.
//
// `obsp_connect` makes a client with a socket thread. `obsp_client_new` makes a client for a
// caller that has a QUIC connection. In each frame, call `obsp_client_tick`, then take all events
// from `obsp_client_poll_event` and `obsp_client_next_match_event`, and draw the results of
// `obsp_client_own_player` or `obsp_client_own_vehicle`, and of `obsp_client_entities`.
// `obsp_client_map_triangles` gives the walls to draw, and `obsp_client_model_triangles` the
// shapes of bodies. `obsp_client_actions` gives the actions of the game beside moving, and
// `obsp_client_event_fields` the content of its events. See examples/walk.c and
// examples/level.c.
//
// Pointers must be null or valid for the call. If null has no meaning for a pointer, the call
// fails. Texts are UTF-8 and end with a zero byte. Any thread may use a handle, but only one at
// a time, and not after the handle was freed. `now` is the time in seconds since any moment
// before the client was made, and must not go back. No call blocks, except
// `obsp_client_free`. A call that fails returns null, false, 0 or a status
// (`obsp_client_next_tick_at`: -1), and `obsp_last_error` gives the reason.
//
// Results are copied to memory of the caller, except the text of `obsp_last_error` and the
// bytes of `ObspTransmit`. A function with a `capacity` writes that many results at most, and
// returns the number of all results. So a call with null and 0 says how much room the next call
// needs.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the name or label of an action, its zero byte included.
#define OBSP_ACTION_NAME_BYTES 36

// Bytes of the name of a key, its zero byte included.
#define OBSP_KEY_NAME_BYTES 24

// Maximum number of default keys of an action.
#define OBSP_ACTION_KEYS 4

// Gamepad button of an action that has none.
#define OBSP_NO_GAMEPAD_BUTTON 255

// Bytes of the name of a field, its zero byte included.
#define OBSP_FIELD_NAME_BYTES 36

// Bytes of the text of a field, its zero byte included.
#define OBSP_FIELD_TEXT_BYTES 260

// Bytes of a text, its zero byte included. Longer texts are cut.
#define OBSP_TEXT_BYTES 768

// Maximum number of bytes in the content of a game's event.
#define OBSP_EVENT_BYTES 256

// Slot of an id that names nobody.
#define OBSP_NO_SLOT 65535

// Bytes of a ticket.
#define OBSP_TICKET_BYTES 16

// Bytes of the name of a map or model, its zero byte included. Longer names are cut.
#define OBSP_LEVEL_NAME_BYTES 68

// Jump.
#define OBSP_BUTTON_JUMP 1

// Crouch while held.
#define OBSP_BUTTON_CROUCH 2

// The first action of the game. In the arena it shoots a ray.
#define OBSP_BUTTON_PRIMARY 4

// Walk instead of run.
#define OBSP_BUTTON_WALK 8

// The second action of the game. In the arena it launches a rocket.
#define OBSP_BUTTON_SECONDARY 16

// The third action of the game. In the arena it throws a grenade.
#define OBSP_BUTTON_TERTIARY 32

// Bytes of a player's name, its zero byte included.
#define OBSP_NAME_BYTES 100

// The kind of an effect.
typedef enum {
  // `entity` shot a ray from `from` to `to`.
  OBSP_EFFECT_KIND_RAY,
  // Something exploded at `from`, with `radius`.
  OBSP_EFFECT_KIND_BLAST,
  // `other` took `damage` health from `entity`.
  OBSP_EFFECT_KIND_HURT,
  // The body `entity` was taken out of an overlap and put elsewhere.
  OBSP_EFFECT_KIND_REPLACED,
} ObspEffectKind;

// The kind of an event of the match.
typedef enum {
  // `player` joined, or was in the match before; `text` is the name.
  OBSP_MATCH_EVENT_KIND_JOINED,
  // `player` left.
  OBSP_MATCH_EVENT_KIND_LEFT,
  // `player` was killed by `other`, which may be the same player; `text` is the game's name for
  // the means, such as `rocket`.
  OBSP_MATCH_EVENT_KIND_DIED,
  // The health or score of `player` changed.
  OBSP_MATCH_EVENT_KIND_VITALS,
  // `player` said `text` to everybody.
  OBSP_MATCH_EVENT_KIND_SAID,
  // The server says `text` to everybody.
  OBSP_MATCH_EVENT_KIND_ANNOUNCED,
  // The match changed its phase; `text` is the map of the next round during an intermission.
  OBSP_MATCH_EVENT_KIND_ROUND,
  // An event that the game defines: `text` is the name of its kind, `data` its content.
  OBSP_MATCH_EVENT_KIND_GAME,
} ObspMatchEventKind;

// The phase of a match.
typedef enum {
  // Waiting for players.
  OBSP_PHASE_WARM_UP,
  // The round is played.
  OBSP_PHASE_PLAYING,
  // The round is over, and the next one is about to begin.
  OBSP_PHASE_INTERMISSION,
} ObspPhase;

// The type of a field of a game's event, which says where its value is.
typedef enum {
  // `integer` is 1 for true and 0 for false.
  OBSP_FIELD_TYPE_BOOL,
  // `integer`.
  OBSP_FIELD_TYPE_INTEGER,
  // `number`.
  OBSP_FIELD_TYPE_NUMBER,
  // `text`.
  OBSP_FIELD_TYPE_TEXT,
  // `player`.
  OBSP_FIELD_TYPE_PLAYER,
} ObspFieldType;

// The kind of an event of the connection.
typedef enum {
  // The client is in the match and controls `player`. The client needs the map called `text`
  // with the hash `map`. Before the map it needs the data of the game if `has_game` is set. See
  // `obsp_client_use_map` and `obsp_client_use_game`. A client of `obsp_connect` gets map and
  // data without these calls.
  OBSP_EVENT_KIND_JOINED,
  // The match continues in another world, with the map called `text`. Everything known of the
  // old world is void, and `OBSP_EVENT_KIND_JOINED` follows.
  OBSP_EVENT_KIND_NEW_WORLD,
  // The client is no longer in the match; `text` is the reason. If `is_final`, rejoining is
  // pointless.
  OBSP_EVENT_KIND_DISCONNECTED,
} ObspEventKind;

// How the bodies of a model move.
typedef enum {
  // By gravity, contacts and impulses.
  OBSP_BODY_KIND_DYNAMIC,
  // By the velocity that the game sets, as lifts and doors do.
  OBSP_BODY_KIND_KINEMATIC,
  // By the rules of missiles.
  OBSP_BODY_KIND_MISSILE,
} ObspBodyKind;

// The outcome of a call.
typedef enum {
  // The call succeeded.
  OBSP_STATUS_OK,
  // A pointer is null, a text is not UTF-8, or a value is out of range.
  OBSP_STATUS_INVALID_ARGUMENT,
  // The bytes are not the map or the game's data of the match, or the client has not joined.
  OBSP_STATUS_WRONG_MAP,
  // A defect of the library. Free the client.
  OBSP_STATUS_PANICKED,
} ObspStatus;

// The kind of an entity.
typedef enum {
  // A player on foot: a box whose size is in `ObspMap`.
  OBSP_ENTITY_KIND_PLAYER,
  // A vehicle with a player in it.
  OBSP_ENTITY_KIND_VEHICLE,
  // A rigid body.
  OBSP_ENTITY_KIND_PROP,
} ObspEntityKind;

// The kind of a task for the caller's transport.
typedef enum {
  // Write the bytes to the control stream, in order.
  OBSP_TRANSMIT_KIND_STREAM,
  // Send the bytes as a datagram. If that is not possible at once, drop them.
  OBSP_TRANSMIT_KIND_DATAGRAM,
  // Finish the control stream, and wait a little for the server to close the connection.
  OBSP_TRANSMIT_KIND_FINISH,
  // Close the connection with the code; the bytes are the reason.
  OBSP_TRANSMIT_KIND_CLOSE,
} ObspTransmitKind;

// One player in a match. Any thread may use it, but only one thread at a time.
typedef struct ObspClient ObspClient;

// An action of the game, with the keys that do it by default.
typedef struct {
  // The bit of the action in the `buttons` of an `ObspCommand`.
  uint32_t button;
  // The button of a gamepad in the standard mapping of browsers; `OBSP_NO_GAMEPAD_BUTTON` if it
  // has none.
  uint8_t gamepad;
  // Whether touch screens show a button for it.
  bool touch;
  // The name, by which programs find the action.
  char name[OBSP_ACTION_NAME_BYTES];
  // The text that players read.
  char label[OBSP_ACTION_NAME_BYTES];
  // The keys, as browsers name them: `KeyG`, `Space`, or `Mouse0` for the left button of the
  // mouse. Empty texts follow the last key.
  char keys[OBSP_ACTION_KEYS][OBSP_KEY_NAME_BYTES];
} ObspAction;

// The means by which a client identifies itself when it joins, and the match that it wants.
typedef struct {
  // The player's name, in UTF-8: at most 24 characters.
  const char *name;
  // A connect token, or the password of the match; null if there is none.
  const uint8_t *token;
  // Bytes of the token or password.
  size_t token_length;
  // The ticket of a connection that was lost, `OBSP_TICKET_BYTES` long; null if there is
  // none. See `obsp_client_ticket`.
  const uint8_t *ticket;
  // The name of the match to join on a server with several matches; null for the server's first
  // match. A ticket is valid only in the match that it comes from.
  const char *match_name;
} ObspIdentity;

// An effect. It names players and bodies by their slots in its tick.
typedef struct {
  // The kind.
  ObspEffectKind kind;
  // The first tick that shows the effect.
  uint32_t tick;
  // The slot of the player or body; `OBSP_NO_SLOT` if the kind has none.
  uint16_t entity;
  // The slot of the attacker, who may have left; `OBSP_NO_SLOT` if the kind has none.
  uint16_t other;
  // Health lost.
  uint16_t damage;
  // Where a ray begins, or the centre of an explosion, in units.
  double from[3];
  // Where a ray ends, in units.
  double to[3];
  // The radius of an explosion, in units.
  double radius;
} ObspEffect;

// An entity's id. Entities that use a slot one after another differ in their generation.
typedef struct {
  // The entity's slot; `OBSP_NO_SLOT` in an id of no entity.
  uint16_t slot;
  // How many times the slot was given to another entity before.
  uint16_t generation;
} ObspId;

// An event of the match.
typedef struct {
  // The kind of the event.
  ObspMatchEventKind kind;
  // The tick in which the event happened.
  uint32_t tick;
  // The player of the event: the one who joined, left, died, or said a line.
  ObspId player;
  // The player who killed `player`; nobody in events of other kinds.
  ObspId other;
  // Health left; zero while dead.
  uint16_t health;
  // Number of other players killed, less the number of suicides.
  int16_t score;
  // The phase that has begun.
  ObspPhase phase;
  // The tick in which the phase ends; 0 if the phase has no time limit.
  uint32_t ends;
  // The player's name, the line that was said, the means of a death, the map of the next round,
  // or the name of the kind of a game's event.
  char text[OBSP_TEXT_BYTES];
  // Bytes of the content of a game's event.
  uint16_t data_length;
  // The content of a game's event. `obsp_client_event_fields` reads it.
  uint8_t data[OBSP_EVENT_BYTES];
} ObspMatchEvent;

// A field of a game's event.
typedef struct {
  // The type of the value.
  ObspFieldType kind;
  // A whole number. A number too great for the type is given as the greatest number that fits.
  int64_t integer;
  // A number with a fraction.
  double number;
  // A player.
  ObspId player;
  // The name of the field.
  char name[OBSP_FIELD_NAME_BYTES];
  // A text.
  char text[OBSP_FIELD_TEXT_BYTES];
} ObspField;

// An event of the connection.
typedef struct {
  // The kind of the event.
  ObspEventKind kind;
  // The own player; nobody for a spectator.
  ObspId player;
  // Ticks per second.
  uint16_t tick_rate;
  // Whether rejoining is pointless.
  bool is_final;
  // Whether the game has data of its own, which a client needs to predict.
  bool has_game;
  // The hash of the map.
  uint8_t map[32];
  // The hash of the game's data.
  uint8_t game[32];
  // The map's name, or the reason.
  char text[OBSP_TEXT_BYTES];
} ObspEvent;

// The map that is played, and the sizes of players on it.
typedef struct {
  // The hash of the map, as `OBSP_EVENT_KIND_JOINED` gave it.
  uint8_t hash[32];
  // The least corner of the box around all walls, in units.
  double mins[3];
  // The greatest corner of that box. A map without walls has no box: `mins` is above `maxs`.
  double maxs[3];
  // The width and depth of a player's box, in units.
  double player_width;
  // The height of a player who stands.
  double player_height;
  // The height of a player who crouches.
  double player_crouched_height;
  // The map's name.
  char name[OBSP_LEVEL_NAME_BYTES];
} ObspMap;

// A triangle of a surface.
typedef struct {
  // The corners, counter-clockwise seen from outside, in units.
  double corners[3][3];
  // The direction outward, of length 1.
  double normal[3];
} ObspTriangle;

// The model of bodies. Positions in a model are relative to the centre of mass, in the model's own
// axes. An `ObspEntity` has the present position and orientation.
typedef struct {
  // How bodies of the model move.
  ObspBodyKind kind;
  // The number of convex hulls that fill the model. They touch, but do not overlap.
  uint32_t hulls;
  // The greatest distance of the model's surface from the centre of mass, in units.
  double radius;
  // The volume, in cubic units.
  double volume;
  // The least corner of the smallest box around the model, in units.
  double mins[3];
  // The greatest corner of that box.
  double maxs[3];
  // The model's name.
  char name[OBSP_LEVEL_NAME_BYTES];
} ObspModel;

// A player's input for one tick.
typedef struct {
  // Motion along the view, -127 back to 127 forward.
  int8_t forward;
  // Motion across the view, -127 left to 127 right.
  int8_t right;
  // Heading about +Z, counter-clockwise from +X; 65,536 steps a turn.
  uint16_t yaw;
  // Elevation, up positive; 65,536 steps a turn, a quarter turn at most.
  int16_t pitch;
  // Keys held down: the sum of their `OBSP_BUTTON_` constants, and of the buttons of actions
  // (`obsp_client_actions`, `obsp_client_action_button`).
  uint32_t buttons;
} ObspCommand;

// The own player at a moment.
typedef struct {
  // The position at which to draw the player: the centre of its box, in units.
  double position[3];
  // The velocity, in units per second.
  double velocity[3];
  // Whether the player crouches.
  bool is_crouching;
  // Whether the player stands on something.
  bool is_grounded;
} ObspOwnPlayer;

// An entity at a moment.
typedef struct {
  // Id of the entity.
  ObspId id;
  // Kind of the entity.
  ObspEntityKind kind;
  // The model of a vehicle or prop: its index in `obsp_client_models`. 0 for players on foot.
  uint8_t model;
  // Whether a player on foot crouches.
  bool is_crouching;
  // Whether the entity rests.
  bool is_asleep;
  // Whether the entity is to be drawn.
  bool is_visible;
  // Whether the entity takes room. An entity that takes none is a picture. A picture may follow
  // another entity, its carrier, and then has the pose in which the carrier is drawn.
  bool is_solid;
  // The centre of a player's box, or the centre of mass of a body, in units.
  double position[3];
  // The orientation as a quaternion x, y, z, w. For a player on foot it is only the heading.
  double orientation[4];
  // The velocity, in units per second.
  double velocity[3];
} ObspEntity;

// A player in the match.
typedef struct {
  // The entity that the player controls.
  ObspId id;
  // Health left; zero while the player is dead, and until the health is known.
  uint16_t health;
  // Number of other players killed, less the number of suicides.
  int16_t score;
  // The player's name.
  char name[OBSP_NAME_BYTES];
} ObspPlayer;

// Counters of a client.
typedef struct {
  // Snapshots that have arrived.
  uint64_t snapshots;
  // Digests in snapshots that were compared with the decoded state.
  uint64_t digests;
  // Digests that did not agree: a defect of the library or of the server.
  uint64_t digest_mismatches;
  // Motions of the own player that the server has sent and that had been predicted.
  uint64_t predictions;
  // Motions that were predicted wrongly, even if by a tiny amount.
  uint64_t corrections;
  // The tick of the latest snapshot; 0 before the first.
  uint32_t latest_tick;
} ObspStats;

// A task for the caller's transport.
typedef struct {
  // The kind of the task.
  ObspTransmitKind kind;
  // QUIC's application error code with which to close the connection.
  uint32_t code;
  // The bytes, valid until the next call with this client.
  const uint8_t *bytes;
  // The number of bytes.
  size_t length;
} ObspTransmit;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Copies the actions of the game, at most `capacity` of them. Returns the number of all actions: 0
// before `OBSP_EVENT_KIND_JOINED`, and at most 16.
size_t obsp_client_actions(ObspClient *client,
                           ObspAction *actions,
                           size_t capacity);

// Returns the bit of the action of this name in the `buttons` of an `ObspCommand`; 0 if the game
// has no such action, and before `OBSP_EVENT_KIND_JOINED`.
uint32_t obsp_client_action_button(ObspClient *client,
                                   const char *name);

// Makes a client that connects to `server`, such as "127.0.0.1:4433" or "play.example.org:4433",
// on a thread of its own. The thread looks a name up, tries all of its addresses, and takes the
// first address that answers. `pin` is the SHA-256 of the server's certificate, which the server
// prints when it starts; for a server on this machine it may be null. `maps` is a folder with
// compiled maps, or null. A map that is not in the folder is fetched from the server. Call
// `obsp_client_tick` in every frame, because it receives and sends. If no server answers, an event
// tells how each address failed. Free the client with `obsp_client_free`. Returns null if it
// fails.
ObspClient *obsp_connect(const char *server,
                         const char *pin,
                         const char *maps,
                         const ObspIdentity *identity,
                         double now);

// Makes a client as `obsp_connect` does, for a server whose certificate an authority has issued.
// The client needs no new pin when the certificate is renewed. `authority` is the text of a PEM
// file with the certificates of the trusted authorities, such as Let's Encrypt's roots or your own
// authority. The server's certificate must carry the name, or the address, that `server` gives.
// Returns null if it fails.
ObspClient *obsp_connect_by_authority(const char *server,
                                      const char *authority,
                                      const char *maps,
                                      const ObspIdentity *identity,
                                      double now);

// Takes the next effect; false if there is none. If effects are not taken, the oldest are dropped.
// An effect may come some ticks before the moment that is shown.
bool obsp_client_next_effect(ObspClient *client,
                             ObspEffect *effect);

// Copies the fields of an event of the kind `OBSP_MATCH_EVENT_KIND_GAME`, at most `capacity` of
// them. Returns the number of all its fields, at most 16. If the game declares no fields for this
// kind of event, the number is 0, and `data` has the content in an encoding that only the game
// knows.
size_t obsp_client_event_fields(ObspClient *client,
                                const ObspMatchEvent *event,
                                ObspField *fields,
                                size_t capacity);

// Takes the next event of the connection; false if there is none.
bool obsp_client_poll_event(ObspClient *client, ObspEvent *event);

// Takes the next event of the match, up to the moment that is shown at `now`; false if there is
// none. The call updates `obsp_client_players`, so take all events in every frame.
bool obsp_client_next_match_event(ObspClient *client, double now, ObspMatchEvent *event);

// The reason of the latest failed call in this thread; empty if no call has failed. The text is
// valid until the next call in this thread that fails.
const char *obsp_last_error(void);

// Version of the protocol that this library speaks. A server of another version refuses its
// clients.
uint32_t obsp_protocol_version(void);

// Makes a client for a connection that the caller has made: QUIC with the protocol "obsp/1", and
// one bidirectional stream that the caller has opened. Free the client with `obsp_client_free`.
// Returns null if it fails.
ObspClient *obsp_client_new(const ObspIdentity *identity,
                            double now);

// Frees a client. If the library made its connection, closes the connection, which may take two
// and a half seconds. Null is ignored.
void obsp_client_free(ObspClient *client);

// Copies the ticket with which to rejoin as the same player after the connection was lost:
// `OBSP_TICKET_BYTES`, to be kept secret. Before the client has joined, returns false and writes
// nothing.
bool obsp_client_ticket(ObspClient *client,
                        uint8_t *ticket);

// Copies what the client knows of the map. False while the map is not loaded: before the first map
// has arrived, and from `OBSP_EVENT_KIND_NEW_WORLD` until the next map has arrived.
bool obsp_client_map(ObspClient *client,
                     ObspMap *map);

// Copies the compiled map, the content of an .obsp file, at most `capacity` bytes of it. Returns
// the number of bytes of the map, or 0 while the map is not loaded. Each call makes the bytes
// again. So call it once for a map, with enough room, or twice: with a capacity of 0 to learn the
// length, and then with that length.
size_t obsp_client_map_bytes(ObspClient *client,
                             uint8_t *bytes,
                             size_t capacity);

// Copies the surface of the map's walls, at most `capacity` triangles of it. Returns the number of
// all triangles: 0 while the map is not loaded, and at most 1,048,576.
size_t obsp_client_map_triangles(ObspClient *client,
                                 ObspTriangle *triangles,
                                 size_t capacity);

// Copies the models of bodies, at most `capacity` of them. Returns the number of all models: 0
// while the map is not loaded, and at most 128. The index of a model in this list is the `model`
// of an `ObspEntity`. A client that joins another world has other models.
size_t obsp_client_models(ObspClient *client,
                          ObspModel *models,
                          size_t capacity);

// Copies the surface of a model, at most `capacity` triangles of it. Returns the number of all its
// triangles. Fails if there is no such model, which is always so while the map is not loaded.
size_t obsp_client_model_triangles(ObspClient *client,
                                   uint8_t model,
                                   ObspTriangle *triangles,
                                   size_t capacity);

// Copies the corners of a convex hull of a model, at most `capacity` of them. Returns the number
// of all its corners. `hull` is below the `hulls` of the model. Fails if there is no such model or
// hull, which is always so while the map is not loaded.
size_t obsp_client_model_hull(ObspClient *client,
                              uint8_t model,
                              uint32_t hull,
                              double (*corners)[3],
                              size_t capacity);

// Sends the command if a tick is due, and predicts the own player. Call it in every frame, or at
// `obsp_client_next_tick_at`, at least twice a second. Returns whether a command was sent. Keep a
// pressed key in `command` until a command was sent. A client of `obsp_connect` also handles the
// bytes that have arrived.
bool obsp_client_tick(ObspClient *client,
                      const ObspCommand *command,
                      double now);

// The time at which the next tick is due, in seconds; negative while the client has not joined.
double obsp_client_next_tick_at(ObspClient *client);

// Sends a chat line of at most 160 characters to everybody, the sender included.
ObspStatus obsp_client_say(ObspClient *client, const char *line);

// Says goodbye: the player leaves the match at once. Free the client afterwards.
ObspStatus obsp_client_leave(ObspClient *client);

// Copies the value that the field `name` of an entity has at `now`. The entity may be the own
// player. False if the client knows no such entity, or the game gives it no such field.
bool obsp_client_value(ObspClient *client,
                       double now,
                       ObspId entity,
                       const char *name,
                       int32_t *value);

// Copies the latest value of the match's field `name`. False if the game has no such field.
bool obsp_client_match_value(ObspClient *client, const char *name, int32_t *value);

// Copies the latest value of the own player's field `name`, which the server sends to no other
// client. False if the game has no such field.
bool obsp_client_own_value(ObspClient *client, const char *name, int32_t *value);

// Copies the state of the own player to draw at `now`. False while the player is not in the world
// or drives a vehicle (`obsp_client_own_vehicle`), and while the map is not loaded.
bool obsp_client_own_player(ObspClient *client,
                            double now,
                            ObspOwnPlayer *player);

// Copies the state to draw at `now` of the vehicle that the own player drives. False while the
// player is on foot or not in the world, and while the map is not loaded.
bool obsp_client_own_vehicle(ObspClient *client, double now, ObspEntity *vehicle);

// Copies the states to draw at `now` of all entities except the own player, at most `capacity`
// of them. Returns the number of all these entities.
size_t obsp_client_entities(ObspClient *client,
                            double now,
                            ObspEntity *entities,
                            size_t capacity);

// Copies the players in the match, the own player included, at most `capacity` of them. Returns
// the number of all players.
size_t obsp_client_players(ObspClient *client, ObspPlayer *players, size_t capacity);

// Copies the counters of a client.
ObspStatus obsp_client_stats(ObspClient *client, ObspStats *stats);

// Handles bytes that arrived on the control stream, in pieces of any length.
ObspStatus obsp_client_handle_stream(ObspClient *client,
                                     const uint8_t *bytes,
                                     size_t length,
                                     double now);

// Handles a datagram.
ObspStatus obsp_client_handle_datagram(ObspClient *client,
                                       const uint8_t *bytes,
                                       size_t length,
                                       double now);

// Tells the client that the connection has ended, or could not be made. `reason` becomes the text
// of the event `OBSP_EVENT_KIND_DISCONNECTED`.
ObspStatus obsp_client_handle_closed(ObspClient *client,
                                     const char *reason);

// Keeps the data of the game for the call of `obsp_client_use_map` that follows. Call it after
// `OBSP_EVENT_KIND_JOINED` has named the data.
ObspStatus obsp_client_use_game(ObspClient *client, const uint8_t *bytes, size_t length);

// Keeps the data of the game as the server sends them. Open a bidirectional stream, write the
// four bytes "game", finish it, and pass on the bytes that arrive, with `is_end` at the end.
ObspStatus obsp_client_handle_game_stream(ObspClient *client,
                                          const uint8_t *bytes,
                                          size_t length,
                                          bool is_end);

// Uses a compiled map, the content of an .obsp file. Call it after `OBSP_EVENT_KIND_JOINED` has
// named the map. The own player is predicted from then on. If that event names data of a game,
// call `obsp_client_use_game` before.
ObspStatus obsp_client_use_map(ObspClient *client,
                               const uint8_t *bytes,
                               size_t length,
                               double now);

// Uses a map as the server sends it. Open a bidirectional stream, write the three bytes
// "map", finish it, and pass on the bytes that arrive, with `is_end` at the end.
ObspStatus obsp_client_handle_map_stream(ObspClient *client,
                                         const uint8_t *bytes,
                                         size_t length,
                                         bool is_end,
                                         double now);

// Takes the next task for the transport; false if there is none. After every other call with this
// client, call this function until it returns false. A client of `obsp_connect` sends its output
// without this call.
bool obsp_client_poll_transmit(ObspClient *client,
                               ObspTransmit *transmit);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus
