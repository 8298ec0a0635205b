// Beside the page on a server: keeps it for the time without a network.
const KEPT = "specht";
self.addEventListener("install", (e) => e.waitUntil(caches.open(KEPT).then((c) => c.add("./"))));
self.addEventListener("fetch", (e) => e.respondWith((async () => {
  const kept = await caches.open(KEPT);
  try {
    const fresh = await fetch(e.request);
    if (e.request.method === "GET" && fresh.ok) await kept.put(e.request, fresh.clone());
    return fresh;
  } catch (gone) {
    const old = await kept.match(e.request, { ignoreSearch: true });
    if (old) return old;
    throw gone;
  }
})()));
