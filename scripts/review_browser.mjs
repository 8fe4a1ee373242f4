// The page of `locdiff review` in a real Chromium, over a folder with hostile names and EXIF data: tick, refuse, drag, search, same place, a
// clock, undo and redo; a crash; what is written and taken back, by checksum; the keyboard alone; a phone; axe; tiles; a grid and a globe of 2,000 photos.
//     node scripts/review_browser.mjs MODULES BINARY PHOTO OTHER_PHOTO SHOTS     (scripts/serve_browser runs it)
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request as ask } from "node:http";
import { join, relative, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const [modules, binary, photo, other, shots] = process.argv.slice(2).map((path) => resolve(path));
const load = createRequire(join(modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });
const failures = [];
const check = (what, holds) => { console.log(`${holds ? "ok  " : "FAIL"} ${what}`); if (!holds) failures.push(what); };

// ---- the folder
// A JPEG with EXIF data of its own: camera, time, and a place.
function jpeg(path, camera, time, place) {
  const entries = [], later = [];
  const ascii = (text) => Buffer.from(`${text}\0`);
  const ifd = (list, at) => {
    const size = 2 + 12 * list.length + 4, head = Buffer.alloc(size), rest = [];
    head.writeUInt16LE(list.length, 0);
    let free = at + size;
    for (const [k, [tag, kind, count, bytes]] of list.entries()) {
      const to = 2 + 12 * k;
      head.writeUInt16LE(tag, to);
      head.writeUInt16LE(kind, to + 2);
      head.writeUInt32LE(count, to + 4);
      if (bytes.length <= 4) bytes.copy(head, to + 8);
      else { head.writeUInt32LE(free, to + 8); rest.push(bytes); free += bytes.length; }
    }
    return Buffer.concat([head, ...rest]);
  };
  const number = (value) => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(value); return bytes; };
  const rational = (degrees) => Buffer.concat([number(Math.round(Math.abs(degrees) * 1e6)), number(1e6), number(0), number(1), number(0), number(1)]);
  const text = (tag, words) => [tag, 2, ascii(words).length, ascii(words)];
  const first = [text(0x0110, camera)], sizeOf = (list) => 6 + 12 * list.length + list.reduce((sum, [, , , bytes]) => sum + (bytes.length > 4 ? bytes.length : 0), 0);
  const exif = [text(0x9003, time)];
  const gps = place && [text(1, place[0] < 0 ? "S" : "N"), [2, 5, 3, rational(place[0])], text(3, place[1] < 0 ? "W" : "E"), [4, 5, 3, rational(place[1])]];
  const count = 2 + Number(Boolean(gps)), base = 8 + 6 + 12 * count + (ascii(camera).length > 4 ? ascii(camera).length : 0);
  first.push([0x8769, 4, 1, number(base)]);
  if (gps) first.push([0x8825, 4, 1, number(base + sizeOf(exif))]);
  entries.push(ifd(first, 8), ifd(exif, base));
  if (gps) later.push(ifd(gps, base + sizeOf(exif)));
  const tiff = Buffer.concat([Buffer.from("Exif\0\0II*\0\b\0\0\0", "latin1"), ...entries, ...later]), bytes = readFileSync(path);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(tiff.length + 2);
  return Buffer.concat([bytes.subarray(0, 2), Buffer.from([0xff, 0xe1]), length, tiff, bytes.subarray(2)]);
}

const folder = join(shots, "review trip"), copies = join(shots, "review-copies");
for (const old of [folder, copies]) rmSync(old, { recursive: true, force: true });
mkdirSync(join(folder, "day 2"), { recursive: true });
const HOSTILE = "<img src=x onerror=alert(1)>", ROME = [41.9, 12.5], clock = (minutes) => `2024:05:12 ${String(10 + Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}:00`;
const put = (name, bytes) => writeFileSync(join(folder, name), bytes);
// One camera walks with tags; another has none, and a name that is a script.
for (const [k, shift] of [0, 0.05, 0.1, 0.15].entries()) put(`tag-${k}.jpg`, jpeg(photo, "Acme One", clock(30 * k), [ROME[0] + shift, ROME[1] + shift]));
for (let k = 0; k < 4; k++) put(`plain-${k}.jpg`, jpeg(k % 2 ? other : photo, HOSTILE, clock(30 * k + 5), null));
put(`${HOSTILE}.jpg`, jpeg(other, HOSTILE, clock(97), null));
put("\u202Egpj.' \"&amp;.jpg", jpeg(photo, "Acme One", clock(99), null));
put("broken.jpg", Buffer.from("no photo"));
// A day later nobody has a tag.
for (let k = 0; k < 3; k++) put(`day 2/later-${k}.jpg`, jpeg(k % 2 ? other : photo, "Acme One", clock(10 * k).replace(":12 ", ":13 "), null));

