// The page of `locdiff album --map` in a real Chromium: photos on the map, tagged and untagged told apart, guesses, clusters, the slider,
// the list; the same page with 2,000 photos.
//     node scripts/album_browser.mjs MODULES BINARY PHOTO OTHER_PHOTO TAGGED_PHOTO SHOTS     (scripts/serve_browser runs it)
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, binary, photo, other, tagged, shots] = process.argv.slice(2).map((path) => resolve(path));
const load = createRequire(join(modules, "package.json"));
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");
const folder = join(shots, "album");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const HOSTILE = "<img src=x onerror=alert(1)> 20240513_090000.jpg";
for (const [name, path] of [["IMG_20240512_134510.jpg", tagged], ["IMG_20240512_135510.jpg", photo], ["IMG_20240512_143000.jpg", other],
  ["IMG_20240512_180000.jpg", photo], [HOSTILE, photo]]) copyFileSync(path, join(folder, name));
const page = (name) => join(shots, name);
const album = (...more) => execFileSync(binary, ["album", folder, "--device", "cpu", "--quiet", "--force", ...more], { encoding: "utf8" });
album("--map", page("album.html"));
album("--map", page("album-plain.html"), "--no-pictures");

// The same with 2,000 photos along a way through Europe, of which one in ten has a tag and one in eight is a guess.
const text = readFileSync(page("album.html"), "utf8");
const [, data] = /id="data">(.*?)<\/script>/s.exec(text), [, pictures] = /id="pictures">(.*?)<\/script>/s.exec(text);
const all = JSON.parse(data), few = all.track, COUNT = 2000;
let seed = 1;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
const stops = [[2.35, 48.86], [8.54, 47.37], [12.5, 41.9], [15.98, 45.81], [23.73, 37.98], [-9.14, 38.72]];
all.track = Array.from({ length: COUNT }, (_, k) => {
  const [lon, lat] = stops[Math.floor((k * stops.length) / COUNT)], wide = random() < 0.2 ? 3 : 0.15;
  const time = new Date(Date.UTC(2024, 4, 1) + k * 900000).toISOString().slice(0, 19);
  const isTagged = k % 10 === 0, tell = isTagged || k % 8 !== 3;
  return { ...few[k % few.length], name: `IMG_${k}.jpg`, time, lon: lon + wide * (random() - 0.5), lat: lat + wide * (random() - 0.5), tagged: isTagged, tell,
    r50: isTagged ? 0.1 : 2, r90: isTagged ? 0.3 : tell ? 9 : 2000, outlier: k === 77 ? "it is far from the others" : null };
});
const cut = (from, n) => pictures.slice(from, from + n);
let at = 0;
const parts = few.map(({ picture }) => cut((at += picture) - picture, picture));
const many = text.replace(data, () => JSON.stringify(all).replaceAll("<", "\\u003c"))
  .replace(pictures, () => all.track.map((_, k) => parts[k % parts.length]).join(""));
writeFileSync(page("album-2000.html"), many);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const failures = [];
const check = (what, holds) => { console.log(`${holds ? "ok  " : "FAIL"} ${what}`); if (!holds) failures.push(what); };
async function open(name, options) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 800 }, ...options });
  const one = await context.newPage();
  one.on("console", (message) => { if (message.type() === "error") failures.push(message.text()); });
  one.on("pageerror", (error) => failures.push(String(error)));
  one.on("dialog", () => failures.push("a script of a name ran"));
  one.on("request", (request) => { if (!/^(file|data|blob):/.test(request.url())) failures.push(`left the machine: ${request.url()}`); });
  await one.goto(pathToFileURL(page(name)).href);
  await one.waitForTimeout(700);
  return one;
}
async function violations(one) {
  const session = await one.context().newCDPSession(one);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 80))])))", awaitPromise: true, returnByValue: true });
  return result.value;
}
const shot = (one, name) => one.screenshot({ path: page(name) });
const canvas = (one) => one.evaluate(() => document.getElementById("map").toDataURL());

