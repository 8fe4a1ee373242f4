// The page of `locdiff serve` in a real Chromium: choose, paste, drop, camera; answer, density, outlines; a country, a drawn circle;
// one place; one trip; the film; text lines and their boxes, clues, the ledger and its printed page, what gives a photo away; downloads, keyboard,
// phone width, axe-core.
//     node scripts/serve_browser.mjs MODULES BINARY PHOTO OTHER_PHOTO TAGGED_PHOTO SHOTS     (scripts/serve_browser finds what it needs)
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

const [modules, binary, photo, other, tagged, shots] = process.argv.slice(2).map((path) => resolve(path));
const load = createRequire(join(modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
mkdirSync(shots, { recursive: true });

const server = spawn(binary, ["serve", "--address", "127.0.0.1:0", "--no-log", "--device", "cpu"], { stdio: ["ignore", "ignore", "pipe"] });
const address = await new Promise((found) => server.stderr.on("data", (text) => {
  const match = String(text).match(/http:\/\/[\d.:]+/);
  if (match) found(match[0]);
}));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const failures = [];
const check = (what, holds) => { console.log(`${holds ? "ok  " : "FAIL"} ${what}`); if (!holds) failures.push(what); };

async function open(options) {
  const context = await browser.newContext({ reducedMotion: "reduce", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.on("console", (message) => { if (message.type() === "error" && !/status of (400|415|422)/.test(message.text())) failures.push(message.text()); });
  page.on("pageerror", (error) => failures.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) failures.push(`left the machine: ${request.url()}`); });
  await page.goto(address);
  return page;
}
const answered = (page) => page.waitForFunction(() => !document.getElementById("answer").hidden && document.getElementById("work").hidden && !document.getElementById("status").textContent, null, { timeout: 300000 });
// Whether the best place, in words, is inside a circle.
function within(words, [, km, lat, lon]) {
  const [, y, ns, x, ew] = /([\d.]+)° ([NS]), ([\d.]+)° ([EW])/.exec(words);
  const rad = (deg) => deg * Math.PI / 180, [a, b] = [rad(ns === "S" ? -y : Number(y)), rad(lat)];
  const cosine = Math.sin(a) * Math.sin(b) + Math.cos(a) * Math.cos(b) * Math.cos(rad((ew === "W" ? -x : Number(x)) - lon));
  return Math.acos(Math.min(1, cosine)) * 6371 < Number(km) + 2;
}
// The words under each photo of the strip, of which only the part in sight exists.
const stripTexts = (page) => page.evaluate(async () => {
  const strip = document.getElementById("photos"), found = new Map();
  for (let left = 0; left <= strip.scrollWidth; left += 200) {
    strip.scrollLeft = left;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    for (const button of strip.querySelectorAll("button")) found.set(Number(button.dataset.k), button.textContent);
  }
  strip.scrollLeft = 0;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return [...found].sort(([a], [b]) => a - b).map(([, words]) => words);
});
const inStrip = (page, k) => page.locator(`#photos [data-k="${k}"]`);
const settled = (page) => page.waitForTimeout(1200);
// axe is run by the test's own hand: the page's policy forbids it to load anything.
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 80))])))", awaitPromise: true, returnByValue: true });
  return result.value;
}
// Pixels of the canvas that are of the outlines' or the density's colour.
const outlined = (page) => page.evaluate(() => {
  const canvas = document.getElementById("globe");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 1] + 60 && data[i] > data[i + 2] + 40) count++;
  return count;
});