const sums = (root) => {
  const found = {};
  const walk = (path) => { for (const name of readdirSync(path)) { const file = join(path, name); if (name.startsWith(".")) continue; if (statSync(file).isDirectory()) walk(file); else found[relative(root, file)] = createHash("sha256").update(readFileSync(file)).digest("hex"); } };
  walk(root);
  return found;
};
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const before = sums(folder);

// ---- the command
let command = null, output = "";
async function start(words = ["review", folder, "--device", "cpu", "--copies", copies]) {
  command = spawn(binary, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, IMMICH_API_KEY: "a-key" } });
  output = "";
  command.stdout.on("data", (text) => { output += text; });
  return new Promise((found, failed) => {
    let said = "";
    command.stderr.on("data", (text) => {
      said += text;
      const match = said.match(/http:\/\/[\d.:]+\/\?token=\w+/);
      if (match) found(match[0]);
    });
    command.on("exit", () => failed(new Error(said)));
  });
}
const ended = () => new Promise((done) => { if (command.exitCode !== null || command.signalCode) done(); else command.on("exit", done); });
const status = (url, headers) => new Promise((done) => ask(url, { headers }, (response) => { response.resume(); done(response.statusCode); }).end());

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
async function open(url, options, isReady = true, tiles = "no tiles") {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage(), { origin } = new URL(url);
  page.on("console", (message) => { if (message.type() === "error" && !/status of 4(04|09)|ERR_CONNECTION|Failed to load|\/1\/2\/3' violates/.test(message.text())) failures.push(message.text()); });
  page.on("pageerror", (error) => failures.push(String(error)));
  page.on("dialog", () => failures.push("a script of a name ran"));
  page.on("request", (request) => { if (!request.url().startsWith(origin) && !request.url().startsWith(tiles) && !request.url().endsWith("/1/2/3")) failures.push(`left the machine: ${request.url()}`); });
  await page.goto(url);
  if (isReady) await ready(page);
  return page;
}
// Whoever was admitted comes again with the cookie.
async function again(page, options) {
  return open(page.url(), { storageState: await page.context().storageState(), ...options });
}
const ready = (page) => page.waitForFunction(() => !document.getElementById("room").hidden && document.getElementById("work").hidden, null, { timeout: 120000 });
const settled = (page) => page.waitForTimeout(350);
const state = async (page) => (await page.request.get(new URL("/review/state", page.url()).href)).json();
const of = async (page, key) => (await state(page)).photos.find((one) => one.key === key);
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 80))])))", awaitPromise: true, returnByValue: true });
  return result.value;
}
const clean = async (page, where) => { const found = await violations(page); check(`axe ${where}: ${found}`, found === "[]"); };
// Chooses a photo of the strip, wherever it is.
async function choose(page, key, more = {}) {
  const k = await page.evaluate((key) => {
    const strip = document.getElementById("photos");
    strip.scrollLeft = 0;
    return key;
  }, key).then(async () => {
    const list = (await state(page)).photos.map((one) => [one.said?.time.seconds ?? Infinity, one.key]).sort((a, b) => a[0] - b[0]);
    return list.findIndex(([, name]) => name === key);
  });
  await page.evaluate((k) => { document.getElementById("photos").scrollLeft = Math.max(0, 136 * k - 100); }, k);
  await page.waitForSelector(`#photos [data-k="${k}"]`);
  await page.locator(`#photos [data-k="${k}"]`).click({ position: { x: 40, y: 40 }, ...more });
}
// Whether an element says this in the end: the page answers when its machine has time.
const says = (page, id, words) => page.waitForFunction(([id, words]) => document.getElementById(id).textContent.includes(words), [id, words], { timeout: 120000 }).then(() => true, () => false);
// Whether a photo comes to be so, once nothing is under way.
async function waits(page, key, holds) {
  for (const begin = Date.now(); Date.now() - begin < 60000; await new Promise((done) => setTimeout(done, 60))) {
    const { photos, is_busy: isBusy } = await state(page);
    if (!isBusy && holds(photos.find((photo) => photo.key === key))) return ready(page).then(() => true);
  }
  return false;
}
const km = (a, b) => { const rad = Math.PI / 180, cosine = Math.sin(a.lat * rad) * Math.sin(b.lat * rad) + Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * Math.cos((a.lon - b.lon) * rad); return 6371 * Math.acos(Math.min(1, cosine)); };

