"use strict";
// Plots over time with a common cursor and zoom, bands of modes, and phase plots.

const LEFT = 62, RIGHT = 12;

// Smallest and largest finite value of a series in a window.
function limits(list, from, to) {
  let lo = Infinity, hi = -Infinity;
  for (const c of list) {
    const first = Math.max(0, indexAt(c.t, from)), last = Math.min(c.t.length - 1, indexAt(c.t, to) + 1);
    for (let k = first; k <= last; k++) {
      const y = c.y[k];
      if (y < lo) lo = y;
      if (y > hi) hi = y;
    }
  }
  if (!(hi >= lo)) return [-1, 1];
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  if (size === 0) return [-1, 1];
  if (hi - lo < 1e-6 * size) { lo -= 0.5 * size; hi += 0.5 * size; }
  const margin = 0.06 * (hi - lo);
  return [lo - margin, hi + margin];
}

// One line: min and max per pixel column when there are many points, every point otherwise.
function trace(g, c, from, to, px, py, width) {
  const first = Math.max(0, indexAt(c.t, from)), last = Math.min(c.t.length - 1, indexAt(c.t, to) + 1);
  g.beginPath();
  let pen = false;
  const go = (x, y) => { if (pen) g.lineTo(x, y); else g.moveTo(x, y); pen = true; };
  if (last - first < 4 * width) {
    for (let k = first; k <= last; k++) {
      if (Number.isFinite(c.y[k])) go(px(c.t[k]), py(c.y[k])); else pen = false;
    }
  } else {
    let k = first;
    while (k <= last) {
      const x = Math.floor(px(c.t[k]));
      let lo = c.y[k], hi = lo, end = c.y[k];
      const begin = c.y[k];
      while (k <= last && Math.floor(px(c.t[k])) === x) {
        end = c.y[k];
        if (end < lo) lo = end;
        if (end > hi) hi = end;
        k++;
      }
      if (!Number.isFinite(begin)) { pen = false; continue; }
      go(x, py(begin)); go(x, py(lo)); go(x, py(hi)); go(x, py(end));
    }
  }
  g.stroke();
}

// Mouse and touch on a time axis: move shows, click jumps, drag zooms, wheel zooms, double click shows all.
function timeInput(node, state) {
  const time = (e) => {
    const box = node.getBoundingClientRect();
    const part = (e.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return clock.view.from + Math.min(1, Math.max(0, part)) * (clock.view.to - clock.view.from);
  };
  node.addEventListener("pointermove", (e) => {
    if (state.drag) state.drag.to = time(e);
    setHover(time(e));
  });
  node.addEventListener("pointerleave", () => { if (!state.drag) setHover(null); });
  node.addEventListener("pointerdown", (e) => {
    node.setPointerCapture(e.pointerId);
    state.drag = { from: time(e), to: time(e), x: e.clientX };
  });
  node.addEventListener("pointerup", (e) => {
    const drag = state.drag;
    state.drag = null;
    if (!drag) return;
    if (Math.abs(e.clientX - drag.x) < 5) setTime(time(e));
    else setView(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
    setHover(null);
  });
  node.addEventListener("dblclick", () => setView(span.from, span.to));
  node.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) return; // plain wheel scrolls the page
    e.preventDefault();
    const at = time(e), factor = Math.exp((e.deltaY || e.deltaX) * 0.002);
    setView(at - (at - clock.view.from) * factor, at + (clock.view.to - at) * factor);
  }, { passive: false });
}

function timeAxis(g, w, h, bottom, px, labels) {
  const list = ticks(clock.view.from, clock.view.to, Math.max(2, (w - LEFT - RIGHT) / 90));
  g.font = "11px system-ui, sans-serif";
  g.textAlign = "center";
  g.textBaseline = "top";
  for (const x of list) {
    g.strokeStyle = colours.grid;
    g.beginPath(); g.moveTo(px(x), 6); g.lineTo(px(x), bottom); g.stroke();
    g.fillStyle = colours.soft;
    if (labels) g.fillText(tickLabel(x, list), px(x), bottom + 5);
  }
  if (labels && px(list[list.length - 1]) < w - RIGHT - 34) { g.textAlign = "right"; g.fillText("s", w - RIGHT, bottom + 5); }
}

