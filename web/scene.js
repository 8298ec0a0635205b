"use strict";
// The moving picture: bodies, ground, springs, contacts with their forces.

const scene = data.scene;
if (scene) {
  scene.time = f64(scene.t);
  const track = (o, ...keys) => { for (const k of keys) if (o[k] !== undefined) o[k] = typeof o[k] === "string" ? f32(o[k]) : new Float32Array(scene.time.length).fill(o[k]); };
  scene.bodies.forEach((b) => track(b, "x", "y", "a"));
  scene.contacts.forEach((c) => track(c, "x", "y", "nx", "ny"));
  scene.springs.forEach((s) => track(s, "x0", "y0", "x1", "y1"));
  scene.draws.forEach((d) => { track(d, "x", "y", "r"); if (d.points) d.points.forEach((p) => track(p, "x", "y")); });
}

// Value of a track at a time, linear between frames.
function frameAt(t) {
  const k = Math.max(0, Math.min(scene.time.length - 2, indexAt(scene.time, t)));
  if (scene.time.length < 2) return [0, 0, 0];
  const step = scene.time[k + 1] - scene.time[k];
  return [k, k + 1, step > 0 ? Math.min(1, Math.max(0, (t - scene.time[k]) / step)) : 0];
}

// Stage with pan and zoom; scale in pixels per metre.
function stage() {
  if (!scene) return null;
  const view = { zoom: 1, dx: 0, dy: 0, follow: scene.follow, forces: true, labels: false };
  const peak = Math.max(1e-300, ...scene.contacts.map((c) => robustPeak(c.name)));
  const node = canvas(null, (g, w, h) => {
    const [i, j, f] = frameAt(cursor());
    const at = (track) => track[i] + (track[j] - track[i]) * f;
    let [x0, y0, x1, y1] = view.follow ? scene.near : scene.bounds;
    const size = Math.max(x1 - x0, y1 - y0, 1e-9);
    const mx = 0.06 * size + 1e-12;
    x0 -= mx; x1 += mx; y0 -= mx; y1 += mx;
    const scale = view.zoom * Math.min((w - 30) / (x1 - x0), (h - 50) / (y1 - y0));
    let cx = (x0 + x1) / 2, cy = (y0 + y1) / 2;
    if (view.follow && scene.bodies.length) {
      const [bx, by] = centre(at);
      cx += bx; cy += by;
    }
    const px = (x) => w / 2 + (x - cx) * scale + view.dx, py = (y) => h / 2 + 4 - (y - cy) * scale * scene.up + view.dy;
    view.scale = scale;
    grid(g, w, h, scale, cx, cy, px, py);
    for (const p of scene.ground) primitive(g, p, { px, py, scale, w, h }, 0, 0, 0, true);
    for (const d of scene.draws) drawing(g, d, at, px, py, scale);
    for (const s of scene.springs) spring(g, px(at(s.x0)), py(at(s.y0)), px(at(s.x1)), py(at(s.y1)));
    scene.bodies.forEach((b) => body(g, b, at, { px, py, scale, w, h }));
    if (view.labels) {
      g.font = "12px system-ui, sans-serif"; g.fillStyle = colours.ink; g.textAlign = "left"; g.textBaseline = "bottom";
      for (const b of scene.bodies) g.fillText(b.name, px(at(b.x)) + 8, py(at(b.y)) - 8);
    }
    for (const c of scene.contacts) contact(g, c, at, px, py, peak, view.forces);
    scaleBar(g, w, h, scale);
  });
  zoomByWheel(node, view);
  let last = null;
  node.addEventListener("pointerdown", (e) => { node.setPointerCapture(e.pointerId); last = [e.clientX, e.clientY]; });
  node.addEventListener("pointermove", (e) => {
    if (!last) return;
    view.dx += e.clientX - last[0]; view.dy += e.clientY - last[1];
    last = [e.clientX, e.clientY];
    node.repaint();
  });
  node.addEventListener("pointerup", () => { last = null; });
  node.addEventListener("dblclick", () => { view.zoom = 1; view.dx = view.dy = 0; node.repaint(); });
  listen(node.repaint);
  return { node, view };
}