try {
  let url = await start();
  const origin = new URL(url).origin;
  check("without the token nobody is admitted", (await status(origin, {})) === 403);
  check("nor by another host", (await status(url, { host: "evil.example" })) === 403);
  const page = await open(url, {}, false);
  check("work is shown while photos are read", await page.waitForSelector("#work", { state: "visible", timeout: 120000 }).then(() => true, () => false));
  await ready(page);
  check("the token works once", (await status(url, {})) === 403);
  await settled(page);
  const first = await state(page);
  check(`${first.photos.length} photos are on the page`, first.photos.length === 14 && (await page.textContent("#count")).includes("of 14 selected"));
  check("thumbnails are shown", await page.waitForFunction(() => [...document.querySelectorAll("#photos img")].filter((image) => image.naturalWidth > 0).length >= 3).then(() => true));
  await clean(page, "on the page");
  await page.screenshot({ path: join(shots, "review.png") });
  let packed = 0;
  for (const path of await page.evaluate(() => ["/", ...performance.getEntriesByType("resource").map((one) => new URL(one.name).pathname).filter((path) => path.startsWith("/page/"))])) packed += gzipSync(await (await page.request.get(origin + path)).body(), { level: 9 }).length;
  check(`the page has ${packed} bytes compressed`, packed > 50000 && packed < 500000);

  // Finer shores from some zoom on, on the flat map, too.
  for (let k = 0; k < 12; k++) await page.click("#in");
  const finer = () => page.waitForFunction(() => Number(document.getElementById("globe").dataset.shores) > 0, null, { timeout: 120000 }).then(() => true, () => false);
  check("finer shores at close zoom", await finer());
  await page.click("#flat");
  check("on the flat map, too", await finer());
  await page.click("#flat");

  // Tick, refuse, undo, redo.
  const KEY = "day 2/later-1.jpg";
  await choose(page, KEY);
  check("a photo a day later is not ticked unasked", (await of(page, KEY)).take === false);
  await page.click("#tick");
  check("tick", await waits(page, KEY, (one) => one.take && one.decided));
  await page.click("#refuse");
  check("refuse", await waits(page, KEY, (one) => !one.take && one.decided === false));
  await page.click("#undo");
  check("undo", await waits(page, KEY, (one) => one.take && one.decided));
  await page.click("#redo");
  check("redo", await waits(page, KEY, (one) => !one.take && one.decided === false));
  await page.keyboard.press("Control+z");
  await page.keyboard.press("Control+z");
  check("undo by keys", await waits(page, KEY, (one) => one.decided === null));

  // Drag the pin: the photo is there, and the one ten minutes later is placed again.
  const NEXT = "day 2/later-2.jpg", was = (await of(page, NEXT)).said;
  await settled(page);
  const box = await page.locator("#globe").boundingBox();
  await page.evaluate(() => document.getElementById("globe").focus());
  await choose(page, "tag-0.jpg");
  await choose(page, KEY);
  await page.waitForTimeout(500);
  const middle = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(...middle);
  await page.mouse.down();
  await page.mouse.move(middle[0] + 60, middle[1] - 40, { steps: 6 });
  await page.mouse.move(middle[0] + 120, middle[1] - 80, { steps: 6 });
  await page.mouse.up();
  check("drag the pin", await waits(page, KEY, (one) => one.moved && one.take));
  const dragged = (await of(page, KEY)).said, now = (await of(page, NEXT)).said;
  const becauseOfThePin = await says(page, "because", "the pin");
  check(`what is dragged is said: ${await page.textContent("#because")}`, becauseOfThePin);
  check(`the others are placed again: ${km(was.best, dragged.best).toFixed(0)} km away before, ${km(now.best, dragged.best).toFixed(0)} km now; ${now.because}`, km(now.best, dragged.best) < 0.5 * km(was.best, dragged.best));
  await page.screenshot({ path: join(shots, "review-dragged.png") });

  // A town; hostile searches.
  for (const words of ["<script>alert(1)</script>", "'; DROP TABLE towns; --", "%00%ff", "x".repeat(100), "\u202E", "((((", "\\"]) {
    await page.fill("#town", words);
    await page.press("#town", "Enter");
    await page.waitForFunction(() => document.getElementById("status").textContent.includes("No town"));
  }
  check("hostile searches find nothing", (await page.locator("#towns li").count()) === 0);
  await page.fill("#town", "kyot");
  await page.press("#town", "Enter");
  await page.waitForFunction(() => document.querySelector("#towns button")?.textContent.includes("Japan"));
  await clean(page, "with towns found");
  await page.screenshot({ path: join(shots, "review-towns.png") });
  await page.locator("#towns button").first().click();
  check("search a town", await waits(page, KEY, (one) => one.moved && /Kyoto/.test(one.said.place)));
  await page.fill("#town", "34.95, 135.75");
  await page.press("#town", "Enter");
  await page.waitForFunction(() => document.querySelector("#towns button")?.textContent.includes("34.95"));
  await page.locator("#towns button").first().click();
  check("search by numbers", await waits(page, KEY, (one) => Math.abs(one.said.best.lat - 34.95) < 1e-6));
  for (const [words, lat] of [["35°01'02.3\"N 135°45'06.7\"E", 35.017306], ["34.95000 N, 135.75000 E", 34.95]]) {
    await page.fill("#town", words);
    await page.press("#town", "Enter");
    await page.waitForFunction((lat) => document.querySelector("#towns button")?.textContent.includes(lat.toFixed(4).slice(0, 6)), lat);
    await page.locator("#towns button").first().click();
    check(`coordinates to the metre: ${words}`, await waits(page, KEY, (one) => Math.abs(one.said.best.lat - lat) < 1e-5 && one.said.radius_90_km < 0.02));
  }

  // Same place as this one: two selected, the last looked at is the reference.
  await choose(page, "day 2/later-0.jpg");
  await choose(page, KEY, { modifiers: ["Control"] });
  await page.click("#same");
  check("same place as this one", await waits(page, "day 2/later-0.jpg", (one) => one.moved && Math.abs(one.said.best.lat - 34.95) < 1e-6));
  await page.click("#undo");
  check("undo of that", await waits(page, "day 2/later-0.jpg", (one) => !one.moved));
  await page.click("#redo");
  check("redo of that", await waits(page, "day 2/later-0.jpg", (one) => one.moved));
  check("a tag of its own stays", (await page.request.post(`${origin}/review/act`, { headers: { origin }, data: { act: "move", photos: ["tag-1.jpg"], lat: 1, lon: 2, radius_km: 1, how: "x" } })).status() === 409);

  // A clock: photos move as one looks, then the chain says where they are; undo.
  const slider = page.locator("#clocks input").first();
  check(`a camera's name is text: ${await page.textContent("#clocks label >> nth=0")}`, (await page.textContent("#clocks")).includes(HOSTILE));
  const started = (await state(page)).clocks.find((one) => one.camera === HOSTILE);
  await slider.focus();
  await page.evaluate(() => { globalThis.along = []; new MutationObserver(() => globalThis.along.push(document.getElementById("globe").dataset.along)).observe(document.getElementById("globe"), { attributeFilter: ["data-along"] }); });
  const acts = () => readFileSync(join(folder, ".locdiff-review/acts.jsonl"), "utf8").split("\n").length, lines = acts();
  // Not all at once: the page asks for the places of the last of many.
  for (let k = 0; k < 20; k++) { await page.keyboard.press("ArrowLeft"); await page.waitForTimeout(40); }
  await page.waitForTimeout(1200);
  await ready(page);
  const seen = await page.evaluate(() => [...new Set(globalThis.along)]);
  check(`a camera's photos move along as its clock is turned: ${seen.slice(0, 3).join(" ")}`, seen.length > 2);
  // A busy machine may let it rest in between.
  const turns = acts() - lines;
  check(`turning it is an act where it rests: ${turns}`, turns >= 1 && turns <= 4);
  const set = (await state(page)).clocks.find((one) => one.camera === HOSTILE);
  check(`the clock is set: ${started.ahead_s} s before, ${set.ahead_s} s now`, set.ahead_s !== started.ahead_s);
  check("the slider keeps the focus", await page.evaluate(() => document.activeElement.type === "range"));
  for (let k = 0; k < turns; k++) { await page.click("#undo"); await ready(page); }
  check("undo of the clock", (await state(page)).clocks.find((one) => one.camera === HOSTILE).ahead_s === started.ahead_s);

  // A crash loses nothing.
  await choose(page, `${HOSTILE}.jpg`);
  await page.click("#refuse");
  await waits(page, `${HOSTILE}.jpg`, (one) => one.decided === false);
  const left = (await state(page)).photos;
  command.kill("SIGKILL");
  await ended();
  await page.click("#tick");
  const saysItsEnd = await says(page, "status", "has ended");
  check(`a session that ended says so: ${await page.textContent("#status")}`, saysItsEnd);
  await clean(page, "after the end");
  const begin = Date.now();
  url = await start();
  const later = await open(url);
  check(`after a crash all is as it was (${Date.now() - begin} ms)`, same((await state(later)).photos, left));

  // Write, take back: sidecars, the photos themselves, copies.
  const write = async (page, way) => {
    await page.check(`#ways [value=${way}]`);
    await page.click("#apply");
    await page.waitForFunction(() => document.getElementById("status").textContent.includes("tagged"), null, { timeout: 120000 });
    await ready(page);
    return page.textContent("#status");
  };
  const back = async (page) => { await page.click("#back"); await page.waitForFunction(() => document.getElementById("status").textContent.includes("taken back"), null, { timeout: 120000 }); await ready(page); };
  const ticked = (await state(later)).photos.filter((one) => one.take).map((one) => one.key);
  check(`ticked: ${ticked.length}`, ticked.length >= 6 && ticked.includes(KEY) && !ticked.includes(`${HOSTILE}.jpg`));
  const told = await write(later, "sidecars");
  let after = sums(folder);
  check(`sidecars: ${told}`, ticked.every((key) => after[`${key}.xmp`]) && Object.keys(before).every((key) => after[key] === before[key]));
  check("who placed it is written", readFileSync(join(folder, `${KEY}.xmp`), "utf8").includes("MANUAL"));
  await clean(later, "after writing");
  await later.screenshot({ path: join(shots, "review-written.png") });
  await back(later);
  check("taken back, to the byte", same(sums(folder), before));
  await write(later, "in_place");
  after = sums(folder);
  check("in place: the photos changed, the originals stay", ticked.every((key) => after[key] !== before[key] && after[`${key}_original`] === before[key]) && after["tag-0.jpg"] === before["tag-0.jpg"]);
  // A crash between writing and taking back.
  command.kill("SIGKILL");
  await ended();
  url = await start();
  const third = await open(url);
  check("what was written is known after a crash", (await state(third)).photos.filter((one) => one.written).length === ticked.length);
  await back(third);
  check("taken back after a crash, to the byte", same(sums(folder), before));
  await write(third, "copies");
  check("copies: the photos stay", same(sums(folder), before) && ticked.every((key) => sums(copies)[key]));
  execFileSync(binary, ["undo", copies]);
  check("`locdiff undo` takes copies back", Object.keys(sums(copies)).length === 0);

  // The keyboard alone: choose, tick, search, place, write.
  const keys = await again(third, { colorScheme: "dark" });
  const reached = [];
  await keys.locator("#photos button").first().focus();
  await keys.keyboard.press("ArrowRight");
  await keys.evaluate(() => document.activeElement.blur());
  for (let k = 0; k < 40; k++) { await keys.keyboard.press("Tab"); reached.push(await keys.evaluate(() => document.activeElement.id || document.activeElement.closest("#photos, #hypotheses")?.id || document.activeElement.name)); }
  check(`Tab reaches ${[...new Set(reached)].join(" ")}`, ["theme", "several", "all", "unsure", "photos", "town", "clock-0", "way", "done", "globe", "in", "out", "flat"].every((id) => reached.includes(id)));
  await keys.locator("#photos button").first().focus();
  await keys.keyboard.press("End");
  await keys.keyboard.press("ArrowLeft");
  const at = await keys.evaluate(() => document.getElementById("name").textContent.split(",")[0]);
  check(`arrow keys walk: ${at}`, at === NEXT);
  await keys.focus("#globe");
  const unmoved = (await of(keys, NEXT)).said.best;
  await settled(keys);
  for (let k = 0; k < 3; k++) await keys.keyboard.press("Shift+ArrowUp");
  check("the pin is moved by keys", await says(keys, "status", "Enter confirms"));
  await keys.keyboard.press("Enter");
  check("and put down by Enter", await waits(keys, NEXT, (one) => one.moved) && (await of(keys, NEXT)).said.best.lat > unmoved.lat);
  await keys.focus("#undo");
  await keys.keyboard.press("Enter");
  check("and taken back", await waits(keys, NEXT, (one) => !one.moved));
  await keys.focus("#town");
  await keys.keyboard.type("Osaka");
  await keys.keyboard.press("Enter");
  await keys.waitForFunction(() => document.activeElement.closest("#towns"));
  await keys.keyboard.press("Enter");
  check("a town by keys", await waits(keys, NEXT, (one) => one.moved && /Osaka/.test(one.said.place)));
  await keys.locator("#photos button").first().focus();
  await keys.keyboard.press("Control+a");
  check("all by keys", await says(keys, "count", "14 of 14"));
  await clean(keys, "in the dark, all selected");
  await keys.screenshot({ path: join(shots, "review-dark.png") });

  // The grid: headings, keys, filters.
  await keys.click("#as-grid");
  const cells = keys.locator("#cells .cell"), heads = async () => (await keys.locator("#cells .head").allTextContents()).join(" | ");
  check(`the grid has days: ${await heads()}`, /Sunday,? 12 May 2024 10 \| Monday,? 13 May 2024 3/.test(await heads()) && (await cells.count()) === 14);
  await keys.selectOption("#by", "folder");
  check(`folders: ${await heads()}`, (await heads()).includes("day 2 3"));
  await keys.selectOption("#by", "trip");
  check(`trips: ${await heads()}`, (await heads()).includes("rip"));
  await keys.selectOption("#by", "day");
  await keys.focus("#cells");
  await keys.keyboard.press("Home");
  await keys.keyboard.press("ArrowRight");
  await keys.keyboard.press("Shift+ArrowRight");
  await keys.keyboard.press("Shift+ArrowRight");
  check("Shift and arrows select", await says(keys, "count", "3 of 14"));
  await keys.keyboard.press("Shift+ArrowLeft");
  check("and give back", await says(keys, "count", "2 of 14"));
  await keys.keyboard.press("End");
  await keys.keyboard.press("ArrowUp");
  await keys.keyboard.press("ArrowUp");
  check("up goes to the day before", (await keys.locator("#cells .cell.current").textContent()).includes("2024-05-12"));
  await keys.keyboard.press("a");
  check("a selects all", await says(keys, "count", "14 of 14"));
  await keys.selectOption("#which", "untagged");
  check("what is hidden is not selected", await says(keys, "sifted", "10 of 14 shown") && await says(keys, "count", "10 of 14"));
  await keys.selectOption("#which", "ticked");
  await keys.focus("#cells");
  await keys.keyboard.press("Home");
  const first14 = await keys.locator("#cells .cell.current").getAttribute("title");
  await keys.keyboard.press(" ");
  check(`Space refuses what was ticked: ${first14}`, await waits(keys, first14, (one) => one.decided === false) && (await keys.locator("#cells .cell.current").getAttribute("title")) !== first14);
  await keys.keyboard.press("Control+z");
  check("Ctrl-Z ticks it again", await waits(keys, first14, (one) => one.take));
  await keys.selectOption("#which", "all");
  await keys.selectOption("#lens", { label: HOSTILE });
  check("one camera", await says(keys, "sifted", "5 of 14 shown"));
  await clean(keys, "with the grid");
  await keys.screenshot({ path: join(shots, "review-grid.png") });
  await keys.selectOption("#lens", "all");
  await keys.focus("#cells");
  await keys.keyboard.press("Enter");
  check("Enter opens the map", await keys.isVisible("#globe") && !(await keys.isVisible("#cells")));
  await keys.keyboard.press("Escape");
  check("Escape goes back", await keys.isVisible("#cells"));

  // A phone.
  const phone = await again(third, { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await settled(phone);
  check("a phone has nothing to scroll sideways", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await phone.tap("#several");
  await phone.locator("#photos button").nth(1).tap();
  check("several by touch", await says(phone, "count", "2 of"));
  await clean(phone, "on a phone");
  await phone.screenshot({ path: join(shots, "review-phone.png"), fullPage: true });

  // 2,000 photos: the server's part is played here, for the page's own speed.
  const many = await (async () => {
    const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 860 }, storageState: await third.context().storageState() });
    const page = await context.newPage();
    page.on("pageerror", (error) => failures.push(String(error)));
    const photos = Array.from({ length: 2000 }, (_, k) => {
      const best = { lat: 42 + 8 * Math.sin(k / 300) + 0.4 * Math.sin(k), lon: 10 + 25 * Math.cos(k / 400) + 0.4 * Math.cos(k * 1.7) };
      return { key: `p${k}`, name: `p${k}.jpg`, camera: "A", gps: k % 10 ? null : best, take: k % 3 === 0, decided: null, moved: false, written: false, error: null,
        said: { best, place: `place ${k}`, radius_50_km: 2, radius_90_km: 9, can_tell: k % 8 !== 3, because: "it says so", alternatives: [], probability: 0.9, moved_km: 0, gps: null, time: { seconds: 1.7e9 + 60 * k, text: "2024-05-12T10:00:00", utc: null } } };
    });
    const body = { version: 7, is_busy: false, work: null, title: "many", is_read: true, problem: null, told: null, undo: null, redo: null, ways: [["sidecars", "beside"]], places_again: true, clocks: [], photos };
    await page.route("**/review/state*", (route) => route.fulfill({ json: body }));
    await page.goto(new URL("/", url).href);
    await page.waitForFunction(() => document.querySelectorAll("#cells .cell").length > 8);
    // Told, not judged.
    console.log(`     the grid of 2,000 photos is there after ${await page.evaluate(() => performance.now().toFixed(0))} ms`);
    const made = await page.locator("#cells .cell").count();
    check(`${made} cells in the grid`, made < 60);
    await page.keyboard.press("End");
    check("the last photo is in sight", (await page.locator("#cells .cell.current").getAttribute("aria-posinset")) === "2000");
    await page.keyboard.press("a");
    check("all 2,000 are selected", await says(page, "count", "2,000 of 2,000"));
    await page.selectOption("#which", "unsure");
    check(`unsure: ${await page.textContent("#sifted")}`, await says(page, "sifted", `${photos.filter((one) => !one.gps && !one.take).length.toLocaleString("en")} of 2,000 shown`));
    await clean(page, "with a grid of 2,000 photos");
    await page.selectOption("#which", "all");
    await page.screenshot({ path: join(shots, "review-grid-2000.png") });
    await page.click("#as-map");
    await page.waitForTimeout(600);
    return page;
  })();
  const rate = () => many.evaluate(() => new Promise((done) => {
    const begin = performance.now(), globe = document.getElementById("globe"), box = globe.getBoundingClientRect();
    const pointer = (kind, x) => globe.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: box.x + x, clientY: box.y + 120, bubbles: true }));
    globe.setPointerCapture = () => {};
    pointer("pointerdown", 300);
    let frames = 0;
    const step = () => {
      pointer("pointermove", 300 + 120 * Math.sin(frames / 15));
      frames++;
      if (performance.now() - begin < 1000) requestAnimationFrame(step);
      else { pointer("pointerup", 300); done(frames); }
    };
    requestAnimationFrame(step);
  }));
  // Told, not judged: the machine may be busy.
  console.log(`     2,000 pins turn at ${(await rate()).toFixed(0)} frames a second`);
  check(`${await many.locator("#photos .item").count()} items in the strip`, (await many.locator("#photos .item").count()) < 20);
  await many.screenshot({ path: join(shots, "review-2000.png") });

  // Without an address of tiles the page's policy blocks them; with one, that server alone is asked.
  const tiled = [], tileServer = createServer((request, response) => { tiled.push([request.url, request.headers.referer]); response.setHeader("content-type", "image/jpeg"); response.end(readFileSync(photo)); });
  await new Promise((done) => tileServer.listen(0, "127.0.0.1", done));
  const tileOrigin = `http://localhost:${tileServer.address().port}`;
  const loads = (page, from) => page.evaluate((from) => new Promise((done) => { const image = new Image(); image.onload = () => done(true); image.onerror = () => done(false); image.src = from; }), from);
  const closed = await open(third.url(), { storageState: await third.context().storageState() }, true, tileOrigin);
  check("tiles are off", !(await loads(closed, `${tileOrigin}/1/2/3`)) && !tiled.length && (await closed.textContent("footer")).includes("Nothing is loaded"));
  await third.click("#done");
  await ended();
  check(`the command ends: ${output.trim()}`, /photos are ticked, 0 are written/.test(output) && command.exitCode === 0);

  url = await start(["review", folder, "--device", "cpu", "--copies", copies, "--tiles", `${tileOrigin}/{z}/{x}/{y}.jpg`]);
  const streets = await open(url, {}, true, tileOrigin);
  await choose(streets, "tag-0.jpg");
  for (let k = 0; k < 20; k++) await streets.click("#in");
  check("tiles are drawn", await streets.waitForFunction(() => Number(document.getElementById("globe").dataset.tiles) > 3, null, { timeout: 120000 }).then(() => true, () => false));
  check(`the tiles' server is told no more than where: ${tiled.at(-1)}`, tiled.every(([path, referer]) => /^\/\d+\/\d+\/\d+\.jpg$/.test(path) && referer === `${new URL(url).origin}/`));
  check("the footer names it", (await streets.textContent("footer")).includes(tileOrigin));
  check("and no other server", !(await loads(streets, `http://127.0.0.1:${tileServer.address().port}/1/2/3`)));
  await streets.screenshot({ path: join(shots, "review-tiles.png") });
  await clean(streets, "with tiles");
  await streets.click("#done");
  await ended();
  tileServer.close();

  // The same page for immich: a server that has two photos, one of them with a hostile name.
  const id = (k) => `00000000-0000-4000-8000-00000000000${k}`, places = new Map();
  const immich = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    if (request.method === "PUT") { const { ids, latitude, longitude } = JSON.parse(body); ids.forEach((one) => places.set(one, [latitude, longitude])); response.statusCode = 204; response.end(); return; }
    if (request.url.includes("/thumbnail")) { response.end(readFileSync(photo)); return; }
    const one = request.url.split("/").pop(), [latitude, longitude] = places.get(one) ?? [null, null];
    response.end(JSON.stringify({ id: one, type: "IMAGE", originalFileName: "a.jpg", exifInfo: { latitude, longitude } }));
  });
  await new Promise((done) => immich.listen(0, "127.0.0.1", done));
  const server = `http://127.0.0.1:${immich.address().port}`, file = join(shots, "immich-suggestions.json");
  for (const old of [file, `${file}.acts.jsonl`, join(shots, "immich-journal.jsonl")]) rmSync(old, { force: true });
  const suggestion = (k) => ({ asset: id(k), name: k ? `${HOSTILE}.jpg` : "a.jpg", time: `2024-05-12T1${k}:00:00.000Z`, lat: 41.9, lon: 12.5, place: "in Rome, Italy", radius_50_km: 1, radius_90_km: 3, because: "5 minutes after", warning: k ? "it may not fit" : null, take: k === 0 });
  writeFileSync(file, JSON.stringify({ server, suggestions: [suggestion(0), suggestion(1)] }));
  url = await start(["immich", server, "review", "--file", file, "--journal", join(shots, "immich-journal.jsonl")]);
  const library = await open(url);
  await choose(library, id(1));
  await library.fill("#town", "Naples");
  await library.press("#town", "Enter");
  await library.waitForFunction(() => document.querySelector("#towns button"));
  await library.locator("#towns button").first().click();
  check("immich: a town", await waits(library, id(1), (one) => one.moved && one.take));
  await clean(library, "with immich's suggestions");
  await library.screenshot({ path: join(shots, "review-immich.png") });
  await library.click("#apply");
  await library.waitForFunction(() => document.getElementById("status").textContent.includes("tagged on the server"), null, { timeout: 120000 });
  check(`immich: written ${JSON.stringify([...places.values()])}`, places.size === 2 && Math.abs(places.get(id(1))[0] - 40.85) < 0.1);
  await library.click("#back");
  await library.waitForFunction(() => document.getElementById("status").textContent.includes("taken back"), null, { timeout: 120000 });
  check("immich: taken back", [...places.values()].every(([lat, lon]) => lat === 0 && lon === 0));
  await library.click("#done");
  await ended();
  immich.close();
} catch (error) {
  failures.push(String(error.stack ?? error));
} finally {
  await browser.close();
  command?.kill("SIGTERM");
}
console.log(failures.length ? `failed:\n${failures.join("\n")}` : "all well");
process.exit(failures.length ? 1 : 0);
