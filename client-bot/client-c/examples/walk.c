/* A complete client: joins a server, walks in a circle for some seconds, prints what it sees,
 * says whether it decoded the server's state correctly, and leaves.
 *
 *   ./walk 127.0.0.1:4433
 *
 * README.md beside this folder says how to build it.
 */

#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "obsp_client.h"

enum { MAX_ENTITIES = 1024, FRAMES_A_SECOND = 120 };

/* Seconds since some moment. */
static double clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Prints the own player and the first three other entities. */
static void print_view(ObspClient *client, double now) {
  static ObspEntity entities[MAX_ENTITIES];
  ObspOwnPlayer own;
  if (!obsp_client_own_player(client, now, &own)) {
    printf("not in the world yet\n");
    return;
  }
  size_t count = obsp_client_entities(client, now, entities, MAX_ENTITIES);
  printf("at %.1f %.1f %.1f, with %zu entities:", own.position[0], own.position[1],
         own.position[2], count);
  for (size_t index = 0; index < count && index < 3; index++) {
    const ObspEntity *entity = &entities[index];
    printf(" %s %u at %.1f %.1f %.1f;",
           entity->kind == OBSP_ENTITY_KIND_PROP ? "prop" : "player", entity->id.slot,
           entity->position[0], entity->position[1], entity->position[2]);
  }
  printf("\n");
}

/* Prints an event of the game with the values of its fields. */
static void print_game_event(ObspClient *client, const ObspMatchEvent *event) {
  ObspField fields[16];
  const size_t count = obsp_client_event_fields(client, event, fields, 16);
  printf("%s", event->text);
  for (size_t index = 0; index < count; index++) {
    const ObspField *field = &fields[index];
    switch (field->kind) {
    case OBSP_FIELD_TYPE_NUMBER:
      printf(" %s=%g", field->name, field->number);
      break;
    case OBSP_FIELD_TYPE_TEXT:
      printf(" %s=%s", field->name, field->text);
      break;
    case OBSP_FIELD_TYPE_PLAYER:
      printf(" %s=player %u", field->name, field->player.slot);
      break;
    default:
      printf(" %s=%lld", field->name, (long long)field->integer);
    }
  }
  printf("\n");
}

/* Prints what happened. Returns whether the client is still in the match. */
static bool print_events(ObspClient *client, double now) {
  ObspEvent event;
  while (obsp_client_poll_event(client, &event)) {
    switch (event.kind) {
    case OBSP_EVENT_KIND_JOINED:
      printf("joined on the map %s as entity %u\n", event.text, event.player.slot);
      break;
    case OBSP_EVENT_KIND_NEW_WORLD:
      printf("the next map is %s\n", event.text);
      break;
    default:
      fprintf(stderr, "disconnected: %s\n", event.text);
      return false;
    }
  }
  ObspMatchEvent happened;
  while (obsp_client_next_match_event(client, now, &happened)) {
    if (happened.kind == OBSP_MATCH_EVENT_KIND_JOINED) {
      printf("%s is in the match\n", happened.text);
    } else if (happened.kind == OBSP_MATCH_EVENT_KIND_GAME) {
      print_game_event(client, &happened);
    }
  }
  ObspEffect effect;
  while (obsp_client_next_effect(client, &effect)) {
    if (effect.kind == OBSP_EFFECT_KIND_BLAST) {
      printf("something explodes at %.0f %.0f %.0f\n", effect.from[0], effect.from[1],
             effect.from[2]);
    }
  }
  return true;
}

int main(int count, char **arguments) {
  const char *server = count > 1 ? arguments[1] : "127.0.0.1:4433";
  const char *maps = count > 2 ? arguments[2] : NULL;
  /* Time to join and to play. Joining takes long if the map has to be fetched. */
  const double seconds = 4.0, patience = 30.0;

  const double begin = clock_now();
  const ObspIdentity identity = {.name = "walker"};
  ObspClient *client = obsp_connect(server, NULL, maps, &identity, begin);
  if (client == NULL) {
    fprintf(stderr, "%s\n", obsp_last_error());
    return 2;
  }
  ObspCommand command = {.forward = 127};
  bool is_in_match = true, is_in_world = false;
  double end = begin + patience;
  for (int frame = 0; is_in_match && clock_now() < end; frame++) {
    const double now = clock_now();
    ObspOwnPlayer own;
    if (!is_in_world && obsp_client_own_player(client, now, &own)) {
      is_in_world = true;
      end = now + seconds;
    }
    /* A game would read its keys and mouse here. */
    if (obsp_client_tick(client, &command, now)) {
      command.yaw += 400;
    }
    is_in_match = print_events(client, now);
    if (frame % FRAMES_A_SECOND == FRAMES_A_SECOND - 1) {
      print_view(client, now);
    }
    const struct timespec rest = {.tv_nsec = 1000000000 / FRAMES_A_SECOND};
    nanosleep(&rest, NULL);
  }

  ObspStats stats;
  obsp_client_stats(client, &stats);
  const bool agreed = stats.digests > 0 && stats.digest_mismatches == 0;
  printf("%llu snapshots, %llu digests: %s\n", (unsigned long long)stats.snapshots,
         (unsigned long long)stats.digests, agreed ? "all agreed" : "they did NOT agree");
  printf("%llu predictions, %llu corrected\n", (unsigned long long)stats.predictions,
         (unsigned long long)stats.corrections);
  obsp_client_leave(client);
  obsp_client_free(client);
  printf("left\n");
  return is_in_match && agreed ? 0 : 1;
}
