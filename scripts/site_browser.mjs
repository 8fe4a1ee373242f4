// The site without a server in a real Chromium: drop, answer, restrict, trip, tagged copies, HEIC refused or drawn, hostile photos, memory,
// bytes of the first visit, a visit without a network; nothing leaves the host.
//     node scripts/site_browser.mjs MODULES SITE FIXTURES SHOTS [PHOTOS BINARY]     (scripts/site_browser finds what it needs)
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const [modules, site, fixtures, shots, photos, binary] = process.argv.slice(2).map((path) => resolve(path));
const load = createRequire(join(modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });

// A plain host of files below a folder, which compresses text as hosts do; it counts what goes over the wire.
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".json": "application/json", ".svg": "image/svg+xml", ".jpg": "image/jpeg" };
let sent = 0, isUp = true;
const asked = [];
const server = createServer((request, response) => {
  if (!isUp) { request.socket.destroy(); return; }
  const path = join(site, decodeURIComponent(new URL(request.url, "http://x").pathname.replace(/^\/where/, "")).replace(/\/$/, "/index.html"));
  asked.push(request.url);
  if (!path.startsWith(site) || !existsSync(path) || statSync(path).isDirectory()) { response.writeHead(404).end(); return; }
  const type = TYPES[extname(path)], bytes = type ? gzipSync(readFileSync(path)) : readFileSync(path);
  sent += bytes.length;
  response.writeHead(200, { "content-type": type ?? "application/octet-stream", "cache-control": "no-cache", etag: `"${bytes.length}"`, ...(type ? { "content-encoding": "gzip" } : {}) }).end(bytes);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/where/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const failures = [];
const check = (what, holds) => { console.log(`${holds ? "ok  " : "FAIL"} ${what}`); if (!holds) failures.push(what); };
const context = await browser.newContext({ reducedMotion: "reduce", acceptDownloads: true, viewport: { width: 1280, height: 800 } });
context.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) failures.push(`left the host: ${request.url()}`); });
async function open() {
  const page = await context.newPage();
  page.on("console", (message) => { if (message.type() === "error") failures.push(message.text()); });
  page.on("pageerror", (error) => failures.push(String(error)));
  await page.goto(address);
  return page;
}
const answered = (page) => page.waitForFunction(() => !document.getElementById("answer").hidden && document.getElementById("work").hidden && !document.getElementById("status").textContent, null, { timeout: 120000 });
const settled = (page) => page.waitForTimeout(800);
const ready = (page) => page.waitForFunction(() => globalThis.locdiff?.about().then(() => true), null, { timeout: 120000 });
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 80))])))", awaitPromise: true, returnByValue: true });
  return result.value;
}
const fixture = (name) => readFileSync(join(fixtures, name));
const file = (name, from) => ({ name, mimeType: "image/jpeg", buffer: fixture(from) });
// The answer as text, or the problem's status, by the worker that the page itself uses.
const locate = (page, bytes, name) => page.evaluate(async ([text, name]) => {
  const raw = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return locdiff.locateText(raw, { name }).catch((error) => ({ status: error.status, message: error.message }));
}, [Buffer.from(bytes).toString("base64"), name]);

// 96 photos that are none: 16 of the fixtures, each damaged in six ways that no decoder accepts.
function* hostile() {
  const names = readdirSync(fixtures).filter((name) => /\.(jpg|png|webp|gif|bmp|tiff)$/.test(name)).sort().slice(0, 16);
  for (const name of names) {
    const whole = fixture(name), head = whole.subarray(0, Math.min(64, whole.length >> 1));
    yield [`${name} cut`, whole.subarray(0, 20)];
    yield [`${name} with its head alone`, head];
    yield [`${name} of noise`, Buffer.concat([whole.subarray(0, 12), Buffer.from(Array.from({ length: 4096 }, (_, k) => (k * 2654435761) >>> 13 & 255))])];
    yield [`${name} twice its magic`, Buffer.concat([whole.subarray(0, 4), whole.subarray(0, 4), Buffer.alloc(200, 255)])];
    yield [`${name} backwards`, Buffer.from(whole).reverse()];
    yield [`${name} of zeros`, Buffer.concat([whole.subarray(0, 16), Buffer.alloc(100000)])];
  }
}

