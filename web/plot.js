"use strict";
// Plots over time with a common cursor and zoom, bands of modes, and phase plots.

const LEFT = 62, RIGHT = 12;

// Below this a motion is rounding: per unit of the coordinates, and of their rates.
const TINY = 1e-10;
let rounding = null;
function least(unit) {
  if (!rounding) {
    rounding = new Map();
    const list = inGroup("coordinate"), add = (unit, size) => rounding.set(unit, Math.max(rounding.get(unit) || 0, TINY * size));
    for (const c of list.length <= MANY ? list : []) {
      if (!c.unit) continue;
      const size = motion(c)[1];
      add(c.unit, size);
      add(`${c.unit}/s`, size / (span.to - span.from));
    }
  }
  return rounding.get(unit) || 0;
}

// Smallest and largest finite value of a series in a window; what moves by rounding only is a straight line.
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
  const more = 0.5 * (Math.max(...list.map((c) => least(c.unit))) - (hi - lo));
  if (more > 0) { lo -= more; hi += more; }
  const margin = 0.06 * (hi - lo);
  return [lo - margin, hi + margin];
}

// The points of one line: min and max per pixel column when there are many, every point otherwise. `move` begins a piece, `line` goes on.
function points(c, from, to, px, py, width, move, line) {
  const first = Math.max(0, indexAt(c.t, from)), last = Math.min(c.t.length - 1, indexAt(c.t, to) + 1);
  let pen = false;
  const go = (x, y) => { if (pen) line(x, y); else move(x, y); pen = true; };
  if (last - first < 4 * width) {
    for (let k = first; k <= last; k++) {
      if (Number.isFinite(c.y[k])) go(px(c.t[k]), py(c.y[k])); else pen = false;
    }
    return;
  }
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
function trace(g, c, from, to, px, py, width) {
  g.beginPath();
  points(c, from, to, px, py, width, (x, y) => g.moveTo(x, y), (x, y) => g.lineTo(x, y));
  g.stroke();
}

// Mouse and touch on a time axis: move shows, click jumps, drag zooms (a rectangle in both axes), wheel zooms, double click shows all.
// `box` is told the heights of a rectangle, or null for all.
function timeInput(node, state, box = () => {}) {
  const time = (e) => {
    const frame = node.getBoundingClientRect();
    const part = (e.clientX - frame.left - LEFT) / (frame.width - LEFT - RIGHT);
    return clock.view.from + Math.min(1, Math.max(0, part)) * (clock.view.to - clock.view.from);
  };
  const high = (e) => e.clientY - node.getBoundingClientRect().top;
  node.addEventListener("pointermove", (e) => {
    if (state.drag) { state.drag.to = time(e); state.drag.y1 = high(e); }
    setHover(time(e));
  });
  const leave = () => { if (!state.drag) setHover(null); };
  node.addEventListener("pointerleave", leave);
  node.addEventListener("pointercancel", () => { state.drag = null; setHover(null); });
  node.addEventListener("pointerdown", (e) => {
    if (e.pointerType !== "touch") node.setPointerCapture(e.pointerId);
    state.drag = { from: time(e), to: time(e), x: e.clientX, y0: high(e), y1: high(e) };
  });
  node.addEventListener("pointerup", (e) => {
    const drag = state.drag;
    state.drag = null;
    if (!drag) return;
    if (Math.abs(e.clientX - drag.x) < 5 && Math.abs(drag.y1 - drag.y0) < 5) setTime(time(e));
    else {
      if (Math.abs(drag.y1 - drag.y0) > 16) box([Math.min(drag.y0, drag.y1), Math.max(drag.y0, drag.y1)]);
      if (Math.abs(e.clientX - drag.x) >= 5) setView(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
    }
    setHover(null);
  });
  node.addEventListener("dblclick", () => { box(null); setView(span.from, span.to); changed(); });
  node.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) return; // plain wheel scrolls the page
    e.preventDefault();
    const at = time(e), factor = Math.exp((e.deltaY || e.deltaX) * 0.002);
    setView(at - (at - clock.view.from) * factor, at + (clock.view.to - at) * factor);
  }, { passive: false });
}