// A panel of lines over time.
function timePlot(title, list, height = 190, extra = null) {
  const shown = list.map((c, k) => ({ c, k, on: list.length <= 8 || k < 6 }));
  const state = { drag: null };
  const outputs = [];
  const legend = el("div", { class: "legend" }, shown.map((s) => {
    const value = el("output", {}, "");
    outputs.push(value);
    const button = el("button", { title: "show or hide", onclick: () => { s.on = !s.on; button.classList.toggle("off", !s.on); changed(); } },
      el("i", { style: `background:var(--s${s.k % 8})` }), s.c.name, value);
    button.classList.toggle("off", !s.on);
    return button;
  }));
  const node = canvas(height, (g, w, h) => {
    const bottom = h - 22, { from, to } = clock.view;
    const active = shown.filter((s) => s.on);
    const [lo, hi] = limits(active.map((s) => s.c), from, to);
    const px = (x) => LEFT + (x - from) / (to - from) * (w - LEFT - RIGHT);
    const py = (y) => bottom - (y - lo) / (hi - lo) * (bottom - 6);
    timeAxis(g, w, h, bottom, px, true);
    const list = ticks(lo, hi, bottom / 38);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const y of list) {
      g.strokeStyle = y === 0 ? colours.faint : colours.grid;
      g.lineWidth = 1;
      g.beginPath(); g.moveTo(LEFT, py(y)); g.lineTo(w - RIGHT, py(y)); g.stroke();
      g.fillStyle = colours.soft;
      g.fillText(tickLabel(y, list), LEFT - 7, py(y));
    }
    g.save();
    g.beginPath(); g.rect(LEFT, 0, w - LEFT - RIGHT, bottom + 1); g.clip();
    g.lineWidth = 1.6;
    g.lineJoin = "round";
    for (const s of active) {
      g.strokeStyle = seriesColour(s.k);
      trace(g, s.c, from, to, px, py, w - LEFT - RIGHT);
    }
    if (state.drag && Math.abs(px(state.drag.to) - px(state.drag.from)) > 4) {
      g.fillStyle = colours.s0; g.globalAlpha = 0.13;
      g.fillRect(px(state.drag.from), 0, px(state.drag.to) - px(state.drag.from), bottom);
      g.globalAlpha = 1;
    }
    const x = px(cursor());
    g.strokeStyle = clock.hover === null ? colours.accent : colours.soft;
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, bottom); g.stroke();
    for (const s of active) {
      const y = py(valueAt(s.c, cursor()));
      if (!Number.isFinite(y)) continue;
      g.fillStyle = seriesColour(s.k);
      g.beginPath(); g.arc(x, y, 3, 0, 7); g.fill();
    }
    g.restore();
    shown.forEach((s, k) => { outputs[k].textContent = s.on ? format(valueAt(s.c, cursor()), 4) : ""; });
  });
  timeInput(node, state);
  listen(node.repaint);
  return el("section", { class: "card plot" },
    el("div", { class: "head" }, el("h2", {}, title), el("div", { class: "grow" }), extra, legend), node);
}

// Bands of modes: one row per contact.
function modeBands() {
  const bands = data.series.modes;
  if (!bands.length) return null;
  const state = { drag: null };
  const impacts = bands.map((b) => run.events.filter((e) => e.kind === "impact" && e.contacts.includes(b.contact)).map((e) => e.time));
  const row = bands.length > 12 ? 12 : 20;
  const node = canvas(bands.length * row + 26, (g, w, h) => {
    const bottom = h - 22, { from, to } = clock.view;
    const px = (x) => LEFT + (x - from) / (to - from) * (w - LEFT - RIGHT);
    timeAxis(g, w, h, bottom, px, true);
    g.font = "11px " + style("--mono");
    bands.forEach((band, k) => {
      const y = k * row + 3;
      g.textAlign = "right"; g.textBaseline = "middle"; g.fillStyle = colours.ink;
      g.fillText(band.contact.length > 8 ? band.contact.slice(0, 3) + "…" + band.contact.slice(-4) : band.contact, LEFT - 7, y + row / 2 - 1);
      g.save();
      g.beginPath(); g.rect(LEFT, y, w - LEFT - RIGHT, row - 4); g.clip();
      for (let i = 0; i < band.runs.length; i++) {
        const [begin, code] = band.runs[i];
        const end = i + 1 < band.runs.length ? band.runs[i + 1][0] : span.to;
        if (end < from || begin > to) continue;
        g.fillStyle = modeColour(code);
        const x = px(Math.max(begin, from));
        g.fillRect(x, y, Math.max(0.6, px(Math.min(end, to)) - x), row - 4);
      }
      // impacts as strokes
      g.strokeStyle = colours.accent;
      g.lineWidth = 1;
      g.beginPath();
      for (const t of impacts[k]) if (t >= from && t <= to) { g.moveTo(px(t), y); g.lineTo(px(t), y + row - 4); }
      g.stroke();
      g.restore();
    });
    const x = px(cursor());
    g.strokeStyle = clock.hover === null ? colours.accent : colours.soft;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, bottom); g.stroke();
  });
  timeInput(node, state);
  listen(node.repaint);
  const used = new Set(bands.flatMap((b) => b.runs.map((r) => r[1])));
  const key = el("div", { class: "key" }, MODES.map((word, k) => used.has(k) ? el("span", {}, el("i", { style: `background:${modeStyle(k)}` }), word) : null),
    impacts.some((list) => list.length) ? el("span", {}, el("i", { style: "background:var(--accent);width:2px;border-radius:0" }), "impact") : null);
  return el("section", { class: "card", id: "modes" }, el("div", { class: "head" }, el("h2", {}, "Modes of the contacts"), el("div", { class: "grow" }), key), node);
}

