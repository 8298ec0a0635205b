"use strict";
// Bodies in space as lit surfaces with shadows, by WebGL2: a map of depths seen from the light, then the picture seen from the eye.
// `solidPainter()` gives a function that paints into a 2D context, or null where WebGL2 is missing; the picture is then painted from
// far to near by `space.js`.

const SOLID_VERTEX = `#version 300 es
in vec3 place; in vec3 normal;
uniform mat3 turn; uniform vec3 shift, middle, eye[3], light[3], window, lamp;
out vec3 facing, own; out vec3 shade;
void main() {
  vec3 p = turn * place + shift - middle;
  facing = turn * normal; own = place;
  shade = vec3(dot(light[0], p), dot(light[1], p), -dot(light[2], p)) * lamp.x * 0.5 + 0.5;
  gl_Position = vec4(window.xy * vec2(dot(eye[0], p), dot(eye[1], p)), -dot(eye[2], p) * window.z, 1.0);
}`;

const SOLID_FRAGMENT = `#version 300 es
precision highp float; precision highp sampler2DShadow;
in vec3 facing, own; in vec3 shade;
uniform vec3 colour, toLight, toEye, up, lamp, line; uniform float kind, step; uniform sampler2DShadow depths;
out vec4 ink;
float lit(vec3 at) {
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -1; i <= 1; i++) for (int k = -1; k <= 1; k++) sum += texture(depths, at + vec3(float(i), float(k), 0.0) * lamp.y);
  return sum / 9.0;
}
void main() {
  vec3 n = normalize(facing);
  if (!gl_FrontFacing && kind < 1.5) n = -n;
  float sun = max(0.0, dot(n, toLight)), see = lit(shade - vec3(0.0, 0.0, lamp.z * (1.2 - sun)));
  if (kind > 1.5) { // the ground: a grid that fades, darker in shadow
    vec2 cell = own.xy / step, wide = fwidth(cell);
    vec2 near = abs(fract(cell - 0.5) - 0.5) / max(wide, vec2(1e-6));
    float on = 1.0 - min(1.0, min(near.x, near.y));
    float far = smoothstep(1.0, 0.55, length(own.xy) / (8.0 * step));
    vec3 base = mix(colour, line, 0.8 * on);
    ink = vec4(mix(base * 0.72, base, see), 1.0) * far;
    return;
  }
  vec3 base = colour;
  if (kind > 0.5) { // a ball: three great circles turn with it
    vec3 away = abs(own) / max(fwidth(own), vec3(1e-5));
    base *= 1.0 - 0.45 * (1.0 - smoothstep(0.6, 1.6, min(away.x, min(away.y, away.z))));
  }
  float glow = pow(max(0.0, dot(reflect(-toLight, n), toEye)), 24.0) * see;
  vec3 sky = base * (0.66 + 0.12 * dot(n, up));
  ink = vec4(sky + base * 0.42 * sun * see + vec3(0.14) * glow, 1.0);
}`;

const FLAT_FRAGMENT = `#version 300 es
precision highp float;
in vec3 facing, own; in vec3 shade; uniform vec3 colour; out vec4 ink;
void main() { ink = vec4(colour, 1.0) + 0.0 * vec4(facing + own + shade, 0.0); }`;

// Triangles of polygons with normals: smooth where faces meet at less than 40 degrees.
function meshOf(faces) {
  const key = (p) => p.map((v) => v.toPrecision(7)).join(" "), at = new Map(), normals = faces.map(outwards);
  faces.forEach((f, k) => f.forEach((p) => { const list = at.get(key(p)) || at.set(key(p), []).get(key(p)); list.push(normals[k]); }));
  const out = [];
  faces.forEach((f, k) => {
    const smooth = f.map((p) => {
      const n = [0, 0, 0];
      for (const other of at.get(key(p))) if (inner(other, normals[k]) > 0.766) other.forEach((v, i) => { n[i] += v; });
      const size = Math.hypot(...n) || 1;
      return n.map((v) => v / size);
    });
    for (let i = 1; i + 1 < f.length; i++) for (const j of [0, i, i + 1]) out.push(...f[j], ...smooth[j]);
  });
  return new Float32Array(out);
}

// A unit ball of triangles.
function ballMesh(round) {
  const high = round / 2, point = (i, k) => {
    const a = (i * 2 * Math.PI) / round, b = (k * Math.PI) / high;
    return [Math.sin(b) * Math.cos(a), Math.sin(b) * Math.sin(a), -Math.cos(b)];
  };
  const out = [];
  for (let i = 0; i < round; i++) for (let k = 0; k < high; k++) {
    const [p, q, r, s] = [point(i, k), point(i + 1, k), point(i + 1, k + 1), point(i, k + 1)];
    for (const v of [p, q, r, p, r, s]) out.push(...v, ...v);
  }
  return new Float32Array(out);
}

