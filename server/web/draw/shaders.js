/** The shaders of the renderer. */

import { SUN } from "./colours.js";

const vector = (values) => `vec3(${values.map((value) => value.toFixed(4)).join(", ")})`;

/** The light of the sun and the sky, and the fog: the same in all shaders. */
const LIGHT = `
  uniform highp sampler2DShadow u_static_shadow;
  uniform mat4 u_sun;
  uniform float u_shadows;
  uniform vec3 u_eye;
  uniform float u_fog;
  // The colour of what is far away.
  uniform vec3 u_sky;

  const vec3 sunlight = vec3(0.84, 0.75, 0.58);

  // The place of a point in the shadow maps.
  vec3 in_sun(vec3 at) {
    return (u_sun * vec4(at, 1.0)).xyz * 0.5 + 0.5;
  }

  // The share of the sunlight that a face receives, without shadows.
  float facing(vec3 normal) {
    return max(dot(normal, normalize(${vector(SUN)})), 0.0);
  }

  // Points beyond the edges of the shadow maps have no shadow: the maps hold 1 there.
  float unshadowed(vec3 at, vec3 normal) {
    return u_shadows < 0.5 ? 1.0 : texture(u_static_shadow, in_sun(at + normal * 2.0));
  }

  // Light from all sides: cool from above, warm from the ground. Walls of different directions
  // differ, so that corners show.
  vec3 ambient(vec3 normal) {
    vec3 light = mix(vec3(0.40, 0.35, 0.33), vec3(0.60, 0.65, 0.74), normal.z * 0.5 + 0.5);
    return light * (1.0 + 0.12 * dot(normal.xy, vec2(0.8, -0.6)));
  }

  // The share of a colour that the fog leaves.
  float near(vec3 at) {
    vec3 far = (at - u_eye) * u_fog;
    return exp2(-1.44 * dot(far, far));
  }
`;

const HEAD = `#version 300 es
precision highp float;
`;

/** The grain of a material, from unit to unit. */
const GRAIN = `
        + (chance(floor(v_plane)) + chance(floor(v_plane * 0.25)) - 1.0) * v_grain.x * 0.6 * fine`;

/**
 * The map: faces with the colours and patterns of their materials. The alpha channel holds the share
 * of the colour that a shadow takes away.
 */
export const MAP = {
  vertex: `${HEAD}${LIGHT}
    layout(location = 0) in vec3 a_position;
    layout(location = 1) in vec3 a_normal;
    layout(location = 2) in vec3 a_colour;
    layout(location = 3) in vec4 a_cell;
    layout(location = 4) in vec3 a_grain;
    uniform mat4 u_view;
    out vec3 v_at;
    out vec2 v_plane;
    flat out vec3 v_normal;
    flat out vec3 v_dark;
    flat out vec3 v_lit;
    flat out vec4 v_cell;
    flat out vec3 v_grain;
    void main() {
      v_at = a_position;
      v_normal = a_normal;
      v_plane = abs(a_normal.z) > 0.7 ? a_position.xy
        : vec2(abs(a_normal.x) > abs(a_normal.y) ? a_position.y : a_position.x, a_position.z);
      v_dark = a_colour * mix(ambient(a_normal), vec3(1.25), a_grain.z);
      v_lit = a_colour * sunlight * facing(a_normal) * (1.0 - a_grain.z);
      v_cell = vec4(1.0 / a_cell.xy, a_cell.zw);
      v_grain = a_grain;
      gl_Position = u_view * vec4(a_position, 1.0);
    }`,
  fragment: `${HEAD}${LIGHT}
    in vec3 v_at;
    in vec2 v_plane;
    flat in vec3 v_normal;
    flat in vec3 v_dark;
    flat in vec3 v_lit;
    flat in vec4 v_cell;
    flat in vec3 v_grain;
    out vec4 o_colour;

    // A number from 0 to 1 that looks random.
    float chance(vec2 at) {
      return fract(52.98 * fract(dot(at, vec2(0.06711, 0.00584))));
    }

    void main() {
      // About how many units of the map a pixel has.
      float pixel = fwidth(v_plane.x) + fwidth(v_plane.y);
      vec2 cells = v_plane * v_cell.xy;
      float row = floor(cells.y);
      cells.x += fract(row * 0.5) * 2.0 * v_cell.z;
      vec2 inside = abs(fract(cells) - 0.5);
      // Units to the nearest seam.
      vec2 seam = (0.5 - inside) / v_cell.xy;
      float line = 1.0 - smoothstep(0.5, 0.9 + min(pixel, 1.6), min(seam.x, seam.y));
      float fine = clamp(1.6 - pixel * 0.45, 0.0, 1.0);
      float tint = 1.0 - v_cell.w * line * clamp(1.5 - 2.5 * pixel * v_cell.y, 0.0, 1.0)
        + (chance(vec2(floor(cells.x), row)) - 0.5) * v_grain.y${GRAIN};
      // Near the eye one cell may fill the screen, so it shows spots of its own.
      if (pixel < 0.3) tint += (chance(floor(v_plane * 0.25)) - 0.5) * (0.05 + v_grain.x * 0.4) * (1.0 - pixel / 0.3);
      vec3 direct = v_lit;
      if (direct.r > 0.0) direct *= unshadowed(v_at, v_normal);
      float left = near(v_at);
      vec3 light = v_dark + direct;
      o_colour = vec4(mix(u_sky, light * tint, left), left * direct.g / light.g);
    }`,
};