function timeAxis(g, w, h, bottom, px) {
  const list = ticks(clock.view.from, clock.view.to, Math.max(2, (w - LEFT - RIGHT) / 90));
  g.font = "11px system-ui, sans-serif";
  g.textBaseline = "top";
  for (const x of list) {
    g.strokeStyle = colours.grid;
    g.beginPath(); g.moveTo(px(x), 6); g.lineTo(px(x), bottom); g.stroke();
    g.fillStyle = colours.soft;
    g.textAlign = "center";
    if (px(x) < w - RIGHT - 26) g.fillText(tickLabel(x, list), px(x), bottom + 5);
  }
  g.fillStyle = colours.ink; g.textAlign = "right";
  g.fillText("t, s", w - RIGHT, bottom + 5);
}

// Events as small marks along the lower edge, those of one pixel as one.
const MARKED = { impact: "accent", tangential_impact: "accent", seizure: "accent", accumulated: "accent", finding: "force", touch: "closed", detach: "open", stick: "stick", slip: "slip-p", reverse: "slip-m", mark: "ink" };
function eventMarks(g, bottom, px, from, to) {
  const last = {};
  for (const e of run.events || []) {
    const colour = MARKED[e.kind];
    if (!colour || e.time < from || e.time > to) continue;
    const x = Math.round(px(e.time));
    if (last[colour] === x) continue;
    last[colour] = x;
    g.fillStyle = colours[colour];
    g.fillRect(x - 0.5, bottom - 5, 1.2, 5);
  }
}

// Phases of the file as bands with their names.
function phaseBands(g, bottom, px, from, to) {
  Object.entries(run.phases || {}).forEach(([name, spells], k) => {
    for (const s of spells) {
      if (s.to < from || s.from > to) continue;
      const a = Math.max(px(s.from), LEFT), b = px(s.to);
      g.fillStyle = seriesColour(k);
      g.globalAlpha = 0.1;
      g.fillRect(a, 6, Math.max(1, b - a), bottom - 6);
      g.globalAlpha = 1;
      if (b - a < 8 * name.length) continue;
      g.textAlign = "left"; g.textBaseline = "top";
      g.fillText(name, a + 4, 8 + 13 * k);
    }
  });
}

// Buttons that give the plot to other programs.
function save(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function exports(title, node, svg, csv) {
  const file = title.replace(/[^\p{L}\p{N}]+/gu, "_").slice(0, 60) || "plot";
  const png = () => {
    const copy = document.createElement("canvas"), g = copy.getContext("2d");
    copy.width = node.width; copy.height = node.height;
    g.fillStyle = colours.card; g.fillRect(0, 0, copy.width, copy.height); g.drawImage(node, 0, 0);
    copy.toBlob((blob) => save(file + ".png", "image/png", blob));
  };
  const one = (word, does) => el("button", { class: "small", title: "save this plot as " + word, onclick: does }, word);
  return el("span", { class: "exports" }, one("PNG", png), one("SVG", () => save(file + ".svg", "image/svg+xml", svg())), one("CSV", () => save(file + ".csv", "text/csv", csv())));
}
const xml = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);

// How far a curve goes in the whole run (exactly 0 when it never moves), and its largest size.
function motion(c) {
  let lo = Infinity, hi = -Infinity;
  for (const y of c.y) { if (y < lo) lo = y; if (y > hi) hi = y; }
  return hi >= lo ? [hi - lo, Math.max(-lo, hi)] : [0, 0];
}
const MANY = 200; // curves beyond this are not unpacked to look at them