try {
  const small = await open("album.html");
  const rows = await small.locator(".crowd-list li").allTextContents();
  check(`a row for each photo: ${rows.length}`, rows.length === 5 && rows[0].includes("GPS"));
  check("rows have pictures", await small.evaluate(() => [...document.querySelectorAll(".crowd-list img")].filter((image) => image.naturalWidth > 0).length === 5));
  check(`the legend tells them apart: ${await small.textContent("#legend")}`, /With a GPS tag: 1/.test(await small.textContent("#legend")));
  check(`axe: ${await violations(small)}`, (await violations(small)) === "[]");
  await shot(small, "album.png");
  const plain = await open("album-plain.html");
  check("without pictures there are none", (await plain.locator("img").count()) === 0 && statSync(page("album-plain.html")).size < statSync(page("album.html")).size);
  await shot(plain, "album-plain.png");

  const begin = Date.now();
  const large = await open("album-2000.html", { colorScheme: "dark" });
  console.log(`     2,000 photos are open after ${Date.now() - begin} ms, ${(statSync(page("album-2000.html")).size / 1e6).toFixed(1)} MB`);
  check(`the head counts: ${await large.textContent(".crowd-head")}`, (await large.textContent(".crowd-head")) === "2,000 photos");
  const made = await large.locator(".crowd-list li").count();
  check(`only rows in sight exist: ${made}`, made > 5 && made < 60);
  check(`axe with 2,000: ${await violations(large)}`, (await violations(large)) === "[]");
  await shot(large, "album-2000.png");
  // The keyboard: the list's rows, then the slider.
  await large.focus(".crowd-list li button");
  await large.keyboard.press("End");
  await large.waitForTimeout(400);
  check("End is the last photo", (await large.textContent(".crowd-name")).startsWith("IMG_1999.jpg")
    && (await large.evaluate(() => document.activeElement.getAttribute("aria-current"))) === "true");
  await large.keyboard.press("ArrowUp");
  await large.waitForTimeout(400);
  check("the row above is the photo before", (await large.textContent(".crowd-name")).startsWith("IMG_1998.jpg"));
  await large.focus("#frame");
  const before = await canvas(large);
  await large.keyboard.press("Home");
  await large.waitForTimeout(600);
  check(`the slider's first: ${await large.textContent("#frame-label")}`, (await large.textContent("#frame-label")) === "2024-05-01 00:00:00" && (await canvas(large)) !== before);
  for (let k = 0; k < 3; k++) await large.keyboard.press("ArrowRight");
  await large.waitForTimeout(400);
  check(`a guess is called one: ${await large.textContent(".summary")}`, (await large.textContent(".summary")).startsWith("I can’t tell:"));
  await shot(large, "album-2000-guess.png");
  await large.selectOption("select", "guess");
  await large.waitForTimeout(300);
  const guesses = all.track.filter((one) => !one.tell).length;
  check(`only guesses: ${await large.textContent(".crowd-head")}`, (await large.textContent(".crowd-head")) === `${guesses} of 2,000 photos`);
  await large.selectOption("select", "");
  // A tap on a cluster lists what lies there and zooms in.
  await large.click("#fit");
  await large.waitForTimeout(600);
  const narrow = all.track.findIndex(({ lon, lat }, k) => k && Math.hypot(lon - stops[0][0], lat - stops[0][1]) < 0.08);
  await large.locator(`.crowd-list [data-k="${narrow}"]`).click();
  await large.waitForTimeout(400);
  const box = await large.locator("#map").boundingBox();
  await large.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const tapped = await large.textContent(".crowd-head");
  await large.waitForTimeout(600);
  check(`a cluster opens: ${tapped}`, tapped.endsWith("here"));
  await shot(large, "album-2000-cluster.png");
  await large.click(".crowd-here");
  check("all photos again", (await large.textContent(".crowd-head")) === "2,000 photos");
  // Frames while the map moves: told, not judged, for the machine may be busy.
  await large.click("#fit");
  await large.waitForTimeout(600);
  const rate = await large.evaluate(() => new Promise((done) => {
    const map = document.getElementById("map"), begin = performance.now();
    let frames = 0;
    const step = () => {
      map.dispatchEvent(new KeyboardEvent("keydown", { key: frames % 40 < 20 ? "ArrowLeft" : "ArrowRight" }));
      frames++;
      if (performance.now() - begin < 3000) requestAnimationFrame(step); else done(frames / 3);
    };
    requestAnimationFrame(step);
  }));
  console.log(`     the map with 2,000 photos moves at ${rate.toFixed(0)} frames a second`);
  const phone = await open("album-2000.html", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  check("a phone has nothing to scroll sideways", await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await shot(phone, "album-phone.png");
  await phone.evaluate(() => { document.getElementById("panel").scrollTop = 40000; });
  await phone.waitForTimeout(400);
  check("the list on a phone goes on", (await phone.locator(".crowd-list li").first().textContent()).match(/IMG_(\d+)/)[1] > 300);
  await shot(phone, "album-phone-list.png");
} catch (error) {
  failures.push(String(error));
} finally {
  await browser.close();
}
console.log(failures.length ? `failed:\n${failures.join("\n")}` : "all well");
process.exit(failures.length ? 1 : 0);
