// The service worker: the site's own files, from the cache where they are there. The build writes the list.
const VERSION = "@VERSION@", PAGE = "@PAGE@", FILES = "@FILES@";
const PAGES = `page-${VERSION}`, KEPT = "files";
const base = new URL("./", self.location);

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(PAGES);
    await cache.addAll(PAGE.map((path) => new Request(new URL(path, base), { cache: "no-cache" })));
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name !== PAGES && name !== KEPT) await caches.delete(name);
    // Files have their hash in their names: those of another version are not asked for any more.
    const kept = await caches.open(KEPT), wanted = new Set(FILES.map((path) => new URL(path, base).href));
    for (const request of await kept.keys()) if (!wanted.has(request.url)) await kept.delete(request);
    await self.clients.claim();
  })());
});

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== base.origin || !url.pathname.startsWith(base.pathname)) return;
  const path = url.pathname.slice(base.pathname.length);
  if (PAGE.includes(path)) event.respondWith(caches.open(PAGES).then((cache) => cache.match(url.href)).then((found) => found ?? fetch(event.request)));
  else if (FILES.includes(path)) event.respondWith(keep(event.request));
});

async function keep(request) {
  const cache = await caches.open(KEPT), found = await cache.match(request.url);
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request.url, response.clone());
  return response;
}