function centre(at) {
  let x = 0, y = 0;
  for (const b of scene.bodies) { x += at(b.x); y += at(b.y); }
  return [x / scene.bodies.length, y / scene.bodies.length];
}

// Largest force that is not a lone spike: the 98 % quantile of what is not zero.
function robustPeak(name) {
  const c = column(name + ".normal");
  if (!c) return 0;
  const step = Math.max(1, Math.floor(c.y.length / 4000));
  const list = Array.from(c.y).filter((_, k) => k % step === 0).map(Math.abs).filter((v) => v > 0 && Number.isFinite(v)).sort((a, b) => a - b);
  return list.length ? list[Math.floor(0.98 * (list.length - 1))] : 0;
}

function grid(g, w, h, scale, cx, cy, px, py) {
  const step = niceStep(70 / scale);
  g.strokeStyle = colours.grid;
  g.lineWidth = 1;
  g.beginPath();
  for (let x = Math.ceil((cx - w / scale) / step) * step; x < cx + w / scale; x += step) { g.moveTo(px(x), 0); g.lineTo(px(x), h); }
  for (let y = Math.ceil((cy - h / scale) / step) * step; y < cy + h / scale; y += step) { g.moveTo(0, py(y)); g.lineTo(w, py(y)); }
  g.stroke();
}
function niceStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
}
function scaleBar(g, w, h, scale) {
  if (scene.scheme) return;
  const step = niceStep(60 / scale), x = w - 16 - step * scale, y = h - 14;
  g.strokeStyle = g.fillStyle = colours.soft;
  g.lineWidth = 1.5;
  g.beginPath(); g.moveTo(x, y - 4); g.lineTo(x, y); g.lineTo(x + step * scale, y); g.lineTo(x + step * scale, y - 4); g.stroke();
  g.font = "11px system-ui, sans-serif"; g.textAlign = "center"; g.textBaseline = "bottom";
  const unit = step >= 1 ? [1, "m"] : step >= 1e-3 ? [1e3, "mm"] : [1e6, "µm"];
  g.fillText(format(step * unit[0], 3) + " " + unit[1], x + step * scale / 2, y - 5);
}

function body(g, b, at, v) {
  const x = at(b.x), y = at(b.y), a = b.a ? at(b.a) : 0;
  const c = Math.cos(a), s = Math.sin(a);
  const to = (p) => [v.px(x + c * p[0] - s * p[1]), v.py(y + s * p[0] + c * p[1])];
  if (b.bones && b.bones.length > 1) {
    const points = b.bones.map(to);
    g.lineCap = g.lineJoin = "round";
    for (const [width, colour] of [[9, colours["body-line"]], [6.4, colours.body]]) {
      g.strokeStyle = colour; g.lineWidth = width;
      g.beginPath(); points.forEach((p, k) => k ? g.lineTo(...p) : g.moveTo(...p));
      if (b.bones.length > 2) { g.closePath(); g.fillStyle = colours.body; g.fill(); }
      g.stroke();
    }
    for (const p of points) { g.fillStyle = colours["body-line"]; g.beginPath(); g.arc(p[0], p[1], 2, 0, 7); g.fill(); }
  }
  for (const p of b.shapes) primitive(g, p, v, x, y, a, false);
}

