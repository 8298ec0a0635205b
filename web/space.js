"use strict";
// The moving picture of a model in space: bodies with their shadows, contact points, forces, cones of friction, trails, a second look from
// above; drag turns it, shift or two fingers move it, ctrl or pinch zooms. Bodies are drawn by `solid.js`; where WebGL2 is missing they are
// painted here from far to near, which is right for convex bodies that do not pass through each other.

const space = data.space;
if (space) {
  space.time = f64(space.t);
  const track = (o) => (typeof o === "string" ? f32(o) : new Float32Array(space.time.length).fill(o === null ? NaN : o));
  space.bodies.forEach((b) => { b.place = b.place.map(track); });
  space.contacts.forEach((c) => { c.at = c.at.map(track); c.force = c.force.map(track); c.normal = c.normal.map(track); c.mu = track(c.mu); });
  space.peak = Math.max(1e-300, ...space.contacts.map((c) => forcePeak(c.force)));
}

function forcePeak([x, y, z]) {
  const list = Array.from(x, (_, k) => Math.hypot(x[k], y[k], z[k])).filter((v) => v > 0 && Number.isFinite(v)).sort((a, b) => a - b);
  return list.length ? list[Math.floor(0.98 * (list.length - 1))] : 0;
}

// Axes of the screen (right, up, towards the eye) for a turn about the vertical and a height of the eye.
function screenAxes(turn, height) {
  const up = space.up, near = Math.abs(up[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const s = Math.hypot(...a) || 1; return a.map((v) => v / s); };
  const e1 = unit(cross(near, up).some((v) => v) ? cross(cross(up, near), up) : [1, 0, 0]), e2 = cross(up, e1);
  const flat = [0, 1, 2].map((k) => Math.cos(turn) * e1[k] + Math.sin(turn) * e2[k]);
  const eye = [0, 1, 2].map((k) => Math.cos(height) * flat[k] + Math.sin(height) * up[k]);
  const right = unit(cross(up, flat));
  return [right, cross(eye, right), eye];
}

const minus = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const inner = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// A turn about the vertical shall not change the scale: half of the width and height of the picture, seen from anywhere around.
const HEIGHT = 0.42;
if (space) {
  const high = inner(space.up.map(Math.abs), space.half), flat = Math.hypot(...minus(space.half, space.up.map((v) => Math.abs(v) * high)));
  space.wide = Math.max(flat, 1e-300);
  space.tall = Math.max(Math.cos(HEIGHT) * high + Math.sin(HEIGHT) * flat, 1e-300);
}

// The normal of a polygon, by all of its corners.
function outwards(points) {
  const n = [0, 0, 0];
  points.forEach((p, i) => {
    const q = points[(i + 1) % points.length];
    for (let k = 0; k < 3; k++) n[k] += (p[(k + 1) % 3] - q[(k + 1) % 3]) * (p[(k + 2) % 3] + q[(k + 2) % 3]);
  });
  const size = Math.hypot(...n) || 1;
  return n.map((v) => v / size);
}

// A colour, darker (below 1) or paler (above).
function toned(colour, part) {
  const [r, g, b] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  const mix = (v) => Math.round(part < 1 ? v * part : v + (255 - v) * (part - 1));
  return `rgb(${mix(r)},${mix(g)},${mix(b)})`;
}

// Where the light throws a point onto a plane of the ground; none from below it.
function shadowOn([at, normal], light) {
  const fall = inner(light, normal);
  return (p) => {
    const high = inner(minus(p, at), normal);
    return fall > 0.05 && high > -1e-6 * space.size ? p.map((v, i) => v - (light[i] * high) / fall) : null;
  };
}

// A ball seen from the eye: light from above, and the visible halves of three circles that turn with it.
function paintBall(g, see, scale, axes, centre, turn, [at, r], colour, light) {
  const [x, y] = see(centre), radius = r * scale;
  const [lx, ly] = [inner(axes[0], light), inner(axes[1], light)];
  const shine = g.createRadialGradient(x + 0.5 * radius * lx, y - 0.5 * radius * ly, 0.1 * radius, x, y, radius);
  shine.addColorStop(0, toned(colour, 1.5)); shine.addColorStop(0.6, colour); shine.addColorStop(1, toned(colour, 0.55));
  g.fillStyle = shine;
  g.beginPath(); g.arc(x, y, radius, 0, 7); g.fill();
  if (radius < 6) return;
  g.strokeStyle = toned(colour, 0.5); g.lineWidth = 1;
  for (let k = 0; k < 3; k++) {
    let pen = false;
    g.beginPath();
    for (let i = 0; i <= 36; i++) {
      const d = [0, 0, 0];
      d[k] = Math.cos((i * Math.PI) / 18); d[(k + 1) % 3] = Math.sin((i * Math.PI) / 18);
      const out = minus(turn(d), turn([0, 0, 0]));
      if (inner(out, axes[2]) < 0) { pen = false; continue; }
      const p = see(centre.map((v, j) => v + r * out[j]));
      if (pen) g.lineTo(...p); else g.moveTo(...p);
      pen = true;
    }
    g.stroke();
  }
}

const world = (p, q) => [0, 1, 2].map((i) => p[i] + p[3 + 3 * i] * q[0] + p[4 + 3 * i] * q[1] + p[5 + 3 * i] * q[2]);

function drawLine(g, points) {
  g.beginPath();
  points.forEach((p, i) => (i ? g.lineTo(...p) : g.moveTo(...p)));
  g.stroke();
}

// Bodies and ground without WebGL: what is near is painted over what is far.
function paintSolids(g, see, scale, axes, places, light) {
  g.lineJoin = g.lineCap = "round";
  g.strokeStyle = colours.grid; g.lineWidth = 1;
  space.ground.forEach((l) => drawLine(g, l.map(see)));
  const deep = (p) => inner(axes[2], p);
  const faces = space.bodies.map((b, i) => b.faces.map((f) => f.map((p) => world(places[i], p))));
  const parts = [];
  const face = (f, colour, plain) => {
    const n = outwards(f);
    if (inner(n, axes[2]) <= 0) return;
    parts.push([f.reduce((m, p) => m + deep(p), 0) / f.length, () => {
      g.fillStyle = toned(colour, 0.72 + 0.5 * Math.max(0, inner(n, light)));
      g.strokeStyle = plain ? g.fillStyle : toned(colour, 0.5); g.lineWidth = 1;
      g.beginPath();
      f.forEach((p, k) => (k ? g.lineTo(...see(p)) : g.moveTo(...see(p))));
      g.closePath(); g.fill(); g.stroke();
    }]);
  };
  for (const f of space.groundFaces) face(f, colours.ground, space.groundFaces.length > 60);
  for (const ball of space.groundBalls) parts.push([deep(ball[0]), () => paintBall(g, see, scale, axes, ball[0], (p) => p, ball, colours.ground, light)]);
  if (inner(axes[2], space.up) > 0) shadows(g, see, scale, faces, places, light);
  space.bodies.forEach((b, i) => {
    const colour = seriesColour(i), turn = (p) => world(places[i], p);
    for (const f of faces[i]) face(f, colour, b.faces.length > 60);
    for (const ball of b.balls) {
      const centre = turn(ball[0]);
      parts.push([deep(centre), () => paintBall(g, see, scale, axes, centre, turn, ball, colour, light)]);
    }
    const solid = b.faces.length || b.balls.length;
    parts.push([deep(places[i]), () => {
      g.strokeStyle = colour; g.lineWidth = 1.8;
      if (!solid) b.lines.forEach((l) => drawLine(g, l.map((p) => see(turn(p)))));
      b.links.forEach((l) => drawLine(g, l.map((p) => see(turn(p)))));
      const [x, y] = see(places[i]);
      g.fillStyle = colour;
      if (!solid) { g.beginPath(); g.arc(x, y, 2.5, 0, 7); g.fill(); }
    }]);
  });
  parts.sort((a, b) => a[0] - b[0]).forEach((p) => p[1]());
}

// The way of the origins of the bodies until now, the last part of it brighter.
function paintTrails(g, see, frame) {
  if (space.bodies.length > 60) return;
  const every = Math.max(1, Math.floor(frame / 400));
  g.lineWidth = 1.4;
  space.bodies.forEach((b, i) => {
    const [x, y, z] = b.place, points = [];
    for (let k = 0; k <= frame; k += every) points.push(see([x[k], y[k], z[k]]));
    g.strokeStyle = seriesColour(i); g.globalAlpha = 0.55;
    drawLine(g, points);
  });
  g.globalAlpha = 1;
}

// The cone in which the force of a contact must lie, as far as it is drawn.
function paintCone(g, see, p, n, mu, colour) {
  const side = Math.abs(n[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0], a = outwards([[0, 0, 0], n, side]), b = outwards([[0, 0, 0], n, a]);
  const high = 0.3 * space.size / Math.hypot(1, mu), round = [];
  for (let k = 0; k < 40; k++) {
    const [c, s] = [Math.cos((k * Math.PI) / 20), Math.sin((k * Math.PI) / 20)];
    round.push(see(p.map((v, i) => v + high * (n[i] + mu * (c * a[i] + s * b[i])))));
  }
  const tip = see(p);
  // the outline of the cone: the tip with the two corners of the rim that see it at the widest angle
  const middle = round.reduce((m, q) => [m[0] + q[0] / 40, m[1] + q[1] / 40], [0, 0]), way = [middle[0] - tip[0], middle[1] - tip[1]];
  const turned = round.map((q) => Math.atan2(way[0] * (q[1] - tip[1]) - way[1] * (q[0] - tip[0]), way[0] * (q[0] - tip[0]) + way[1] * (q[1] - tip[1])));
  const least = round[turned.indexOf(Math.min(...turned))], most = round[turned.indexOf(Math.max(...turned))];
  g.fillStyle = g.strokeStyle = colour; g.lineWidth = 1;
  g.globalAlpha = 0.16;
  g.beginPath(); round.forEach((q, k) => (k ? g.lineTo(...q) : g.moveTo(...q))); g.closePath(); g.fill();
  g.beginPath(); g.moveTo(...tip); g.lineTo(...least); g.lineTo(...most); g.closePath(); g.fill();
  g.globalAlpha = 0.75;
  drawLine(g, [...round, round[0]]); drawLine(g, [least, tip, most]);
  g.globalAlpha = 1;
}

// What stands before the bodies: trails, names, contact points with their forces and cones.
function paintMarks(g, see, at, frame, places, view) {
  if (view.trails) paintTrails(g, see, frame);
  if (view.labels) {
    g.font = "12px system-ui, sans-serif"; g.fillStyle = colours.ink; g.textAlign = "left"; g.textBaseline = "bottom";
    space.bodies.forEach((b, i) => { const [x, y] = see(places[i]); g.fillText(b.name, x + 8, y - 8); });
  }
  for (const c of space.contacts) {
    const p = c.at.map(at), force = c.force.map(at);
    if (!Number.isFinite(p[0])) continue;
    const [x, y] = see(p), code = modeAt(c.name, cursor()), n = c.normal.map(at), mu = at(c.mu);
    if (view.cones && code !== 0 && mu > 0 && Math.hypot(...n) > 0.5) paintCone(g, see, p, n, mu, modeColour(code) || colours.stick);
    if (view.forces && code !== 0) arrow(g, x, y, ...see(p.map((v, i) => v + force[i] * 0.55 * space.size / space.peak)), colours.force);
    g.fillStyle = modeColour(code) || colours.stick; g.strokeStyle = colours.card; g.lineWidth = 1.5;
    g.beginPath(); g.arc(x, y, code === 0 ? 2.5 : 4.5, 0, 7); g.fill(); g.stroke();
  }
}

function spaceStage() {
  const view = { turn: 0.61, height: HEIGHT, zoom: 1, dx: 0, dy: 0, follow: false, forces: true, cones: false, trails: false, above: false, labels: false };
  let painter = solidPainter();
  const node = canvas(null, (g, w, h) => {
    const k = Math.max(0, Math.min(space.time.length - 2, indexAt(space.time, cursor())));
    const step = space.time.length > 1 ? space.time[k + 1] - space.time[k] : 0;
    const f = step > 0 ? Math.min(1, Math.max(0, (cursor() - space.time[k]) / step)) : 0, j = Math.min(k + 1, space.time.length - 1);
    const at = (track) => track[k] + (track[j] - track[k]) * f;
    const places = space.bodies.map((b) => b.place.map(at));
    let middle = space.middle;
    if (view.follow && places.length) middle = [0, 1, 2].map((i) => places.reduce((s, p) => s + p[i], 0) / places.length);
    const axes = screenAxes(view.turn, view.height), small = Math.min(0.34 * w, 0.46 * h);
    const views = [{ axes, scale: view.zoom * Math.min((0.5 * w - 24) / space.wide, (0.5 * h - 28) / space.tall), box: [0, 0, w, h], move: [view.dx, view.dy] }];
    if (view.above) views.push({ axes: screenAxes(view.turn, Math.PI / 2), scale: 0.42 * small / space.size, box: [w - small - 8, h - small - 8, small, small], move: [0, 0] });
    // the light stands above, a little to the left of the eye
    const light = [0, 1, 2].map((i) => space.up[i] + 0.45 * axes[2][i] - 0.35 * axes[0][i]), bright = Math.hypot(...light);
    light.forEach((v, i) => { light[i] = v / bright; });
    if (painter && !painter(g, w, h, places, middle, light, views)) painter = null;
    node.dataset.drawn = painter ? "webgl" : "painted";
    for (const [index, v] of views.entries()) {
      const [x0, y0, vw, vh] = v.box;
      const see = (p) => {
        const d = minus(p, middle);
        return [x0 + vw / 2 + inner(v.axes[0], d) * v.scale + v.move[0], y0 + vh / 2 - inner(v.axes[1], d) * v.scale + v.move[1]];
      };
      g.save();
      if (index) {
        g.beginPath(); g.rect(...v.box); g.clip();
        if (!painter) { g.fillStyle = colours.card; g.fillRect(...v.box); }
      }
      if (!painter) paintSolids(g, see, v.scale, v.axes, places, light);
      paintMarks(g, see, at, k, places, index ? { ...view, labels: false } : view);
      g.restore();
      if (index) {
        g.strokeStyle = colours.line; g.lineWidth = 1; g.strokeRect(...v.box);
        g.font = "11px system-ui, sans-serif"; g.fillStyle = colours.soft; g.textAlign = "left"; g.textBaseline = "top"; g.fillText("from above", x0 + 6, y0 + 5);
      }
    }
    triad(g, axes, h);
  });
  node.style.touchAction = "none";
  const fingers = new Map();
  zoomByWheel(node, view);
  node.addEventListener("pointerdown", (e) => { node.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); });
  node.addEventListener("pointermove", (e) => {
    const old = fingers.get(e.pointerId);
    if (!old) return;
    const dx = e.clientX - old[0], dy = e.clientY - old[1];
    const others = [...fingers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    if (others.length) {
      const far = (p) => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]) || 1;
      view.zoom = Math.min(1e4, Math.max(0.05, view.zoom * far([e.clientX, e.clientY]) / far(old)));
      view.dx += dx / 2; view.dy += dy / 2;
    } else if (e.shiftKey || e.buttons === 4) {
      view.dx += dx; view.dy += dy;
    } else {
      view.turn -= dx * 0.008;
      view.height = Math.min(1.5707, Math.max(-1.5707, view.height + dy * 0.008));
    }
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    node.repaint();
  });
  for (const end of ["pointerup", "pointercancel"]) node.addEventListener(end, (e) => { fingers.delete(e.pointerId); });
  node.addEventListener("dblclick", () => { Object.assign(view, { turn: 0.61, height: HEIGHT, zoom: 1, dx: 0, dy: 0 }); node.repaint(); });
  listen(node.repaint);
  return { node, view };
}