// Of many curves those that move most come first, because only the first six are shown.
function liveliestFirst(list) {
  if (list.length <= 8 || list.length > MANY) return list;
  const most = new Set(list.map((c) => [c, motion(c)[0]]).sort((a, b) => b[1] - a[1]).slice(0, 6).map(([c]) => c));
  return [...most, ...list.filter((c) => !most.has(c))];
}

// Whether there is nothing to see: every curve is zero all the time.
const empty = (list) => list.length <= MANY && list.every((c) => c.y.every((y) => y === 0));

// A name for a narrow place, its end and its index kept: `mesh[1].low` becomes `m[1].low`.
function shortName(name, most) {
  if (name.length <= most) return name;
  const at = name.indexOf("["), tail = name.slice(at);
  return at > 0 && tail.length < most ? name.slice(0, most - tail.length) + tail : "…" + name.slice(1 - most);
}

// A panel of lines over time.
function timePlot(title, list, height = 190, extra = null) {
  const shown = liveliestFirst(list).map((c, k) => ({ c, k, on: list.length <= 8 || k < 6 }));
  const state = { drag: null, range: null };
  const outputs = [];
  const legend = el("div", { class: "legend" }, shown.map((s) => {
    const value = el("output", {}, "");
    outputs.push(value);
    const button = el("button", { title: "show or hide", onclick: () => { s.on = !s.on; value.textContent = ""; button.classList.toggle("off", !s.on); changed(); } },
      el("i", { style: `background:var(--s${s.k % 8})` }), withUnit(s.c), value);
    button.classList.toggle("off", !s.on);
    return button;
  }));
  const units = [...new Set(list.map((c) => c.unit))];
  const heading = units.length === 1 && units[0] && !title.endsWith(`, ${units[0]}`) ? `${title}, ${units[0]}` : title;
  const active = () => shown.filter((s) => s.on);
  const scales = (w, h) => {
    const bottom = h - 22, { from, to } = clock.view;
    const [lo, hi] = state.range || limits(active().map((s) => s.c), from, to);
    return { bottom, from, to, lo, hi,
      px: (x) => LEFT + (x - from) / (to - from) * (w - LEFT - RIGHT), py: (y) => bottom - (y - lo) / (hi - lo) * (bottom - 6) };
  };
  let last = null;
  const still = (g, w, h) => {
    const s = last = scales(w, h);
    timeAxis(g, w, h, s.bottom, s.px);
    const list = ticks(s.lo, s.hi, s.bottom / 38);
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const y of list) {
      g.strokeStyle = y === 0 ? colours.faint : colours.grid;
      g.lineWidth = 1;
      g.beginPath(); g.moveTo(LEFT, s.py(y)); g.lineTo(w - RIGHT, s.py(y)); g.stroke();
      g.fillStyle = colours.soft;
      g.fillText(tickLabel(y, list), LEFT - 7, s.py(y));
    }
    g.save();
    g.beginPath(); g.rect(LEFT, 0, w - LEFT - RIGHT, s.bottom + 1); g.clip();
    phaseBands(g, s.bottom, s.px, s.from, s.to);
    g.lineWidth = 1.6;
    g.lineJoin = "round";
    for (const one of active()) {
      g.strokeStyle = seriesColour(one.k);
      trace(g, one.c, s.from, s.to, s.px, s.py, w - LEFT - RIGHT);
    }
    eventMarks(g, s.bottom, s.px, s.from, s.to);
    g.restore();
  };
  const key = () => [clock.view.from, clock.view.to, state.range, shown.map((s) => +s.on).join("")].join(",");
  const node = canvas(height, (g, w) => {
    const { px, py, bottom } = last, t = cursor();
    g.save();
    g.beginPath(); g.rect(LEFT, 0, w - LEFT - RIGHT, bottom + 1); g.clip();
    const drag = state.drag;
    if (drag && Math.abs(px(drag.to) - px(drag.from)) > 4) {
      const box = Math.abs(drag.y1 - drag.y0) > 16;
      g.fillStyle = colours.s0; g.globalAlpha = 0.13;
      g.fillRect(px(drag.from), box ? drag.y0 : 0, px(drag.to) - px(drag.from), box ? drag.y1 - drag.y0 : bottom);
      g.globalAlpha = 1;
    }
    const x = px(t);
    g.strokeStyle = clock.hover === null ? colours.accent : colours.soft;
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, bottom); g.stroke();
    for (const s of active()) {
      const y = py(valueAt(s.c, t));
      if (!Number.isFinite(y)) continue;
      g.fillStyle = seriesColour(s.k);
      g.beginPath(); g.arc(x, y, 3, 0, 7); g.fill();
    }
    if (clock.hover !== null) {
      const text = "t = " + format(t, 6) + " s";
      g.font = "11px " + style("--mono");
      const wide = g.measureText(text).width + 8, right = x + wide + 6 < w - RIGHT;
      g.fillStyle = colours.card; g.globalAlpha = 0.85;
      g.fillRect(right ? x + 4 : x - 4 - wide, 2, wide, 16);
      g.globalAlpha = 1;
      g.fillStyle = colours.ink; g.textAlign = "left"; g.textBaseline = "middle";
      g.fillText(text, right ? x + 8 : x - wide, 10);
    }
    g.restore();
    for (const s of active()) outputs[s.k].textContent = format(valueAt(s.c, t), 4);
  }, still, key);
  timeInput(node, state, (box) => {
    if (!box) { state.range = null; return; }
    const { lo, hi, bottom } = last, value = (y) => lo + (bottom - y) / (bottom - 6) * (hi - lo);
    state.range = [value(box[1]), value(box[0])];
  });
  listen(node.repaint);
  const svg = () => {
    const w = 720, h = 300, s = scales(w, h), out = [];
    for (const x of ticks(s.from, s.to, 7)) out.push(`<path d="M${s.px(x)} 6V${s.bottom}" stroke="#e3e4e0"/><text x="${s.px(x)}" y="${s.bottom + 15}" text-anchor="middle">${format(x, 6)}</text>`);
    for (const y of ticks(s.lo, s.hi, 6)) out.push(`<path d="M${LEFT} ${s.py(y)}H${w - RIGHT}" stroke="#e3e4e0"/><text x="${LEFT - 6}" y="${s.py(y) + 4}" text-anchor="end">${format(y, 5)}</text>`);
    active().forEach((one, n) => {
      let d = "";
      points(one.c, s.from, s.to, s.px, s.py, w, (x, y) => { d += `M${x.toFixed(1)} ${y.toFixed(1)}`; }, (x, y) => { d += `L${x.toFixed(1)} ${y.toFixed(1)}`; });
      out.push(`<path d="${d}" fill="none" stroke="${seriesColour(one.k)}" stroke-width="1.5"/><text x="${LEFT + 8}" y="${18 + 14 * n}" fill="${seriesColour(one.k)}">${xml(withUnit(one.c))}</text>`);
    });
    return `<svg xmlns="${"http:" + "//www.w3.org/2000/svg"}" viewBox="0 0 ${w} ${h}" width="${w}" height="${h}" font-family="sans-serif" font-size="11"><desc>made by specht</desc><rect width="${w}" height="${h}" fill="#fff"/>${out.join("")}<text x="${w - RIGHT}" y="${h - 2}" text-anchor="end">t, s</text></svg>`;
  };
  const csv = () => {
    const all = active().map((s) => s.c), { from, to } = clock.view;
    const times = [...new Set(all.flatMap((c) => Array.from(c.t).filter((t) => t >= from && t <= to)))].sort((a, b) => a - b);
    const head = ["t [s]", ...all.map((c) => (c.unit ? `${c.name} [${c.unit}]` : c.name))].map(quoted).join(",");
    return [head, ...times.map((t) => [t, ...all.map((c) => valueAt(c, t))].join(","))].join("\n") + "\n";
  };
  const names = shown.length > 12 ? el("details", { class: "many" }, el("summary", {}, `${shown.length} curves`), legend) : legend;
  return el("section", { class: "card plot" },
    el("div", { class: "head" }, el("h2", {}, heading), exports(title, node, svg, csv), el("div", { class: "grow" }), extra, names), node);
}

