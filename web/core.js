"use strict";
// Data, time and small helpers shared by all parts of the page.

const data = JSON.parse(document.getElementById("data").textContent);
const run = data.run;

// Numbers travel as base64 of little-endian arrays.
function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) out[k] = raw.charCodeAt(k);
  return out.buffer;
}
const f32 = (text) => new Float32Array(bytes(text));
const f64 = (text) => new Float64Array(bytes(text));

// A recorded column {name, group, t, y}: times shared unless the column was thinned by itself.
// The numbers are unpacked when they are first looked at.
const sharedTime = f64(data.series.t);
const columns = data.series.columns.map((c) => {
  const lazy = (make) => { let value; return { get: () => value || (value = make()), enumerable: true }; };
  return Object.defineProperties({ name: c.name, group: c.group, unit: c.unit || "" }, {
    t: lazy(() => (c.t ? f64(c.t) : sharedTime)),
    y: lazy(() => (c.constant !== undefined ? new Float32Array(sharedTime.length).fill(c.constant === null ? NaN : c.constant) : f32(c.y))),
  });
});
const withUnit = (c) => (c.unit ? `${c.name}, ${c.unit}` : c.name);
const byName = new Map(columns.map((c) => [c.name, c]));
const column = (name) => byName.get(name);
const inGroup = (group) => columns.filter((c) => c.group === group);

const span = { from: data.span[0], to: data.span[1] };
if (!(span.to > span.from)) span.to = span.from + 1e-9;

// The page has one time; whoever needs it listens.
const clock = { t: span.from, hover: null, view: { ...span }, listeners: [] };
function listen(f) { clock.listeners.push(f); }
let pending = false;
function changed() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; for (const f of clock.listeners) f(); });
}
function setTime(t) { clock.t = Math.min(span.to, Math.max(span.from, t)); changed(); }
function setHover(t) { clock.hover = t; changed(); }
function setView(from, to) {
  const least = (span.to - span.from) * 1e-9;
  if (to - from < least) return;
  if (to - from >= span.to - span.from) { from = span.from; to = span.to; }
  if (from < span.from) { to += span.from - from; from = span.from; }
  if (to > span.to) { from -= to - span.to; to = span.to; }
  clock.view = { from: Math.max(from, span.from), to };
  changed();
}
const cursor = () => (clock.hover === null ? clock.t : clock.hover);

// Last index with t[k] <= x (rows on both sides of an event share a time: the later one wins).
function indexAt(t, x) {
  let lo = 0, hi = t.length;
  while (lo < hi) { const mid = (lo + hi) >> 1; if (t[mid] <= x) lo = mid + 1; else hi = mid; }
  return lo - 1;
}
function valueAt(c, x) {
  const k = indexAt(c.t, x);
  if (k < 0) return c.y[0];
  if (k >= c.t.length - 1) return c.y[c.t.length - 1];
  const step = c.t[k + 1] - c.t[k];
  return step > 0 ? c.y[k] + (c.y[k + 1] - c.y[k]) * (x - c.t[k]) / step : c.y[k];
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function format(x, digits = 5) {
  if (x === null || x === undefined) return "–";
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "–" : x > 0 ? "∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  let text = size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 1) : x.toPrecision(Math.max(digits, Math.floor(Math.log10(size)) + 1));
  if (text.includes("e")) {
    const [m, e] = text.split("e");
    text = (m.includes(".") ? m.replace(/\.?0+$/, "") : m) + "e" + Number(e);
  } else if (text.includes(".")) text = text.replace(/\.?0+$/, "");
  return text.replace(/-/g, "−");
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let colours = {};
function readColours() {
  for (const name of ["bg", "card", "ink", "soft", "faint", "line", "grid", "accent", "body", "body-line", "ground", "force",
    "open", "stick", "slip-p", "slip-m", "closed", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"]) colours[name] = style("--" + name);
}
const seriesColour = (k) => colours["s" + (k % 8)];
const MODES = ["open", "stick", data.space ? "slip" : "slip+", "slip-", "closed"];
const modeColour = (code) => colours[["open", "stick", "slip-p", "slip-m", "closed"][code]];
const modeStyle = (code) => "var(--" + ["open", "stick", "slip-p", "slip-m", "closed"][code] + ")";

// A canvas that keeps its sharpness; calls paint(context, width, height). With `still` that part is painted again only when key()
// changes, and paint() draws over a copy of it: moving the cursor costs nothing however many points there are.
function canvas(height, paint, still = null, key = null) {
  const node = el("canvas", { style: height ? `height:${height}px` : "" });
  const context = node.getContext("2d");
  const layer = still ? document.createElement("canvas") : null;
  let kept = null;
  node.repaint = () => {
    const ratio = window.devicePixelRatio || 1;
    const w = node.clientWidth, h = node.clientHeight;
    if (w === 0 || h === 0) return;
    if (node.width !== Math.round(w * ratio) || node.height !== Math.round(h * ratio)) {
      node.width = Math.round(w * ratio);
      node.height = Math.round(h * ratio);
    }
    if (!node.seen) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, w, h);
    if (still) {
      const now = [node.width, node.height, document.documentElement.dataset.theme, key()].join("|");
      if (now !== kept) {
        kept = now;
        layer.width = node.width;
        layer.height = node.height;
        const g = layer.getContext("2d");
        g.setTransform(ratio, 0, 0, ratio, 0, 0);
        still(g, w, h);
      }
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.drawImage(layer, 0, 0);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    paint(context, w, h);
  };
  new ResizeObserver(() => node.repaint()).observe(node);
  // what is not in sight is not painted
  new IntersectionObserver((list) => { node.seen = list[list.length - 1].isIntersecting; if (node.seen) node.repaint(); }, { rootMargin: "200px" }).observe(node);
  return node;
}

// Round numbers for an axis.
function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || power;
  const list = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) list.push(Number((k * step).toPrecision(12)));
  return list;
}
// Labels with as many digits as neighbouring ticks need to differ.
function tickLabel(x, list) {
  const step = list.length > 1 ? list[1] - list[0] : Math.abs(x) || 1;
  const size = Math.max(...list.map(Math.abs), 1e-300);
  if (Math.abs(x) < step * 1e-6) return "0";
  const digits = Math.max(1, Math.ceil(Math.log10(size / step) + 1e-9) + 1);
  return format(x, Math.min(12, digits));
}