/** The map without grain, which costs a main processor time and hardly shows with few pixels. */
export const PLAIN_MAP = { ...MAP, fragment: MAP.fragment.replace(GRAIN, "") };

/** The kept picture of the map (ground.js), with the shadows of moving bodies. */
export const GROUND = {
  vertex: `${HEAD}
    void main() {
      vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
      gl_Position = vec4(corner, 0.0, 1.0);
    }`,
  fragment: `${HEAD}
    uniform sampler2D u_colour;
    uniform highp sampler2D u_depth;
    uniform highp sampler2DShadow u_moving_shadow;
    // Transforms a place on the screen into a place in the shadow maps.
    uniform mat4 u_to_sun;
    uniform vec2 u_size;
    uniform float u_shadows;
    out vec4 o_colour;
    void main() {
      ivec2 pixel = ivec2(gl_FragCoord.xy);
      vec4 ground = texelFetch(u_colour, pixel, 0);
      float depth = texelFetch(u_depth, pixel, 0).r;
      if (u_shadows > 0.5 && ground.a > 0.02) {
        vec4 at = u_to_sun * vec4(vec3(gl_FragCoord.xy / u_size, depth) * 2.0 - 1.0, 1.0);
        float lit = texture(u_moving_shadow, at.xyz / at.w * 0.5 + 0.5);
        ground.rgb *= 1.0 - ground.a * (1.0 - lit);
      }
      o_colour = vec4(ground.rgb, 1.0);
      gl_FragDepth = depth;
    }`,
};

const BODY_VERTEX = `
  layout(location = 0) in vec3 a_position;
  layout(location = 1) in vec3 a_normal;
  layout(location = 2) in vec3 i_position;
  layout(location = 3) in vec4 i_rotation;
  layout(location = 4) in vec3 i_scale;
  layout(location = 5) in vec4 i_colour;
  layout(location = 6) in float i_glow;
  uniform mat4 u_view;

  vec3 turned(vec3 v) {
    vec3 t = 2.0 * cross(i_rotation.xyz, v);
    return v + i_rotation.w * t + cross(i_rotation.xyz, t);
  }
`;