try {
  const page = await open({ viewport: { width: 1280, height: 800 } });
  await settled(page);
  check("no outline before an answer", (await outlined(page)) === 0);
  check(`axe on the empty page: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "empty.png") });
  let packed_ = 0;
  for (const url of await page.evaluate(() => [location.href, ...performance.getEntriesByType("resource").map((one) => one.name)])) packed_ += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer()), { level: 9 }).length;
  check(`the page and all that it loads have ${packed_} bytes compressed`, packed_ > 100000 && packed_ < 500000);
  await page.setInputFiles("#choose", photo);
  await answered(page);
  await settled(page);
  check("an answer in words", (await page.textContent("#words")).includes("nine in ten"));
  check("hypotheses are numbered", (await page.locator("#hypotheses li").count()) >= 1);
  check("outlines are drawn", (await outlined(page)) > 200);
  const texture = await page.evaluate(async () => {
    const canvas = document.getElementById("globe");
    const colours = () => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set();
      for (let i = 0; i < data.length; i += 4) if (data[i] > data[i + 1] + 20) found.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
      return found.size;
    };
    return colours();
  });
  check(`the density is painted: ${texture} shades`, texture > 300);
  check(`axe with an answer: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "answer.png") });
  await page.click("#flat");
  await settled(page);
  check("the density is painted on the flat map too", (await outlined(page)) > 200);
  await page.screenshot({ path: join(shots, "flat.png") });
  await page.click("#flat");
  await page.fill("#within", "Japan");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("place").textContent.includes("Japan"), null, { timeout: 300000 });
  await settled(page);
  check("restricted to Japan", true);
  await page.screenshot({ path: join(shots, "japan.png") });
  await page.fill("#within", "Atlantis");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("Atlantis"));
  check("an unknown region is said", true);
  await page.fill("#within", "Fiji");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("place").textContent.includes("Fiji"), null, { timeout: 300000 });
  await settled(page);
  await page.screenshot({ path: join(shots, "fiji.png") });
  for (const format of ["geojson", "kml", "csv", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
    const bytes = readFileSync(await download.path());
    const begins = { geojson: "{", kml: "<?xml", csv: "photo,rank", png: "\u0089PNG" }[format];
    check(`${format} is downloaded`, bytes.toString("latin1").startsWith(begins));
  }
  // A circle by the pointer, and one by numbers.
  await page.click("#anywhere");
  await page.waitForFunction(() => document.getElementById("anywhere").hidden);
  await settled(page);
  await page.click("#draw");
  const box = await page.locator("#globe").boundingBox(), middle = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(...middle);
  await page.mouse.down();
  await page.mouse.move(middle[0] + 40, middle[1] + 10, { steps: 4 });
  await page.mouse.move(middle[0] + 90, middle[1] + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => / km around /.test(document.getElementById("within").value) && !document.getElementById("anywhere").hidden, null, { timeout: 300000 });
  await answered(page);
  await settled(page);
  const drawn = /^([\d.]+) km around (-?[\d.]+),(-?[\d.]+)$/.exec(await page.inputValue("#within"));
  const best = await page.evaluate(() => document.querySelector("#facts dd").textContent);
  check(`a drawn circle restricts: ${drawn?.[0]}, best ${best}`, drawn && within(best, drawn));
  check("the draw button is out again", (await page.getAttribute("#draw", "aria-pressed")) === "false");
  check(`axe with a circle: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "region.png") });
  await page.click("summary");
  for (const [id, value] of [["lat", "-17.8"], ["lon", "178.9"], ["km", "300"]]) await page.fill(`#${id}`, value);
  await page.press("#km", "Enter");
  await page.waitForFunction(() => document.getElementById("within").value === "300 km around -17.800,178.900");
  await answered(page);
  await settled(page);
  const fiji = await page.evaluate(() => document.querySelector("#facts dd").textContent);
  check(`a circle by numbers, across the antimeridian: ${fiji}`, within(fiji, [null, 300, -17.8, 178.9]));
  await page.screenshot({ path: join(shots, "antimeridian.png") });
  await page.click("summary");
  await page.click("#anywhere");
  await page.waitForFunction(() => document.getElementById("anywhere").hidden);
  await answered(page);
  // The film: without motion the slider walks through it.
  await page.click("#play");
  await page.waitForFunction(() => !document.getElementById("film").hidden, null, { timeout: 300000 });
  await settled(page);
  const canvas = () => page.evaluate(() => document.getElementById("globe").toDataURL());
  const noise = await canvas();
  check(`the film begins: ${await page.textContent("#moment")}`, (await page.textContent("#moment")) === "step 1 of 17");
  await page.screenshot({ path: join(shots, "film-begin.png") });
  await page.focus("#step");
  await page.keyboard.press("End");
  await settled(page);
  check("its end is another picture", (await page.textContent("#moment")) === "step 17 of 17" && (await canvas()) !== noise);
  check(`axe with the film: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "film-end.png") });
  await page.click("#play");
  check("the film closes", await page.isHidden("#film"));
  // Which parts speak for the place.
  await page.click("#speak");
  await page.waitForFunction(() => document.getElementById("speaking").textContent, null, { timeout: 300000 });
  const veiled = await page.evaluate(() => { const { data } = document.getElementById("parts").getContext("2d").getImageData(0, 0, document.getElementById("parts").width, document.getElementById("parts").height); const seen = new Set(); for (let i = 3; i < data.length; i += 4) seen.add(data[i]); return seen.size; });
  check(`the parts that speak for it are clear: ${await page.textContent("#speaking")} (${veiled} shades)`, veiled > 20);
  check(`axe with the parts: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "parts.png") });
  await page.click("#speak");
  check("the veil goes", await page.isHidden("#parts"));
  // Another photo is pasted, a third dropped; both of one place.
  const bytes = readFileSync(other).toString("base64");
  const give = (kind) => page.evaluate(([kind, bytes]) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0))], `${kind}.jpg`, { type: "image/jpeg" }));
    const event = kind === "paste" ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true }) : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
  }, [kind, bytes]);
  for (const [k, kind] of ["paste", "drop"].entries()) {
    await give(kind);
    await page.waitForFunction((name) => document.getElementById("name").textContent === name, `${kind}.jpg`, { timeout: 300000 });
    check(`a photo by ${kind}`, (await page.locator("#photos .item").count()) === k + 2);
  }
  check("the camera is asked for, but not on a desktop", (await page.getAttribute("#take", "capture")) === "environment" && !(await page.isVisible("#camera")));
  await page.check("#together");
  await page.waitForFunction(() => document.getElementById("name").textContent === "3 photos of one place", null, { timeout: 300000 });
  await answered(page);
  await settled(page);
  check("all photos of one place are current", (await page.locator("#photos [aria-current=true]").count()) === 3);
  check(`axe with one place: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "together.png") });
  await page.locator("#photos button").first().click();
  check("a photo of the strip is alone again", !(await page.isChecked("#together")));
  // With motion the film runs by itself.
  const moving = await open({ viewport: { width: 1280, height: 800 }, reducedMotion: "no-preference" });
  await moving.setInputFiles("#take", photo);
  await answered(moving);
  await moving.click("#play");
  // A slow machine may show step 7 before this sees step 6.
  await moving.waitForFunction(() => Number(document.getElementById("moment").textContent.split(" ")[1]) >= 6, null, { timeout: 300000 });
  await moving.screenshot({ path: join(shots, "film-middle.png") });
  await moving.waitForFunction(() => document.getElementById("moment").textContent === "step 17 of 17", null, { timeout: 300000 });
  check("the film runs to its end; the camera's input locates", true);
  // The keyboard alone.
  const keys = await open({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
  const order = [];
  for (let k = 0; k < 9; k++) {
    await keys.keyboard.press("Tab");
    order.push(await keys.evaluate(() => document.activeElement.id));
  }
  check(`Tab reaches ${order}`, ["theme", "choose", "example", "globe", "in", "out", "flat"].every((id) => order.includes(id)));
  await keys.setInputFiles("#choose", photo);
  await answered(keys);
  await settled(keys);
  await keys.focus("#globe");
  const before = await keys.evaluate(() => document.getElementById("globe").toDataURL());
  await keys.keyboard.press("ArrowLeft");
  await keys.keyboard.press("+");
  await settled(keys);
  check("arrow keys turn the globe", before !== (await keys.evaluate(() => document.getElementById("globe").toDataURL())));
  check(`axe in the dark: ${await violations(keys)}`, (await violations(keys)) === "[]");
  await keys.screenshot({ path: join(shots, "dark.png") });
  const phone = await open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  await phone.setInputFiles("#choose", photo);
  await answered(phone);
  await settled(phone);
  check("a phone has nothing to scroll sideways", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check("a phone offers its camera", await phone.isVisible("#camera"));
  await phone.screenshot({ path: join(shots, "phone.png"), fullPage: true });
  // A trip: several photos at once are a strip in the order of time.
  const file = (name, path) => ({ name, mimeType: "image/jpeg", buffer: readFileSync(path) });
  const trip = [file("IMG_20240512_143000.jpg", photo), file("IMG_20240512_134510.jpg", tagged), file("IMG_20240512_135500.jpg", other),
    file("IMG_20240512_180000.jpg", photo), moved("IMG_20240513_090000.jpg"), { name: "broken.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no photo") }];
  // The tagged photo again, some 330 km further south: degrees of latitude in its EXIF data.
  function moved(name) {
    const buffer = Buffer.from(readFileSync(tagged)), degrees = (number) => Buffer.from([0, 0, 0, number, 0, 0, 0, 1]);
    const at = [degrees(33), degrees(33).swap32()].map((bytes) => buffer.indexOf(bytes)).find((found) => found >= 0);
    buffer.subarray(at, at + 4).forEach((byte, k) => { if (byte) buffer[at + k] = 36; });
    return { name, mimeType: "image/jpeg", buffer };
  }
  // Points of the track that the globe drew last.
  const trackPoints = (page) => page.evaluate(() => Number(document.getElementById("globe").dataset.way ?? 0));
  const journey = await open({ viewport: { width: 1280, height: 800 } });
  await journey.setInputFiles("#choose", trip);
  await answered(journey);
  await settled(journey);
  const strip = await stripTexts(journey);
  check("several photos at once are taken as a trip", await journey.isChecked("#trip"));
  check(`the strip is in the order of time: ${strip.map((words) => words.slice(0, 16))}`,
    strip.length === 6 && ["2024-05-12 13:45", "2024-05-12 13:55", "2024-05-12 14:30", "2024-05-12 18:00", "2024-05-13 09:00", "cannot be read"].every((time, k) => strip[k].startsWith(time)));
  check("a tag and no tag, a place and a radius under each", strip[0].includes("GPS tag") && strip[1].includes("no tag") && strip.slice(0, 4).every((words) => /half within [\d.,]+ k?m/.test(words)));
  const pictures = () => [...document.querySelectorAll("#photos img")].slice(0, 4).every((image) => image.complete && image.naturalWidth > 0 && image.naturalWidth <= 480);
  await journey.waitForFunction(pictures, null, { timeout: 300000 });
  check("the strip has small pictures", await journey.evaluate(pictures));
  check("the track is drawn", (await trackPoints(journey)) > 1);
  check(`axe with a trip: ${await violations(journey)}`, (await violations(journey)) === "[]");
  await journey.screenshot({ path: join(shots, "trip.png") });
  const first = await journey.evaluate(() => document.getElementById("globe").toDataURL());
  await inStrip(journey, 1).click();
  await settled(journey);
  check(`the second says why: ${await journey.textContent("#because")}`, (await journey.textContent("#because")).includes("after IMG_20240512_134510.jpg, which has a GPS tag"));
  await inStrip(journey, 4).click();
  await settled(journey);
  check("another one's answer is on the map", first !== (await journey.evaluate(() => document.getElementById("globe").toDataURL())));
  await journey.keyboard.press("ArrowLeft");
  await settled(journey);
  check("arrow keys walk along the strip", (await journey.textContent("#name")).startsWith("IMG_20240512_180000.jpg")
    && (await journey.evaluate(() => document.activeElement.getAttribute("aria-current"))) === "true");
  await journey.screenshot({ path: join(shots, "trip-fourth.png") });
  for (const [format, begins] of [["geojson", '{"features"'], ["csv", "photo,time"], ["kml", "<?xml"], ["gpx", "<?xml"]]) {
    const [download] = await Promise.all([journey.waitForEvent("download"), journey.click(`[data-format=${format}]`)]);
    check(`the trip as ${format}`, readFileSync(await download.path(), "utf8").startsWith(begins) && download.suggestedFilename() === `trip.${format}`);
  }
  await journey.evaluate(() => { document.getElementById("photos").scrollLeft = 10000; });
  await journey.waitForTimeout(200);
  await inStrip(journey, 5).click();
  await journey.waitForFunction(() => document.getElementById("status").textContent.includes("broken.jpg is not a JPEG"), null, { timeout: 300000 });
  check("a photo that cannot be read says so", true);
  await journey.check("#alone");
  await journey.waitForFunction(() => document.getElementById("words").textContent.includes("nine in ten"), null, { timeout: 300000 });
  await settled(journey);
  await journey.waitForFunction(() => document.querySelectorAll("#photos .item span").length === 0 && Number(document.getElementById("globe").dataset.way ?? 0) === 0, null, { timeout: 300000 });
  check("each for itself again: no track, no captions", (await trackPoints(journey)) === 0 && (await journey.locator("#photos .item span").count()) === 0);
  // Tagged copies: the photos within a minute of the tag are sure, one a year later is not, the tagged one keeps its own.
  const copies = await open({ viewport: { width: 1280, height: 800 } });
  await copies.setInputFiles("#choose", [file("IMG_20240512_134510.jpg", tagged), file("IMG_20240512_134530.jpg", other), file("IMG_20240512_134540.jpg", photo), file("IMG_20250601_120000.jpg", photo)]);
  await answered(copies);
  const [packed] = await Promise.all([copies.waitForEvent("download"), copies.click("[data-format=zip]")]);
  const zip = join(shots, "trip.zip");
  await packed.saveAs(zip);
  const listed = execFileSync("python3", ["-c", "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print('\\n'.join(n for n in z.namelist() if b'LocDiff estimate' in z.read(n)))", zip], { encoding: "utf8" }).trim().split("\n");
  check(`tagged copies: ${listed} (${await copies.textContent("#status")})`, String(listed) === "IMG_20240512_134530.jpg,IMG_20240512_134540.jpg");
  const pocket = await open({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true, colorScheme: "dark" });
  await pocket.setInputFiles("#choose", trip);
  await answered(pocket);
  await settled(pocket);
  check("a trip on a phone has nothing to scroll sideways", await pocket.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  check(`axe with a trip in the dark: ${await violations(pocket)}`, (await violations(pocket)) === "[]");
  await pocket.screenshot({ path: join(shots, "trip-phone.png"), fullPage: true });
  // The example, and a photo that the browser cannot show: the server makes its picture.
  const guest = await open({ viewport: { width: 1280, height: 800 } });
  await guest.focus("#example");
  await guest.keyboard.press("Enter");
  await answered(guest);
  check("the example is answered", (await guest.textContent("#name")) === "example.jpg" && await guest.isHidden("#example"));
  await guest.evaluate(() => { globalThis.createImageBitmap = () => Promise.reject(new Error("unknown format")); });
  const asked = guest.waitForResponse((response) => response.url().includes("/v1/preview"));
  await guest.setInputFiles("#choose", [{ name: "IMG_1.HEIC", mimeType: "image/heic", buffer: readFileSync(photo) }]);
  const small = await asked;
  check(`a preview by the server: ${small.headers()["content-type"]}`, small.status() === 200 && small.headers()["content-type"] === "image/jpeg");
  await answered(guest);
  await guest.waitForFunction(() => [...document.querySelectorAll("#photos img")].every((image) => image.naturalWidth > 0));
  await guest.click("#remove");
  await answered(guest);
  check("a photo is removed", (await guest.locator("#photos .item").count()) === 1 && (await guest.textContent("#name")) === "example.jpg");
  await guest.click("#clear");
  check("all are cleared", await guest.isHidden("#answer") && await guest.isHidden("#photos") && await guest.isVisible("#example"));
  check("focus is not lost", (await guest.evaluate(() => document.activeElement.id)) === "choose");
  // Names on the map thin out with zoom.
  const names = async () => { await settled(guest); return guest.evaluate(() => Number(document.getElementById("globe").dataset.names)); };
  const far = await names();
  await guest.focus("#globe");
  for (let k = 0; k < 9; k++) await guest.keyboard.press("+");
  const near = await names();
  check(`names on the map: ${far} from far, ${near} from near`, far > 3 && far < 120 && near > 3);
  const shores = await guest.waitForFunction(() => Number(document.getElementById("globe").dataset.shores) > 0, null, { timeout: 300000 }).then(() => guest.getAttribute("#globe", "data-shores"), () => "0");
  check(`finer shores from near: ${shores} outlines`, Number(shores) > 0);
  await guest.screenshot({ path: join(shots, "labels.png") });
  // 120 photos in parts, stopped and taken up again.
  const crowd = await open({ viewport: { width: 1280, height: 800 } });
  let sent = 0, most = 0, open_ = 0;
  crowd.on("request", (request) => { if (request.url().includes("/v1/embed")) { sent++; most = Math.max(most, ++open_); } });
  for (const kind of ["requestfinished", "requestfailed"]) crowd.on(kind, (request) => { if (request.url().includes("/v1/embed")) open_--; });
  const hundred = Array.from({ length: 120 }, (_, k) => file(`IMG_20240512_${String(100000 + 100 * k).padStart(6, "0")}.jpg`, k % 40 === 0 ? tagged : k % 2 ? photo : other));
  await crowd.setInputFiles("#choose", hundred);
  await crowd.waitForFunction(() => !document.getElementById("answer").hidden, null, { timeout: 300000 });
  check(`an answer before all are read: ${await crowd.textContent("#working")}`, !(await crowd.isHidden("#work")));
  check(`axe while photos are sent: ${await violations(crowd)}`, (await violations(crowd)) === "[]");
  await crowd.screenshot({ path: join(shots, "sending.png") });
  await crowd.click("#cancel");
  await crowd.waitForFunction(() => document.getElementById("status").textContent.startsWith("Stopped after"), null, { timeout: 300000 });
  check(`it stops: ${await crowd.textContent("#status")}`, true);
  const before120 = sent;
  await crowd.check("#alone");
  await crowd.click("#cancel");
  await crowd.check("#trip");
  await answered(crowd);
  await settled(crowd);
  check(`120 photos, ${before120} of them sent before the stop, ${sent} requests, ${most} at once`, sent <= 124 && most <= 3 && (await stripTexts(crowd)).filter((words) => /half within /.test(words)).length === 120);
  await crowd.screenshot({ path: join(shots, "trip-120.png") });
  // 2,000 photos: the server's part is played here, for the page's own speed.
  const many = await open({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
  await many.route("**/v1/embed*", (route) => route.fulfill({ json: { embedding: [0], time: null, offset: null, camera: null, gps: null } }));
  await many.route("**/v1/album/embeddings*", (route) => {
    const rows = route.request().postDataJSON().photos;
    const said = rows.map(({ name }, k) => {
      const best = { lat: 42 + 8 * Math.sin(k / 300) + 0.4 * Math.sin(k), lon: 10 + 25 * Math.cos(k / 400) + 0.4 * Math.cos(k * 1.7) };
      return { photo: name, best, headline: `place ${k}`, place: `place ${k}`, countries: [], radius_50_km: 2, radius_90_km: 9, can_tell: k % 8 !== 3, because: "it says so", alternatives: [], probability: 0.9, moved_km: 0,
        gps: k % 10 ? null : best, time: { seconds: 1.7e9 + 60 * k, text: new Date(1.7e12 + 60000 * k).toISOString().slice(0, 19), utc: null } };
    });
    route.fulfill({ json: { photos: said, clocks: [], track: { type: "FeatureCollection", features: [] } } });
  });
  const bytes2000 = readFileSync(other).toString("base64");
  await many.evaluate((bytes) => {
    const data = new DataTransfer(), raw = Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0));
    for (let k = 0; k < 2000; k++) data.items.add(new File([raw], `p${k}.jpg`, { type: "image/jpeg" }));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, bytes2000);
  await many.waitForFunction(() => !document.getElementById("answer").hidden && document.getElementById("work").hidden, null, { timeout: 300000 });
  await settled(many);
  check(`2,000 photos, ${await many.locator("#photos .item").count()} items in the strip`, (await many.locator("#photos .item").count()) < 20);
  const rate = (page, act) => page.evaluate((act) => new Promise((done) => {
    const begin = performance.now(), globe = document.getElementById("globe"), strip = document.getElementById("photos"), box = globe.getBoundingClientRect();
    const pointer = (kind, x) => globe.dispatchEvent(new PointerEvent(kind, { pointerId: 1, clientX: box.x + x, clientY: box.y + 300, bubbles: true }));
    globe.setPointerCapture = () => {};
    if (act === "globe") pointer("pointerdown", 300);
    let frames = 0;
    const step = () => {
      if (act === "globe") pointer("pointermove", 300 + 120 * Math.sin(frames / 15)); else strip.scrollLeft = frames * 137;
      frames++;
      if (performance.now() - begin < 3000) requestAnimationFrame(step);
      else { if (act === "globe") pointer("pointerup", 300); done(frames / 3); }
    };
    requestAnimationFrame(step);
  }), act);
  // Told, not judged: the machine may be busy.
  const [turned, scrolled] = [await rate(many, "globe"), await rate(many, "strip")];
  console.log(`     the globe with 2,000 pins turns at ${turned.toFixed(0)} frames a second, the strip scrolls at ${scrolled.toFixed(0)}`);
  await many.evaluate(() => { document.getElementById("photos").scrollLeft = 0; });
  await settled(many);
  check(`axe with 2,000 photos: ${await violations(many)}`, (await violations(many)) === "[]");
  await inStrip(many, 3).click();
  await settled(many);
  check(`a guess of a trip is called one: ${await many.textContent("#place")}`, (await many.textContent("#place")).startsWith("I can’t tell where this was taken: place"));
  await inStrip(many, 3).focus();
  await many.keyboard.press("End");
  await settled(many);
  check("End is the last photo", (await many.textContent("#name")).startsWith("p1999.jpg") && (await many.evaluate(() => document.activeElement.getAttribute("aria-current"))) === "true");
  await many.screenshot({ path: join(shots, "trip-2000.png") });
  // A pin is chosen by the pointer.
  const seen = await many.textContent("#name");
  const globeBox = await many.locator("#globe").boundingBox();
  for (let k = 0; k < 40 && (await many.textContent("#name")) === seen; k++) await many.mouse.click(globeBox.x + globeBox.width * (0.3 + 0.01 * k), globeBox.y + globeBox.height / 2);
  check("a pin is chosen by the pointer", (await many.textContent("#name")) !== seen);
  // Text in a photo: boxes on it and a list of lines; one that is switched off stays in both, and the answer follows.
  const signs = await open({ viewport: { width: 1280, height: 800 } });
  const drawnSign = await signs.evaluate(() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1200, height: 800 }), context = canvas.getContext("2d");
    context.fillStyle = "#e9e4d8";
    context.fillRect(0, 0, 1200, 800);
    context.fillStyle = "#1c2a4a";
    context.font = "bold 96px sans-serif";
    context.fillText("LEUKERBAD", 120, 260);
    context.font = "72px sans-serif";
    context.fillText("Fermé le lundi", 160, 560);
    return canvas.toDataURL("image/png").split(",")[1];
  });
  const sign = Buffer.from(drawnSign, "base64"), lineTexts = (page) => page.locator("#lines button").allTextContents();
  await signs.setInputFiles("#choose", [{ name: "sign.png", mimeType: "image/png", buffer: sign }]);
  await answered(signs);
  await settled(signs);
  const readLines = await lineTexts(signs), pressed = (k) => signs.locator("#lines button").nth(k).getAttribute("aria-pressed");
  check(`lines that were read: ${readLines}`, readLines.length >= 1 && readLines.every((words) => /^reads ".+": .+, [+−][\d.]+ nats/.test(words)) && readLines.some((words) => words.includes("LEUKERBAD")));
  // The box of the name, in pixels of the photo.
  const corner = await signs.evaluate(() => {
    const box = [...document.querySelectorAll("#boxes polygon")].find((one) => one.textContent.includes("LEUKERBAD"))?.getBBox(), [own, frame] = ["boxes", "picture"].map((id) => document.getElementById(id).getBoundingClientRect());
    return box && { x: box.x, y: box.y, width: box.width, height: box.height, isOver: Math.abs(own.x - frame.x) < 1 && Math.abs(own.width - frame.width) < 1 && Math.abs(own.height - frame.height) < 1 };
  });
  check(`a box for each line, over its letters: ${JSON.stringify(corner)}`, (await signs.locator("#boxes polygon").count()) === readLines.length && corner?.isOver && corner.x > 60 && corner.x < 150 && corner.y > 120 && corner.y < 200 && corner.y + corner.height > 250 && corner.y + corner.height < 330);
  check(`axe with text lines: ${await violations(signs)}`, (await violations(signs)) === "[]");
  await signs.screenshot({ path: join(shots, "text.png") });
  const said = async () => `${await signs.textContent("#place")} ${await signs.textContent("#words")}`, withText = await said();
  // All that was asked of the photo since.
  const asks = [];
  signs.on("request", (request) => { if (request.url().includes("/v1/locate")) asks.push(new URL(request.url()).searchParams); });
  // A line that said nothing beside others may tell alone: then it appears.
  for (let k; (k = await signs.locator("#lines button").evaluateAll((all) => all.findIndex((one) => one.getAttribute("aria-pressed") === "true"))) >= 0;) {
    await signs.locator("#lines button").nth(k).focus();
    await signs.keyboard.press("Enter");
    await answered(signs);
    check("the focus stays on the line", (await signs.evaluate(() => document.activeElement.dataset.line)) === String(k));
  }
  const allLines = await signs.locator("#lines button").count();
  check(`lines are switched off by the keyboard: ${asks.at(-1)?.getAll("ignore_text")}`, allLines >= readLines.length && asks.at(-1)?.getAll("ignore_text").length === allLines && (await pressed(0)) === "false" && (await signs.locator("#boxes .off").count()) === allLines);
  const withoutText = await said();
  check("the answer follows", withoutText !== withText);
  await signs.screenshot({ path: join(shots, "text-off.png") });
  await signs.locator("#boxes polygon").first().click();
  await answered(signs);
  check("a click on a box switches its line on", (await pressed(0)) === "true" && asks.at(-1).getAll("ignore_text").length === allLines - 1);
  await signs.uncheck("#read");
  await answered(signs);
  check("all text at once", asks.at(-1).get("text") === "false" && (await said()) === withoutText && (await signs.locator("#lines button").count()) === allLines);
  await signs.check("#read");
  await answered(signs);
  // Clues: chips, a wrong one with the server's words, examples.
  await signs.fill("#clue", "drives=left");
  await signs.press("#clue", "Enter");
  await answered(signs);
  check(`a clue is a chip: ${await signs.textContent("#chips")}`, (await signs.textContent("#chips")).includes("drives=left") && asks.at(-1).get("clue") === "drives=left" && (await signs.inputValue("#clue")) === "");
  await signs.fill("#clue", "langauge=Polish");
  await signs.press("#clue", "Enter");
  await signs.waitForFunction(() => document.getElementById("clue-wrong").textContent, null, { timeout: 300000 });
  check(`a wrong clue: ${await signs.textContent("#clue-wrong")}`, (await signs.textContent("#clue-wrong")).includes("did you mean language?") && (await signs.locator("#chips li").count()) === 1 && (await signs.inputValue("#clue")) === "langauge=Polish" && (await signs.getAttribute("#clue", "aria-invalid")) === "true");
  check(`axe with clues: ${await violations(signs)}`, (await violations(signs)) === "[]");
  await signs.locator("#clues").scrollIntoViewIfNeeded();
  await signs.screenshot({ path: join(shots, "clues.png") });
  await signs.click("#clues summary");
  await signs.locator("#kinds button").first().click();
  check(`${await signs.locator("#kinds li").count()} kinds with examples: ${await signs.inputValue("#clue")}`, (await signs.locator("#kinds li").count()) >= 15 && (await signs.inputValue("#clue")) === "language=Polish");
  await signs.press("#clue", "Enter");
  await answered(signs);
  await signs.click("#chips li:first-child button");
  await answered(signs);
  check("a chip is removed, and the focus is in the field", (await signs.locator("#chips li").count()) === 1 && String(asks.at(-1).getAll("clue")) === "language=Polish" && (await signs.evaluate(() => document.activeElement.id)) === "clue");
  // Why here: the rows add up; one page to print.
  await signs.click("#why");
  await signs.waitForFunction(() => !document.getElementById("ledger").hidden, null, { timeout: 300000 });
  await answered(signs);
  const rows = await signs.evaluate(() => [...document.querySelectorAll("#ledger tr")].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent)));
  const nats = rows.map(([, words]) => Number(words.replace("−", "-"))), whole = nats.pop();
  check(`the ledger adds up: ${rows.map(([factor, words]) => `${factor} ${words}`).join("; ")}`, rows[0][0].startsWith("picture") && rows.some(([factor]) => factor.includes("Polish")) && Math.abs(nats.reduce((sum, one) => sum + one, 0) - whole) < 0.01 * rows.length && rows.slice(0, -1).some(([, , other]) => /%\)$/.test(other)));
  check(`axe with the ledger: ${await violations(signs)}`, (await violations(signs)) === "[]");
  await signs.locator("#ledger").scrollIntoViewIfNeeded();
  await signs.screenshot({ path: join(shots, "ledger.png") });
  await signs.evaluate(() => { globalThis.print = () => { globalThis.isPrinted = true; }; });
  await signs.click("#print");
  await signs.waitForFunction(() => globalThis.isPrinted, null, { timeout: 300000 });
  const report = await signs.textContent("#report"), sum256 = createHash("sha256").update(sign).digest("hex");
  check("the report has checksum, version and command", report.includes(sum256) && /version \d/.test(report) && report.includes("--clue 'language=Polish'") && (await signs.locator("#report img").count()) === 2);
  await signs.emulateMedia({ media: "print" });
  check("nothing else is printed", !(await signs.isVisible("#panel")) && !(await signs.isVisible("main")) && (await signs.isVisible("#report")));
  await signs.screenshot({ path: join(shots, "report.png"), fullPage: true });
  // To print it ends with "afterprint", which empties the report.
  const pdf = await signs.pdf({ path: join(shots, "report.pdf"), format: "A4" }), sheets = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length;
  check(`the report is ${sheets} page`, sheets === 1);
  await signs.emulateMedia({ media: "screen" });
  await signs.evaluate(() => dispatchEvent(new Event("afterprint")));
  check("the page is back afterwards", (await signs.isVisible("#panel")) && (await signs.locator("#report img").count()) === 0);
  // Its text painted over: the copy does not tell it any more.
  await signs.click("#tab-away");
  await signs.waitForFunction(() => document.querySelector("#findings tbody tr"), null, { timeout: 300000 });
  check("text gives it away", (await signs.textContent("#findings")).includes("text in the picture") && !(await signs.isVisible("#clean")));
  await signs.check("#cover");
  const [painted] = await Promise.all([signs.waitForEvent("download"), signs.click("#clean")]);
  await signs.waitForFunction(() => document.querySelectorAll("#findings table").length === 2, null, { timeout: 300000 });
  const unread = await signs.locator("#findings table").last().textContent();
  check(`${painted.suggestedFilename()} has no text: ${unread}`, painted.suggestedFilename() === "sign-clean.jpg" && !unread.includes("text in the picture"));
  await signs.screenshot({ path: join(shots, "expose-covered.png") });
  // Hostile text: it is words and nothing else, and turns nothing around.
  const hostile = await open({ viewport: { width: 1280, height: 800 } });
  const posted = await fetch(`${address}/v1/locate?density=all`, { method: "POST", headers: { "content-type": "image/jpeg" }, body: readFileSync(photo) }), truth = await posted.json();
  await hostile.route("**/v1/locate*", (route) => {
    const corners = [[10, 10], [90, 10], [90, 40], [10, 40]];
    const bad = ["<img src=x onerror=alert(1)>", "\u202egnol\u2066\u0007\n\nlines\u0000", "x".repeat(5000), "a" + "\u0301".repeat(400)];
    const text = bad.map((words) => ({ text: words, confidence: 0.9, corners, evidence: [{ kind: "name", says: `${words} (Nowhere)`, nats: -0.3, countries: ["FR"] }] }));
    route.fulfill({ json: { ...truth, text } });
  });
  await hostile.setInputFiles("#choose", photo);
  await answered(hostile);
  const [shownLines, elements] = await hostile.evaluate(() => [document.getElementById("lines").textContent, document.querySelectorAll("#lines :not(li, button, bdi, small)").length]);
  check(`hostile text is plain: ${shownLines.length} letters`, elements === 0 && shownLines.includes("<img src=x") && !/[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/.test(shownLines) && shownLines.length < 2000);
  check("a line that is as wide as it likes does not widen the page", await hostile.evaluate(() => document.getElementById("panel").scrollWidth <= document.getElementById("panel").clientWidth));
  await hostile.screenshot({ path: join(shots, "text-hostile.png") });
  // What gives a photo away, and a copy without its tags.
  const away = await open({ viewport: { width: 1280, height: 800 } });
  await away.setInputFiles("#choose", tagged);
  await answered(away);
  await away.focus("#tab-where");
  await away.keyboard.press("ArrowRight");
  await away.waitForFunction(() => document.querySelector("#findings tbody tr"), null, { timeout: 300000 });
  const found = () => away.locator("#findings tbody tr").allTextContents();
  check(`the worst comes first: ${(await found())[0]}; ${await away.textContent("#worst")}`, (await found())[0].includes("GPS position") && /to within [\d.,]+ k?m/.test(await away.textContent("#worst")) && (await found()).some((words) => words.includes("the picture itself")));
  check("the other tab is out of sight", !(await away.isVisible("#place")) && (await away.getAttribute("#tab-away", "aria-selected")) === "true");
  check(`axe with what gives it away: ${await violations(away)}`, (await violations(away)) === "[]");
  await away.screenshot({ path: join(shots, "expose.png") });
  const [cleaned] = await Promise.all([away.waitForEvent("download"), away.click("#clean")]);
  await away.waitForFunction(() => document.querySelectorAll("#findings table").length === 2, null, { timeout: 300000 });
  const cleanBytes = readFileSync(await cleaned.path()), leftOver = await away.locator("#findings table").last().textContent();
  check(`${cleaned.suggestedFilename()} has no position: ${leftOver}`, /-clean\.jpg$/.test(cleaned.suggestedFilename()) && cleanBytes.length > 1000 && !leftOver.includes("GPS position") && leftOver.includes("the picture itself"));
  await away.screenshot({ path: join(shots, "expose-clean.png") });
  await away.focus("#tab-away");
  await away.keyboard.press("ArrowLeft");
  check("arrow keys go back to the answer", (await away.isVisible("#place")) && (await away.evaluate(() => document.activeElement.id)) === "tab-where");
  const docs = await open({ viewport: { width: 1000, height: 800 } });
  await docs.goto(`${address}/docs`);
  check(`axe on /docs: ${await violations(docs)}`, (await violations(docs)) === "[]");
  await docs.screenshot({ path: join(shots, "docs.png") });
} catch (error) {
  failures.push(String(error));
} finally {
  await browser.close();
  server.kill("SIGTERM");
}
console.log(failures.length ? `failed:\n${failures.join("\n")}` : "all well");
process.exit(failures.length ? 1 : 0);