// y against x; the point of the present time is marked.
function phasePlot(title, x, list, height = 240) {
  const node = canvas(height, (g, w, h) => {
    const bottom = h - 32, left = 58, { from, to } = clock.view;
    const [xlo, xhi] = limits([x], from, to), [ylo, yhi] = limits(list, from, to);
    const px = (v) => left + (v - xlo) / (xhi - xlo) * (w - left - RIGHT);
    const py = (v) => bottom - (v - ylo) / (yhi - ylo) * (bottom - 6);
    g.font = "11px system-ui, sans-serif";
    g.lineWidth = 1;
    const xs = ticks(xlo, xhi, (w - left) / 80), ys = ticks(ylo, yhi, bottom / 42);
    for (const v of xs) {
      g.strokeStyle = v === 0 ? colours.faint : colours.grid;
      g.beginPath(); g.moveTo(px(v), 6); g.lineTo(px(v), bottom); g.stroke();
      g.fillStyle = colours.soft; g.textAlign = "center"; g.textBaseline = "top";
      g.fillText(tickLabel(v, xs), px(v), bottom + 4);
    }
    for (const v of ys) {
      g.strokeStyle = v === 0 ? colours.faint : colours.grid;
      g.beginPath(); g.moveTo(left, py(v)); g.lineTo(w - RIGHT, py(v)); g.stroke();
      g.fillStyle = colours.soft; g.textAlign = "right"; g.textBaseline = "middle";
      g.fillText(tickLabel(v, ys), left - 6, py(v));
    }
    g.fillStyle = colours.ink; g.textAlign = "right"; g.textBaseline = "bottom";
    g.fillText(x.name, w - RIGHT, h - 1);
    g.save();
    g.beginPath(); g.rect(left, 0, w - left - RIGHT, bottom); g.clip();
    g.lineJoin = "round";
    list.forEach((c, k) => {
      g.strokeStyle = seriesColour(k);
      g.lineWidth = 1.4;
      const a = Math.max(0, indexAt(c.t, from)), b = Math.min(c.t.length - 1, indexAt(c.t, to) + 1);
      g.beginPath();
      for (let i = a; i <= b; i++) g.lineTo(px(c.t === x.t ? x.y[i] : valueAt(x, c.t[i])), py(c.y[i]));
      g.stroke();
    });
    list.forEach((c, k) => {
      g.fillStyle = seriesColour(k); g.strokeStyle = colours.card; g.lineWidth = 2;
      g.beginPath(); g.arc(px(valueAt(x, cursor())), py(valueAt(c, cursor())), 5, 0, 7); g.fill(); g.stroke();
    });
    g.restore();
  });
  listen(node.repaint);
  const names = el("div", { class: "legend" }, list.map((c, k) => el("button", { disabled: "" }, el("i", { style: `background:var(--s${k % 8})` }), c.name)));
  return el("section", { class: "card phase" }, el("div", { class: "head" }, el("h2", {}, title), el("div", { class: "grow" }), names), node);
}
