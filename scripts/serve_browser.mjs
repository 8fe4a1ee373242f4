// The page of `locdiff serve` in a real Chromium: upload, answer, outlines, a country, downloads, keyboard, phone width, axe-core.
//     npm install playwright-core@1.65 axe-core@4 (in a folder); node scripts/serve_browser.mjs FOLDER BINARY PHOTO SHOTS
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, binary, photo, shots] = process.argv.slice(2).map((path) => resolve(path));
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
  page.on("console", (message) => { if (message.type() === "error" && !message.text().includes("400 (Bad Request)")) failures.push(message.text()); });
  page.on("pageerror", (error) => failures.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) failures.push(`left the machine: ${request.url()}`); });
  await page.goto(address);
  return page;
}
const answered = (page) => page.waitForFunction(() => !document.getElementById("answer").hidden && !document.getElementById("status").textContent, null, { timeout: 60000 });
const settled = (page) => page.waitForTimeout(1200);
// axe is run by the test's own hand: the page's policy forbids it to load anything.
async function violations(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", { expression: "axe.run().then((found) => JSON.stringify(found.violations.map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 80))])))", awaitPromise: true, returnByValue: true });
  return result.value;
}
// Pixels of the canvas that are of the outlines' colour.
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
  await page.setInputFiles("#choose", photo);
  await answered(page);
  await settled(page);
  check("an answer in words", (await page.textContent("#words")).includes("nine in ten"));
  check("hypotheses are numbered", (await page.locator("#hypotheses li").count()) >= 1);
  check("outlines are drawn", (await outlined(page)) > 200);
  check(`axe with an answer: ${await violations(page)}`, (await violations(page)) === "[]");
  await page.screenshot({ path: join(shots, "answer.png") });
  await page.click("#flat");
  await settled(page);
  await page.screenshot({ path: join(shots, "flat.png") });
  await page.click("#flat");
  await page.fill("#within", "Japan");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("place").textContent.includes("Japan"), null, { timeout: 60000 });
  await settled(page);
  check("restricted to Japan", true);
  await page.screenshot({ path: join(shots, "japan.png") });
  await page.fill("#within", "Atlantis");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("status").textContent.includes("Atlantis"));
  check("an unknown region is said", true);
  await page.fill("#within", "Fiji");
  await page.press("#within", "Enter");
  await page.waitForFunction(() => document.getElementById("place").textContent.includes("Fiji"), null, { timeout: 60000 });
  await settled(page);
  await page.screenshot({ path: join(shots, "fiji.png") });
  for (const format of ["geojson", "kml", "csv", "png"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[data-format=${format}]`)]);
    const bytes = readFileSync(await download.path());
    const begins = { geojson: "{", kml: "<?xml", csv: "photo,rank", png: "\u0089PNG" }[format];
    check(`${format} is downloaded`, bytes.toString("latin1").startsWith(begins));
  }
  // The keyboard alone.
  const keys = await open({ viewport: { width: 1280, height: 800 }, colorScheme: "dark" });
  const order = [];
  for (let k = 0; k < 9; k++) {
    await keys.keyboard.press("Tab");
    order.push(await keys.evaluate(() => document.activeElement.id));
  }
  check(`Tab reaches ${order}`, ["theme", "choose", "globe", "in", "out", "flat"].every((id) => order.includes(id)));
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
  await phone.screenshot({ path: join(shots, "phone.png"), fullPage: true });
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
