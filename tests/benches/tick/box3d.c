/* Box3D as a child process of the bench `tick`. The bench writes commands to standard input, one
 * a line, and reads the answers from standard output.
 *
 *   world GRAVITY UNITS_PER_METRE FRICTION RESTITUTION DENSITY
 *   static N X Y Z ...                      a fixed convex hull of N points
 *   body X Y Z QX QY QZ QW                  a dynamic body, without a shape yet
 *   part N X Y Z ...                        a convex hull of the last body, in its coordinates
 *   step SECONDS SUB_STEPS                  answers NANOSECONDS AWAKE
 *   state                                   answers, for each body, X Y Z QX QY QZ QW VX VY VZ ASLEEP
 *
 * The time of a step is that of `b3World_Step` alone. The process ends with its input. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "box3d/box3d.h"

/* As many corners as a hull of Box3D may have. */
#define MAX_POINTS B3_MAX_HULL_VERTICES

static b3WorldId world;
static b3ShapeDef material;
static b3BodyId *bodies;
static int body_count;

static void fail(const char *what) {
  fprintf(stderr, "box3d: %s\n", what);
  exit(1);
}

static float number(void) {
  float value;
  if (scanf("%f", &value) != 1) fail("a number is missing");
  return value;
}

static b3Vec3 vector(void) {
  const float x = number(), y = number(), z = number();
  return (b3Vec3){x, y, z};
}

/* Reads a hull, and gives it to a body. */
static void add_hull(b3BodyId body) {
  static b3Vec3 points[MAX_POINTS];
  int count;
  if (scanf("%d", &count) != 1 || count < 4 || count > MAX_POINTS) fail("a hull has 4 to 128 points");
  for (int i = 0; i < count; i++) points[i] = vector();
  b3HullData *hull = b3CreateHull(points, count, MAX_POINTS);
  if (hull == NULL) fail("Box3D makes no hull of these points");
  b3CreateHullShape(body, &material, hull);
  b3DestroyHull(hull);
}

static void create_world(void) {
  const float gravity = number();
  /* This must be the first call that depends on the unit of length. */
  b3SetLengthUnitsPerMeter(number());
  b3WorldDef def = b3DefaultWorldDef();
  def.gravity = (b3Vec3){0.0f, 0.0f, -gravity};
  def.workerCount = 1;
  world = b3CreateWorld(&def);
  material = b3DefaultShapeDef();
  material.baseMaterial.friction = number();
  material.baseMaterial.restitution = number();
  material.density = number();
}

static void create_body(void) {
  b3BodyDef def = b3DefaultBodyDef();
  def.type = b3_dynamicBody;
  const b3Vec3 at = vector();
  def.position = (b3Pos){at.x, at.y, at.z};
  const b3Vec3 axis = vector();
  def.rotation = (b3Quat){axis, number()};
  if (body_count % 1024 == 0) {
    bodies = realloc(bodies, sizeof *bodies * (size_t)(body_count + 1024));
    if (bodies == NULL) fail("no memory");
  }
  bodies[body_count++] = b3CreateBody(world, &def);
}

static void step(void) {
  const float seconds = number();
  const int sub_steps = (int)number();
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  b3World_Step(world, seconds, sub_steps);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const long long ns =
      (end.tv_sec - begin.tv_sec) * 1000000000LL + (end.tv_nsec - begin.tv_nsec);
  printf("%lld %d\n", ns, b3World_GetAwakeBodyCount(world));
}

static void print_state(void) {
  for (int i = 0; i < body_count; i++) {
    const b3Pos at = b3Body_GetPosition(bodies[i]);
    const b3Quat turn = b3Body_GetRotation(bodies[i]);
    const b3Vec3 velocity = b3Body_GetLinearVelocity(bodies[i]);
    printf("%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g %d\n", (double)at.x, (double)at.y,
           (double)at.z, (double)turn.v.x, (double)turn.v.y, (double)turn.v.z, (double)turn.s,
           (double)velocity.x, (double)velocity.y, (double)velocity.z,
           !b3Body_IsAwake(bodies[i]));
  }
}

int main(void) {
  char command[16];
  while (scanf("%15s", command) == 1) {
    if (strcmp(command, "world") == 0) create_world();
    else if (strcmp(command, "static") == 0) {
      b3BodyDef def = b3DefaultBodyDef();
      add_hull(b3CreateBody(world, &def));
    } else if (strcmp(command, "body") == 0) create_body();
    else if (strcmp(command, "part") == 0) add_hull(bodies[body_count - 1]);
    else if (strcmp(command, "step") == 0) step();
    else if (strcmp(command, "state") == 0) print_state();
    else fail("a command is unknown");
    fflush(stdout);
  }
  return 0;
}