// Lines as thin bars of six sides.
function barMesh(lines, r) {
  const out = [];
  for (const l of lines) for (let k = 0; k + 1 < l.length; k++) {
    const [a, b] = [l[k], l[k + 1]], way = minus(b, a), length = Math.hypot(...way);
    if (!(length > 0)) continue;
    const u = way.map((v) => v / length), side = Math.abs(u[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0], e = outwards([[0, 0, 0], u, side]), f = outwards([[0, 0, 0], u, e]);
    const dir = (i) => [0, 1, 2].map((j) => Math.cos((i * Math.PI) / 3) * e[j] + Math.sin((i * Math.PI) / 3) * f[j]);
    for (let i = 0; i < 6; i++) {
      const [d, g] = [dir(i), dir(i + 1)], from = (p, n) => [...p.map((v, j) => v + r * n[j]), ...n];
      for (const v of [from(a, d), from(a, g), from(b, g), from(a, d), from(b, g), from(b, d)]) out.push(...v);
    }
  }
  return new Float32Array(out);
}

function solidPainter() {
  const page = document.createElement("canvas"), gl = page.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
  if (!gl) return null;
  const program = (fragment) => {
    const made = gl.createProgram();
    for (const [type, text] of [[gl.VERTEX_SHADER, SOLID_VERTEX], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(type);
      gl.shaderSource(shader, text); gl.compileShader(shader); gl.attachShader(made, shader);
    }
    gl.bindAttribLocation(made, 0, "place"); gl.bindAttribLocation(made, 1, "normal");
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) return null;
    const places = new Map();
    return { made, at: (name) => { if (!places.has(name)) places.set(name, gl.getUniformLocation(made, name)); return places.get(name); } };
  };
  const full = program(SOLID_FRAGMENT), flat = program(FLAT_FRAGMENT);
  if (!full || !flat) return null;
  const upload = (mesh) => {
    if (!mesh.length) return null;
    const list = gl.createVertexArray();
    gl.bindVertexArray(list);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, mesh, gl.STATIC_DRAW);
    for (const k of [0, 1]) { gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k); }
    return { list, count: mesh.length / 6 };
  };
  // what does not change: surfaces, edges and bars of bodies in their own axes, the ground
  const balls = space.bodies.reduce((n, b) => n + b.balls.length, 0), ball = upload(ballMesh(balls > 200 ? 20 : 40)), thin = 0.006 * space.size;
  const bodies = space.bodies.map((b) => {
    const solid = b.faces.length || b.balls.length, edges = b.faces.length <= 60 ? b.faces.map((f) => [...f, f[0]]) : [];
    return { mesh: upload(meshOf(b.faces)), bars: upload(barMesh([...(solid ? [] : b.lines), ...b.links], thin)), edges: upload(barMesh(edges, 0.35 * thin)), balls: b.balls };
  });
  const still = upload(barMesh(space.ground.slice(0, space.ground.length - 22 * space.planes.length), 0.4 * thin));
  const stone = upload(meshOf(space.groundFaces)), rims = upload(barMesh(space.groundFaces.length <= 60 ? space.groundFaces.map((f) => [...f, f[0]]) : [], 0.35 * thin));
  const width = 1.3 * space.size;
  const floors = space.planes.map(([at, n]) => {
    const foot = [0, 1, 2].map((k) => space.middle[k] - inner(minus(space.middle, at), n) * n[k]);
    const side = Math.abs(n[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0], b = outwards([[0, 0, 0], n, side]), a = outwards([[0, 0, 0], b, n]);
    return { foot, n, a, b };
  });
  const floor = upload(new Float32Array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]].flatMap(([x, y]) => [1.6 * width * x, 1.6 * width * y, 0, 0, 0, 1])));
  const SIDE = 2048, depths = gl.createTexture(), below = gl.createFramebuffer();
  gl.bindTexture(gl.TEXTURE_2D, depths);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SIDE, SIDE);
  for (const [k, v] of [[gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, k, v);
  gl.bindFramebuffer(gl.FRAMEBUFFER, below);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depths, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);

  const rgb = (colour) => [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255);
  const still9 = [1, 0, 0, 0, 1, 0, 0, 0, 1];
  // a row-wise turn of the data as the columns that shaders want
  const columnsOf = (p) => [3, 6, 9, 4, 7, 10, 5, 8, 11].map((k) => p[k]);

  function draw(use, what, turn, shift, colour, kind = 0) {
    if (!what) return;
    gl.uniformMatrix3fv(use.at("turn"), false, turn);
    gl.uniform3fv(use.at("shift"), shift);
    gl.uniform3fv(use.at("colour"), colour);
    gl.uniform1f(use.at("kind"), kind);
    gl.bindVertexArray(what.list);
    gl.drawArrays(gl.TRIANGLES, 0, what.count);
  }

  function everything(use, places) {
    draw(use, stone, still9, [0, 0, 0], rgb(colours.ground));
    for (const [at, r] of space.groundBalls) draw(use, ball, still9.map((v) => v * r), at, rgb(colours.ground));
    bodies.forEach((b, i) => {
      const turn = columnsOf(places[i]), shift = places[i].slice(0, 3), colour = rgb(seriesColour(i));
      draw(use, b.mesh, turn, shift, colour);
      draw(use, b.bars, turn, shift, colour);
      draw(use, b.edges, turn, shift, colour.map((v) => 0.45 * v));
      for (const [at, r] of b.balls) {
        const c = [0, 1, 2].map((k) => shift[k] + inner([turn[k], turn[3 + k], turn[6 + k]], at));
        draw(use, ball, turn.map((v) => v * r), c, colour, 1);
      }
    });
  }

  // One look: the axes of the screen and the part of the page (in pixels of the device, from below).
  function look(places, middle, axes, scale, [left, low, w, h], [dx, dy], light) {
    const reach = 6 * space.size + Math.hypot(...minus(middle, space.middle));
    gl.viewport(left + dx, low - dy, w, h);
    gl.enable(gl.SCISSOR_TEST); gl.scissor(left, low, w, h);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(full.made);
    for (const [name, value] of [["eye", axes.flat()], ["light", light.axes.flat()]]) gl.uniform3fv(full.at(name), value);
    gl.uniform3fv(full.at("middle"), middle);
    gl.uniform3fv(full.at("window"), [2 * scale / w, 2 * scale / h, 1 / reach]);
    gl.uniform3fv(full.at("lamp"), [1 / light.reach, 1.2 / SIDE, 0.002]);
    gl.uniform3fv(full.at("toLight"), light.axes[2]);
    gl.uniform3fv(full.at("toEye"), axes[2]);
    gl.uniform3fv(full.at("up"), space.up);
    gl.uniform3fv(full.at("line"), rgb(colours.line).map((v) => (document.documentElement.dataset.theme === "dark" ? v + 0.07 : v - 0.07)));
    gl.uniform1f(full.at("step"), 0.26 * space.size);
    gl.uniform1i(full.at("depths"), 0);
    // the ground fades towards its border, seen from above only
    gl.enable(gl.BLEND); gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthMask(false);
    for (const f of floors) {
      if (inner(f.n, axes[2]) <= 0.01) continue;
      draw(full, floor, [...f.a, ...f.b, ...f.n], f.foot.map((v, k) => v - 1e-4 * space.size * f.n[k]), rgb(colours.bg), 2);
    }
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    draw(full, still, still9, [0, 0, 0], rgb(colours.ground));
    draw(full, rims, still9, [0, 0, 0], rgb(colours.ground).map((v) => 0.45 * v));
    everything(full, places);
    gl.disable(gl.SCISSOR_TEST);
  }

  function shadowMap(places, middle, light) {
    gl.bindFramebuffer(gl.FRAMEBUFFER, below);
    gl.viewport(0, 0, SIDE, SIDE);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.useProgram(flat.made);
    gl.uniform3fv(flat.at("eye"), light.axes.flat());
    gl.uniform3fv(flat.at("middle"), middle);
    gl.uniform3fv(flat.at("window"), [1 / light.reach, 1 / light.reach, 1 / light.reach]);
    gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(1.5, 2);
    everything(flat, places);
    gl.disable(gl.POLYGON_OFFSET_FILL);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // Paint the bodies at these places: `views` are {axes, scale, box, move} in pixels of the page.
  return (g, w, h, places, middle, light, views) => {
    const ratio = window.devicePixelRatio || 1;
    if (gl.isContextLost()) return false;
    page.width = Math.round(w * ratio); page.height = Math.round(h * ratio);
    const far = places.reduce((m, p) => Math.max(m, Math.hypot(...minus(p.slice(0, 3), middle))), 0);
    const side = Math.abs(light[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], right = outwards([[0, 0, 0], side, light]), above = outwards([[0, 0, 0], light, right]);
    const lamp = { axes: [right, above, light], reach: Math.max(1.8 * space.size, Math.min(far + space.size, 4 * space.size)) };
    gl.enable(gl.DEPTH_TEST);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, null);
    shadowMap(places, middle, lamp);
    gl.bindTexture(gl.TEXTURE_2D, depths);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    for (const v of views) {
      const [x, y, vw, vh] = v.box;
      look(places, middle, v.axes, v.scale * ratio, [x * ratio, (h - y - vh) * ratio, vw * ratio, vh * ratio].map(Math.round), v.move.map((d) => d * ratio), lamp);
    }
    g.drawImage(page, 0, 0, w, h);
    return true;
  };
}
