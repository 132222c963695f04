/* Prints the level of a server's match as a program would load it to draw it: the map, the sizes
 * of players, the models of bodies, and the actions. If the second argument names a file, writes
 * the map to that file.
 *
 *   ./level 127.0.0.1:4433 arena.obsp
 *
 * README.md beside this folder says how to build it.
 */

#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "obsp_client.h"

/* Seconds since some moment. */
static double clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits until the map is loaded. If that fails, prints the reason and returns false. */
static bool wait_for_map(ObspClient *client, ObspMap *map, double patience) {
  const ObspCommand stand = {0};
  const double end = clock_now() + patience;
  while (clock_now() < end) {
    obsp_client_tick(client, &stand, clock_now());
    ObspEvent event;
    while (obsp_client_poll_event(client, &event)) {
      if (event.kind == OBSP_EVENT_KIND_DISCONNECTED) {
        fprintf(stderr, "disconnected: %s\n", event.text);
        return false;
      }
    }
    if (obsp_client_map(client, map)) {
      return true;
    }
    const struct timespec rest = {.tv_nsec = 5000000};
    nanosleep(&rest, NULL);
  }
  fprintf(stderr, "no map has come within %.0f seconds\n", patience);
  return false;
}

static void *allocate(size_t count, size_t size) {
  /* An empty list needs no memory, but a null pointer would look like a failure. */
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "there is no memory for %zu pieces of %zu bytes\n", count, size);
    exit(2);
  }
  return memory;
}

static void print_map(ObspClient *client, const ObspMap *map) {
  printf("map %s ", map->name);
  for (size_t index = 0; index < sizeof map->hash; index++) {
    printf("%02x", map->hash[index]);
  }
  printf("\nplayers %g wide, %g high, %g crouched\n", map->player_width, map->player_height,
         map->player_crouched_height);
  /* The first call returns how much room the second call needs. */
  const size_t count = obsp_client_map_triangles(client, NULL, 0);
  ObspTriangle *triangles = allocate(count, sizeof *triangles);
  obsp_client_map_triangles(client, triangles, count);
  size_t floors = 0;
  for (size_t index = 0; index < count; index++) {
    floors += triangles[index].normal[2] > 0.7;
  }
  printf("walls of %zu triangles, %zu to stand on\n", count, floors);
  free(triangles);
}

static void print_models(ObspClient *client) {
  static ObspModel models[256];
  static double corners[4096][3];
  const char *const kinds[] = {"dynamic", "kinematic", "missile"};
  const size_t count = obsp_client_models(client, models, 256);
  for (size_t index = 0; index < count; index++) {
    const uint8_t id = (uint8_t)index;
    size_t most = 0;
    for (uint32_t hull = 0; hull < models[index].hulls; hull++) {
      const size_t number = obsp_client_model_hull(client, id, hull, corners, 4096);
      most = number > most ? number : most;
    }
    printf("model %u %s: %s, %u hulls of at most %zu corners, %zu triangles\n", id,
           models[index].name, kinds[models[index].kind], models[index].hulls, most,
           obsp_client_model_triangles(client, id, NULL, 0));
  }
}

/* Prints what the game lets players do beside moving. */
static void print_actions(ObspClient *client) {
  ObspAction actions[16];
  const size_t count = obsp_client_actions(client, actions, 16);
  for (size_t index = 0; index < count; index++) {
    printf("action %s: %s, button %u, key %s\n", actions[index].name, actions[index].label,
           actions[index].button, actions[index].keys[0]);
  }
}

/* Writes the compiled map to a file. */
static bool save_map(ObspClient *client, const char *path) {
  const size_t length = obsp_client_map_bytes(client, NULL, 0);
  uint8_t *bytes = allocate(length, 1);
  obsp_client_map_bytes(client, bytes, length);
  FILE *file = fopen(path, "wb");
  bool is_written = file != NULL && fwrite(bytes, 1, length, file) == length;
  if (file != NULL && fclose(file) != 0) {
    is_written = false;
  }
  free(bytes);
  if (!is_written) {
    perror(path);
  }
  return is_written;
}

int main(int count, char **arguments) {
  const char *server = count > 1 ? arguments[1] : "127.0.0.1:4433";
  const ObspIdentity identity = {.name = "surveyor"};
  ObspClient *client = obsp_connect(server, NULL, NULL, &identity, clock_now());
  if (client == NULL) {
    fprintf(stderr, "%s\n", obsp_last_error());
    return 2;
  }
  ObspMap map;
  bool is_well = wait_for_map(client, &map, 30.0);
  if (is_well) {
    print_map(client, &map);
    print_models(client);
    print_actions(client);
    is_well = count <= 2 || save_map(client, arguments[2]);
  }
  obsp_client_leave(client);
  obsp_client_free(client);
  return is_well ? 0 : 1;
}