/** Bodies, all of one shape at once: position, rotation, size, colour and own light. */
export const BODY = {
  vertex: `${HEAD}${LIGHT}${BODY_VERTEX}
    out vec3 v_at;
    flat out vec3 v_normal;
    flat out vec4 v_colour;
    flat out float v_glow;
    flat out float v_direct;
    void main() {
      v_at = i_position + turned(a_position * i_scale);
      v_normal = turned(a_normal);
      v_colour = i_colour;
      v_glow = i_glow;
      v_direct = facing(v_normal);
      gl_Position = u_view * vec4(v_at, 1.0);
    }`,
  fragment: `${HEAD}${LIGHT}
    uniform highp sampler2DShadow u_moving_shadow;
    in vec3 v_at;
    flat in vec3 v_normal;
    flat in vec4 v_colour;
    flat in float v_glow;
    flat in float v_direct;
    out vec4 o_colour;
    void main() {
      float direct = v_direct;
      if (direct > 0.0 && u_shadows > 0.5) {
        vec3 at = in_sun(v_at + v_normal * 2.0);
        direct *= min(texture(u_static_shadow, at), texture(u_moving_shadow, at));
      }
      vec3 lit = v_colour.rgb * (ambient(v_normal) + sunlight * direct);
      // A rim of light sets bodies off from the background.
      float rim = 1.0 - abs(dot(v_normal, normalize(u_eye - v_at)));
      lit += v_colour.rgb * rim * rim * rim * 0.18;
      lit = mix(u_sky, lit, near(v_at));
      o_colour = vec4(mix(lit, v_colour.rgb * 1.15, v_glow), v_colour.a);
    }`,
};

/** Transparent bodies. Neither the sun nor the sky lights them: they have only their own light. */
export const GHOST = {
  vertex: `${HEAD}${BODY_VERTEX}
    flat out vec4 v_colour;
    void main() {
      v_colour = i_colour;
      gl_Position = u_view * vec4(i_position + turned(a_position * i_scale), 1.0);
    }`,
  fragment: `${HEAD}
    flat in vec4 v_colour;
    out vec4 o_colour;
    void main() { o_colour = vec4(v_colour.rgb * 1.15, v_colour.a); }`,
};

const NOTHING = `${HEAD}void main() {}`;

/** The shadow map of the map: depth as the sun sees it. */
export const MAP_SHADOW = {
  vertex: `${HEAD}
    layout(location = 0) in vec3 a_position;
    uniform mat4 u_view;
    void main() { gl_Position = u_view * vec4(a_position, 1.0); }`,
  fragment: NOTHING,
};

/** The shadow map of bodies: depth as the sun sees it. */
export const BODY_SHADOW = {
  vertex: `${HEAD}${BODY_VERTEX}
    void main() { gl_Position = u_view * vec4(i_position + turned(a_position * i_scale), 1.0); }`,
  fragment: NOTHING,
};

/** Thin lines that never move, drawn slightly nearer than the faces they lie on. */
export const PENCIL = {
  vertex: `${HEAD}
    layout(location = 0) in vec3 a_position;
    uniform mat4 u_view;
    uniform float u_nearer;
    void main() {
      gl_Position = u_view * vec4(a_position, 1.0);
      gl_Position.z -= u_nearer * gl_Position.w;
    }`,
  fragment: `${HEAD}
    out vec4 o_colour;
    void main() { o_colour = vec4(0.02, 0.03, 0.05, 0.5); }`,
};

