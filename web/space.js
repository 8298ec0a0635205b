"use strict";
// The moving picture of a model in space: lines of bodies, contact points, forces; drag turns it, shift or two fingers move it, ctrl or pinch zooms.

const space = data.space;
if (space) {
  space.time = f64(space.t);
  const track = (o) => (typeof o === "string" ? f32(o) : new Float32Array(space.time.length).fill(o === null ? NaN : o));
  space.bodies.forEach((b) => { b.place = b.place.map(track); });
  space.contacts.forEach((c) => { c.at = c.at.map(track); c.force = c.force.map(track); });
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

function spaceStage() {
  const view = { turn: 0.61, height: 0.42, zoom: 1, dx: 0, dy: 0, follow: false, forces: true, labels: false };
  const node = canvas(null, (g, w, h) => {
    const k = Math.max(0, Math.min(space.time.length - 2, indexAt(space.time, cursor())));
    const step = space.time.length > 1 ? space.time[k + 1] - space.time[k] : 0;
    const f = step > 0 ? Math.min(1, Math.max(0, (cursor() - space.time[k]) / step)) : 0, j = Math.min(k + 1, space.time.length - 1);
    const at = (track) => track[k] + (track[j] - track[k]) * f;
    const places = space.bodies.map((b) => b.place.map(at));
    let middle = space.middle;
    if (view.follow && places.length) middle = [0, 1, 2].map((i) => places.reduce((s, p) => s + p[i], 0) / places.length);
    const axes = screenAxes(view.turn, view.height), scale = view.zoom * 0.42 * Math.min(w, h * 1.2) / space.size;
    const see = (p) => {
      const d = p.map((v, i) => v - middle[i]);
      const [x, y] = axes.map((a) => a[0] * d[0] + a[1] * d[1] + a[2] * d[2]);
      return [w / 2 + x * scale + view.dx, h / 2 - y * scale + view.dy];
    };
    const world = (p, q) => [0, 1, 2].map((i) => p[i] + p[3 + 3 * i] * q[0] + p[4 + 3 * i] * q[1] + p[5 + 3 * i] * q[2]);
    const line = (points) => {
      g.beginPath();
      points.forEach((p, i) => (i ? g.lineTo(...p) : g.moveTo(...p)));
      g.stroke();
    };
    g.lineJoin = g.lineCap = "round";
    g.strokeStyle = colours.grid; g.lineWidth = 1;
    space.ground.forEach((l) => line(l.map(see)));
    const deep = (p) => axes[2][0] * p[0] + axes[2][1] * p[1] + axes[2][2] * p[2];
    const order = space.bodies.map((_, i) => i).sort((a, b) => deep(places[a]) - deep(places[b]));
    for (const i of order) {
      g.strokeStyle = seriesColour(i); g.lineWidth = 1.8;
      space.bodies[i].lines.forEach((l) => line(l.map((p) => see(world(places[i], p)))));
      const [x, y] = see(places[i]);
      g.fillStyle = seriesColour(i);
      g.beginPath(); g.arc(x, y, 2.5, 0, 7); g.fill();
      if (view.labels) {
        g.font = "12px system-ui, sans-serif"; g.fillStyle = colours.ink; g.textAlign = "left"; g.textBaseline = "bottom";
        g.fillText(space.bodies[i].name, x + 8, y - 8);
      }
    }
    for (const c of space.contacts) {
      const p = c.at.map(at), force = c.force.map(at);
      if (!Number.isFinite(p[0])) continue;
      const [x, y] = see(p), code = modeAt(c.name, cursor());
      if (view.forces && code !== 0) {
        const length = 0.55 * space.size / space.peak;
        arrow(g, x, y, ...see(p.map((v, i) => v + force[i] * length)), colours.force);
      }
      g.fillStyle = modeColour(code) || colours.stick; g.strokeStyle = colours.card; g.lineWidth = 1.5;
      g.beginPath(); g.arc(x, y, code === 0 ? 2.5 : 4.5, 0, 7); g.fill(); g.stroke();
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
  node.addEventListener("dblclick", () => { Object.assign(view, { turn: 0.61, height: 0.42, zoom: 1, dx: 0, dy: 0 }); node.repaint(); });
  listen(node.repaint);
  return { node, view };
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