// A shape in the axes of a body (or of the ground).
function primitive(g, p, v, x, y, a, fixed) {
  const c = Math.cos(a), s = Math.sin(a);
  const to = (u, w) => [v.px(x + c * u - s * w), v.py(y + s * u + c * w)];
  g.lineWidth = 1.6;
  g.strokeStyle = fixed ? colours.ground : colours["body-line"];
  g.fillStyle = colours.body;
  if (p.k === "flat") {
    const [X, Y] = to(p.x, p.y);
    const [nx, ny] = [c * p.nx - s * p.ny, s * p.nx + c * p.ny];
    const length = Math.hypot(nx, ny) || 1, sx = nx / length, sy = -ny / length * scene.up;
    const far = fixed ? 2 * (v.w + v.h) : 0.6 * v.scale * scene.size;
    // on the ground, centre the line on the window
    let mx = X, my = Y;
    if (fixed) { const d = (v.w / 2 - X) * -sy + (v.h / 2 - Y) * sx; mx = X - sy * d; my = Y + sx * d; }
    hatch(g, mx + sy * far, my - sx * far, mx - sy * far, my + sx * far, sx, sy);
  } else if (p.k === "round") {
    const [X, Y] = to(p.x, p.y), r = Math.max(1.5, p.r * v.scale);
    g.beginPath(); g.arc(X, Y, r, 0, 7);
    if (p.hole) { g.stroke(); return; }
    if (!fixed) g.fill(); else { g.globalAlpha = 0.25; g.fillStyle = colours.ground; g.fill(); g.globalAlpha = 1; }
    g.stroke();
    if (!fixed) {
      const [ex, ey] = to(p.x + p.r, p.y);
      g.lineWidth = 1.2; g.beginPath(); g.moveTo(X, Y); g.lineTo(ex, ey); g.stroke();
    }
  } else if (p.k === "path") {
    g.beginPath();
    for (let k = 0; k < p.p.length; k += 2) { const q = to(p.p[k], p.p[k + 1]); if (k) g.lineTo(...q); else g.moveTo(...q); }
    if (p.closed) { g.closePath(); g.globalAlpha = fixed ? 0.3 : 1; if (fixed) g.fillStyle = colours.ground; g.fill(); g.globalAlpha = 1; }
    g.stroke();
  } else if (p.k === "point") {
    const [X, Y] = to(p.x, p.y);
    g.fillStyle = fixed ? colours.ground : colours["body-line"];
    g.beginPath(); g.arc(X, Y, fixed ? 3.5 : 2.6, 0, 7); g.fill();
  } else if (p.k === "block") {
    const [X, Y] = to(0, 0), half = Math.max(5, p.size * v.scale / 2), tall = Math.max(5, p.tall * v.scale / 2);
    g.beginPath(); g.roundRect(X - half, Y - tall, 2 * half, 2 * tall, 3); g.fill(); g.stroke();
  } else if (p.k === "disc") {
    const [X, Y] = to(0, 0), r = Math.max(8, p.size * v.scale / 2);
    g.beginPath(); g.arc(X, Y, r, 0, 7); g.fill(); g.stroke();
    for (let k = 0; k < 3; k++) {
      const turn = a * scene.up + k * 2 * Math.PI / 3;
      g.lineWidth = k ? 1 : 2.4;
      g.beginPath(); g.moveTo(X, Y); g.lineTo(X + r * Math.cos(turn), Y - r * Math.sin(turn)); g.stroke();
    }
  } else if (p.k === "bar") {
    const [X, Y] = to(0, 0), r = Math.max(14, p.size * v.scale / 2);
    const ux = Math.cos(a), uy = -Math.sin(a) * scene.up;
    g.lineCap = "round";
    for (const [width, colour] of [[9, colours["body-line"]], [6.4, colours.body]]) {
      g.strokeStyle = colour; g.lineWidth = width;
      g.beginPath(); g.moveTo(X - r * ux, Y - r * uy); g.lineTo(X + r * ux, Y + r * uy); g.stroke();
    }
  } else if (p.k === "dot") {
    const [X, Y] = to(0, 0);
    g.beginPath(); g.arc(X, Y, 7, 0, 7); g.fill(); g.stroke();
  }
}

// A line with the material on the side away from (nx, ny) shown by short strokes.
function hatch(g, x0, y0, x1, y1, nx, ny) {
  g.strokeStyle = colours.ground;
  g.lineWidth = 1.8;
  g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke();
  const length = Math.hypot(x1 - x0, y1 - y0), tx = (x1 - x0) / length, ty = (y1 - y0) / length;
  g.lineWidth = 1;
  g.globalAlpha = 0.6;
  g.beginPath();
  for (let d = 0; d < length; d += 11) {
    g.moveTo(x0 + tx * d, y0 + ty * d);
    g.lineTo(x0 + tx * (d - 7) - nx * 8, y0 + ty * (d - 7) - ny * 8);
  }
  g.stroke();
  g.globalAlpha = 1;
}