// The shadows of all bodies on the planes of the ground, as one area.
function shadows(g, see, scale, faces, places, light) {
  for (const plane of space.planes) {
    const fall = shadowOn(plane, light);
    const area = (points) => {
      const thrown = points.map(fall);
      if (thrown.some((p) => !p)) return;
      thrown.forEach((p, k) => (k ? g.lineTo(...see(p)) : g.moveTo(...see(p))));
      g.closePath();
    };
    // two directions across the light
    const side = Math.abs(light[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0], right = outwards([[0, 0, 0], light, side]), above = outwards([[0, 0, 0], light, right]);
    g.beginPath();
    space.bodies.forEach((b, i) => {
      // what faces the light throws the whole shadow
      faces[i].filter((f) => inner(outwards(f), light) > 0).forEach(area);
      for (const [at, r] of b.balls) {
        const c = world(places[i], at), round = [];
        for (let k = 0; k < 40; k++) round.push(c.map((v, j) => v + r * (Math.cos((k * Math.PI) / 20) * right[j] + Math.sin((k * Math.PI) / 20) * above[j])));
        area(round);
      }
    });
    g.fillStyle = "rgba(20, 24, 28, 0.13)";
    g.fill();
  }
}

// Directions of the axes in the corner.
function triad(g, axes, h) {
  const x = 34, y = h - 34;
  g.font = "11px system-ui, sans-serif"; g.textAlign = "center"; g.textBaseline = "middle";
  ["x", "y", "z"].forEach((letter, k) => {
    const ex = x + 20 * axes[0][k], ey = y - 20 * axes[1][k];
    g.strokeStyle = g.fillStyle = colours.soft; g.lineWidth = 1.5;
    g.beginPath(); g.moveTo(x, y); g.lineTo(ex, ey); g.stroke();
    g.fillText(letter, x + 29 * axes[0][k], y - 29 * axes[1][k]);
  });
}