/** Lines of any width with round ends, each a quad on the screen. A line of no length is a dot. */
export const STROKE = {
  vertex: `${HEAD}
    layout(location = 0) in vec2 a_corner;
    layout(location = 1) in vec3 i_from;
    layout(location = 2) in vec3 i_to;
    layout(location = 3) in vec3 i_colour;
    layout(location = 4) in vec2 i_opacity;
    layout(location = 5) in float i_width;
    uniform mat4 u_view;
    uniform vec2 u_size;
    uniform float u_nearer;
    out vec2 v_place;
    flat out float v_length;
    flat out float v_width;
    out vec4 v_colour;
    void main() {
      vec4 a = u_view * vec4(i_from, 1.0);
      vec4 b = u_view * vec4(i_to, 1.0);
      // The part of a line behind the camera has no place on the screen, so it is cut off.
      const float near = 0.5;
      if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
      if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
      if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
      vec2 from = a.xy / a.w * u_size * 0.5;
      vec2 to = b.xy / b.w * u_size * 0.5;
      float length_ = distance(from, to);
      vec2 along = length_ > 0.01 ? (to - from) / length_ : vec2(1.0, 0.0);
      vec2 across = vec2(-along.y, along.x);
      float reach = i_width * 0.5 + 1.0;
      vec2 offset = along * (a_corner.x * 2.0 - 1.0) * reach + across * a_corner.y * reach;
      vec4 end = a_corner.x < 0.5 ? a : b;
      vec2 pixel = (a_corner.x < 0.5 ? from : to) + offset;
      v_place = vec2(a_corner.x < 0.5 ? -reach : length_ + reach, a_corner.y * reach);
      v_length = length_;
      v_width = i_width;
      v_colour = vec4(i_colour, a_corner.x < 0.5 ? i_opacity.x : i_opacity.y);
      gl_Position = vec4(pixel / (u_size * 0.5) * end.w, end.z - u_nearer * end.w, end.w);
    }`,
  fragment: `${HEAD}
    in vec2 v_place;
    flat in float v_length;
    flat in float v_width;
    in vec4 v_colour;
    out vec4 o_colour;
    void main() {
      vec2 past = vec2(max(max(-v_place.x, v_place.x - v_length), 0.0), v_place.y);
      float cover = clamp(v_width * 0.5 + 0.5 - length(past), 0.0, 1.0);
      o_colour = vec4(v_colour.rgb, v_colour.a * cover);
    }`,
};

/** A horizontal picture in the world. */
export const SHEET = {
  vertex: `${HEAD}
    layout(location = 0) in vec2 a_corner;
    uniform mat4 u_view;
    uniform vec4 u_area;
    uniform float u_height;
    out vec2 v_place;
    void main() {
      v_place = a_corner;
      gl_Position = u_view * vec4(mix(u_area.xy, u_area.zw, a_corner), u_height, 1.0);
    }`,
  fragment: `${HEAD}
    in vec2 v_place;
    uniform sampler2D u_picture;
    out vec4 o_colour;
    void main() { o_colour = texture(u_picture, v_place); }`,
};

/** The surfaces of liquids, with ripples that wander. */
export const LIQUID = {
  vertex: `${HEAD}
    layout(location = 0) in vec3 a_position;
    layout(location = 1) in vec4 a_colour;
    uniform mat4 u_view;
    out vec3 v_at;
    flat out vec4 v_colour;
    void main() {
      v_at = a_position;
      v_colour = a_colour;
      gl_Position = u_view * vec4(a_position, 1.0);
    }`,
  fragment: `${HEAD}
    in vec3 v_at;
    flat in vec4 v_colour;
    uniform vec3 u_eye;
    uniform float u_time;
    out vec4 o_colour;
    void main() {
      vec3 away = u_eye - v_at;
      float far = length(away);
      vec2 at = v_at.xy * 0.07;
      at += 0.7 * sin(at.yx * 0.9 + u_time * vec2(0.7, 0.9));
      float wave = sin(at.x + u_time) * sin(at.y - u_time * 0.8) + 0.5 * sin(dot(at, vec2(1.7, 1.3)) + u_time * 1.4);
      // From afar, ripples are smaller than pixels.
      wave *= exp2(-far / 900.0);
      float flat_ = 1.0 - abs(away.z) / max(far, 1.0);
      vec3 colour = v_colour.rgb * (1.0 + 0.22 * wave) + 0.12 * smoothstep(0.8, 1.3, wave);
      colour = mix(colour, colour + vec3(0.16, 0.2, 0.24), flat_ * flat_);
      o_colour = vec4(colour, mix(v_colour.a, 1.0, 0.4 * flat_ * flat_));
    }`,
};

/** One colour over the whole picture. */
export const TINT = {
  vertex: GROUND.vertex,
  fragment: `${HEAD}
    uniform vec4 u_colour;
    out vec4 o_colour;
    void main() { o_colour = u_colour; }`,
};