try {
  const page = await open();
  await ready(page);
  check(`the first visit is ${(sent / 1e6).toFixed(2)} MB over the wire, in ${asked.length} requests`, sent < 30e6);
  check(`axe on the empty page: ${await violations(page)}`, (await violations(page)) === "[]");
  await settled(page);
  await page.screenshot({ path: join(shots, "site-empty.png") });
  // Dropped, answered, restricted.
  await page.evaluate((text) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], "china.jpg", { type: "image/jpeg" }));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, fixture("china.jpg").toString("base64"));
  await answered(page);
  await settled(page);
  check(`a dropped photo is answered: ${await page.textContent("#place")}`, (await page.textContent("#words")).includes("nine in ten"));
  await page.screenshot({ path: join(shots, "site-answer.png") });
  await page.fill("#within", "Japan");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("place").textContent.includes("Japan"), null, { timeout: 120000 });
  await answered(page);
  check("restricted to Japan", true);
  for (const [format, begins] of [["geojson", "{"], ["kml", "<?xml"], ["csv", "photo,rank"], ["png", "\u0089PNG"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
    check(`${format} is downloaded`, readFileSync(await download.path()).toString("latin1").startsWith(begins));
  }
  await page.fill("#within", "Atlantis");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("Atlantis"));
  check("an unknown region is said", true);
  // Clues, the ledger and what gives a photo away need no server.
  const known = await open();
  await known.setInputFiles("#choose", join(fixtures, "turned_6.jpg"));
  await answered(known);
  await known.fill("#clue", "drives=left");
  await known.press("#clue", "Enter");
  await answered(known);
  await known.click("#why");
  await known.waitForFunction(() => document.querySelector("#ledger tfoot"), null, { timeout: 120000 });
  check(`the ledger has the clue: ${await known.textContent("#chips")}`, (await known.textContent("#ledger")).includes("drives"));
  await known.click("#tab-away");
  await known.waitForFunction(() => document.querySelector("#findings tbody tr"), null, { timeout: 120000 });
  const [cleaned] = await Promise.all([known.waitForEvent("download"), known.click("#clean")]);
  check(`the GPS tag gives it away: ${await known.textContent("#worst")}; ${cleaned.suggestedFilename()} is made`, (await known.locator("#findings tbody tr").first().textContent()).includes("GPS position"));
  check(`axe with what gives it away: ${await violations(known)}`, (await violations(known)) === "[]");
  // A format that the module does not read, by the browser's decoder.
  const avif = await open();
  await avif.setInputFiles("#choose", join(fixtures, "turned.avif"));
  await answered(avif);
  check(`AVIF by the browser's decoder: ${await avif.textContent("#place")}`, (await avif.textContent("#words")).includes("nine in ten"));
  // A trip with a tagged photo, its GPX, and copies with tags.
  const trip = await open();
  await trip.setInputFiles("#choose", [file("IMG_20240512_134510.jpg", "turned_6.jpg"), file("IMG_20240512_134530.jpg", "rgb.jpg"), file("IMG_20240512_134540.jpg", "china.jpg")]);
  await answered(trip);
  await settled(trip);
  check(`a trip: ${await trip.textContent("#name")}`, (await trip.locator("#photos .item").count()) === 3 && await trip.isVisible("#because"));
  await trip.screenshot({ path: join(shots, "site-trip.png") });
  const [gpx] = await Promise.all([trip.waitForEvent("download"), trip.click("[data-format=gpx]")]);
  check("the trip as GPX", readFileSync(await gpx.path(), "utf8").includes("<gpx"));
  const [zip] = await Promise.all([trip.waitForEvent("download"), trip.click("[data-format=zip]")]);
  check("tagged copies", readFileSync(await zip.path()).includes("LocDiff estimate"));
  // Hostile photos: an error each, and the worker lives.
  let refused = 0, count = 0;
  const accepted = [];
  for (const [name, bytes] of hostile()) {
    count++;
    const said = await locate(page, bytes, name);
    if (typeof said === "object" && said.status >= 400 && said.message) refused++; else accepted.push(name);
  }
  check(`${refused} of ${count} hostile photos are refused ${accepted}`, count === 96 && refused === 96);
  check("the worker lives on", typeof (await locate(page, fixture("china.jpg"), "china.jpg")) === "string");
  // The same bytes each time, and as the command's where it is given.
  const { isFused } = await page.evaluate(() => locdiff.about());
  console.log(`     sums round ${isFused ? "once" : "twice"} here`);
  if (photos) {
    const names = readdirSync(photos).filter((name) => /\.jpe?g$/.test(name)).sort();
    const compared = names.slice(0, 100), paths = compared.map((name) => join(photos, name));
    const lines = execFileSync(binary, ["locate", "--json", "--device", "cpu", ...paths], { encoding: "utf8", maxBuffer: 1e9, stdio: ["ignore", "pipe", "ignore"] }).trimEnd().split("\n");
    const short = (text) => JSON.stringify(JSON.parse(text), (_, value) => (typeof value === "number" ? Number(value.toPrecision(10)) : value));
    let equal = 0, rounded = 0;
    for (const [k, path] of paths.entries()) {
      const got = await locate(page, readFileSync(path), path);
      if (got === lines[k]) equal++;
      if (short(got) === short(lines[k])) rounded++;
    }
    console.log(`     ${equal} of ${paths.length} answers are the command's to the byte, ${rounded} to 10 digits`);
    check("all of them to 10 digits", !isFused || rounded === paths.length);
    // Warm, on one thread: the median of the last 20, and the module's memory from the tenth photo to the last.
    const times = [], sizes = [];
    for (const name of names.slice(0, 200)) {
      const [took, bytes] = await page.evaluate(async (text) => {
        const raw = Uint8Array.from(atob(text), (one) => one.charCodeAt(0)), begin = performance.now();
        await locdiff.locate(raw);
        return [performance.now() - begin, (await locdiff.about()).bytes];
      }, readFileSync(join(photos, name)).toString("base64"));
      times.push(took);
      sizes.push(bytes);
    }
    const last = times.slice(-20).sort((a, b) => a - b);
    console.log(`     ${times.length} photos: median of the last 20 ${last[10].toFixed(0)} ms, fastest ${last[0].toFixed(0)} ms; memory ${(sizes[9] / 2 ** 20).toFixed(0)} MiB after 10, ${(sizes.at(-1) / 2 ** 20).toFixed(0)} MiB after ${sizes.length}`);
    check("memory is flat", sizes.at(-1) <= 1.05 * sizes[9]);
  }
  // Without a network: a visit that has everything already.
  isUp = false;
  await context.setOffline(true);
  const offline = await open();
  await ready(offline);
  await offline.setInputFiles("#choose", join(fixtures, "china.jpg"));
  await answered(offline);
  await settled(offline);
  check(`without a network: ${await offline.textContent("#place")}`, (await offline.textContent("#words")).includes("nine in ten"));
  check(`axe with an answer: ${await violations(offline)}`, (await violations(offline)) === "[]");
  await offline.screenshot({ path: join(shots, "site-offline.png") });
  await offline.setViewportSize({ width: 390, height: 844 });
  await settled(offline);
  check("nothing to scroll sideways on a phone", await offline.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await offline.screenshot({ path: join(shots, "site-phone.png"), fullPage: true });
} catch (error) {
  failures.push(String(error));
} finally {
  await browser.close();
  server.close();
}
console.log(failures.length ? `failed:\n${failures.join("\n")}` : "all well");
process.exit(failures.length ? 1 : 0);