// Bands of modes: one row per contact.
function modeBands() {
  const bands = data.series.modes;
  if (!bands.length) return null;
  const state = { drag: null };
  const impacts = bands.map((b) => run.events.filter((e) => e.kind === "impact" && e.contacts.includes(b.contact)).map((e) => e.time));
  const row = bands.length > 12 ? 12 : 20;
  let last = null;
  const still = (g, w, h) => {
    const bottom = h - 22, { from, to } = clock.view;
    const px = (x) => LEFT + (x - from) / (to - from) * (w - LEFT - RIGHT);
    last = { px, bottom };
    timeAxis(g, w, h, bottom, px);
    g.font = "11px " + style("--mono");
    bands.forEach((band, k) => {
      const y = k * row + 3;
      g.textAlign = "right"; g.textBaseline = "middle"; g.fillStyle = colours.ink;
      g.fillText(shortName(band.contact, 8), LEFT - 7, y + row / 2 - 1);
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
  };
  const node = canvas(bands.length * row + 26, (g) => {
    const x = last.px(cursor());
    g.strokeStyle = clock.hover === null ? colours.accent : colours.soft;
    g.beginPath(); g.moveTo(x, 0); g.lineTo(x, last.bottom); g.stroke();
  }, still, () => clock.view.from + "," + clock.view.to);
  timeInput(node, state);
  listen(node.repaint);
  const used = new Set(bands.flatMap((b) => b.runs.map((r) => r[1])));
  const key = el("div", { class: "key" }, MODES.map((word, k) => used.has(k) ? el("span", {}, el("i", { style: `background:${modeStyle(k)}` }), word) : null),
    impacts.some((list) => list.length) ? el("span", {}, el("i", { style: "background:var(--accent);width:2px;border-radius:0" }), "impact") : null);
  const body = bands.length > 30 ? el("div", { class: "scroll", style: "max-height:380px" }, node) : node;
  return el("section", { class: "card", id: "modes" }, el("div", { class: "head" }, el("h2", {}, "Modes of the contacts"), el("div", { class: "grow" }), key), body);
}

// y against x; the point of the present time is marked.
function phasePlot(title, x, list, height = 240) {
  let last = null;
  const still = (g, w, h) => {
    const bottom = h - 32, left = 58, { from, to } = clock.view;
    const [xlo, xhi] = limits([x], from, to), [ylo, yhi] = limits(list, from, to);
    const px = (v) => left + (v - xlo) / (xhi - xlo) * (w - left - RIGHT);
    const py = (v) => bottom - (v - ylo) / (yhi - ylo) * (bottom - 6);
    last = { px, py, left, bottom };
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
    g.fillText(withUnit(x), w - RIGHT, h - 1);
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
    g.restore();
  };
  const node = canvas(height, (g, w) => {
    const { px, py, left, bottom } = last;
    g.save();
    g.beginPath(); g.rect(left, 0, w - left - RIGHT, bottom); g.clip();
    list.forEach((c, k) => {
      g.fillStyle = seriesColour(k); g.strokeStyle = colours.card; g.lineWidth = 2;
      g.beginPath(); g.arc(px(valueAt(x, cursor())), py(valueAt(c, cursor())), 5, 0, 7); g.fill(); g.stroke();
    });
    g.restore();
  }, still, () => clock.view.from + "," + clock.view.to);
  listen(node.repaint);
  const names = el("div", { class: "legend" }, list.map((c, k) => el("button", { disabled: "" }, el("i", { style: `background:var(--s${k % 8})` }), withUnit(c))));
  return el("section", { class: "card phase" }, el("div", { class: "head" }, el("h2", {}, title), el("div", { class: "grow" }), names), node);
}