function spring(g, x0, y0, x1, y1) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1, tx = (x1 - x0) / length, ty = (y1 - y0) / length, n = 9;
  g.strokeStyle = colours.soft;
  g.lineWidth = 1.4;
  g.lineJoin = "round";
  g.beginPath(); g.moveTo(x0, y0);
  for (let k = 0; k <= n; k++) {
    const d = length * (0.15 + 0.7 * k / n), side = k === 0 || k === n ? 0 : k % 2 ? 6 : -6;
    g.lineTo(x0 + tx * d - ty * side, y0 + ty * d + tx * side);
  }
  g.lineTo(x1, y1); g.stroke();
}

function drawing(g, d, at, px, py, scale) {
  g.strokeStyle = colours["body-line"];
  g.lineWidth = 2;
  g.lineJoin = g.lineCap = "round";
  g.beginPath();
  if (d.points) d.points.forEach((p, k) => k ? g.lineTo(px(at(p.x)), py(at(p.y))) : g.moveTo(px(at(p.x)), py(at(p.y))));
  else g.arc(px(at(d.x)), py(at(d.y)), Math.max(1, at(d.r) * scale), 0, 7);
  if (d.points && closed(d.points, at)) { g.fillStyle = d.moves ? colours.body : colours.grid; g.fill(); }
  g.stroke();
}

function closed(points, at) {
  const a = points[0], b = points[points.length - 1];
  return points.length > 3 && at(a.x) === at(b.x) && at(a.y) === at(b.y);
}

// Mode as a coloured dot, forces on A as arrows: normal and tangential.
function contact(g, c, at, px, py, peak, forces) {
  const x = px(at(c.x)), y = py(at(c.y));
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  const code = modeAt(c.name, cursor());
  const n = column(c.name + ".normal"), t = column(c.name + ".tangential");
  if (forces && code !== 0 && n) {
    const ux = at(c.nx), uy = -at(c.ny) * scene.up, lengthOf = (f) => Math.sign(f) * 85 * Math.min(1.5, Math.abs(f) / peak);
    const ln = lengthOf(valueAt(n, cursor())), lt = t ? lengthOf(valueAt(t, cursor())) : 0;
    arrow(g, x, y, x + ux * ln, y + uy * ln, colours.force);
    // tangent: the normal turned clockwise (on the screen, with y up)
    arrow(g, x, y, x - uy * lt * scene.up, y + ux * lt * scene.up, colours.s5);
  }
  g.fillStyle = modeColour(code);
  g.strokeStyle = colours.card;
  g.lineWidth = 1.5;
  g.beginPath(); g.arc(x, y, code === 0 ? 3.5 : 5, 0, 7); g.fill(); g.stroke();
}
function arrow(g, x0, y0, x1, y1, colour) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 3) return;
  const tx = (x1 - x0) / length, ty = (y1 - y0) / length, head = Math.min(8, length * 0.5);
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = 2.4;
  g.lineCap = "butt";
  g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1 - tx * head, y1 - ty * head); g.stroke();
  g.beginPath(); g.moveTo(x1, y1);
  g.lineTo(x1 - tx * head - ty * head * 0.5, y1 - ty * head + tx * head * 0.5);
  g.lineTo(x1 - tx * head + ty * head * 0.5, y1 - ty * head - tx * head * 0.5);
  g.fill();
}

// Mode of a contact at a time.
const bandOf = new Map(data.series.modes.map((b) => [b.contact, b]));
function modeAt(name, t) {
  const band = bandOf.get(name);
  if (!band || !band.runs.length) return 0;
  let lo = 0, hi = band.runs.length;
  while (lo < hi) { const mid = (lo + hi) >> 1; if (band.runs[mid][0] <= t) lo = mid + 1; else hi = mid; }
  return band.runs[Math.max(0, lo - 1)][1];
}

/// Ctrl or Shift with the wheel zooms a scene.
function zoomByWheel(node, view) {
  node.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    view.zoom = Math.min(1e4, Math.max(0.05, view.zoom * Math.exp(-(e.deltaY || e.deltaX) * 0.002)));
    node.repaint();
  }, { passive: false });
}
