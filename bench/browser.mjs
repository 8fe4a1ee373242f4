// Our module beside onnxruntime-web, the same encoder on the same pixels in one Chromium, one thread each, turn by turn.
//     node bench/browser.mjs MODULES SITE ORT ONNX [PHOTO]     (playwright-core; target/site; node_modules/onnxruntime-web/dist; bench/browser_onnx.py's file)
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";

const [modules, site, ort, onnx, photo] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };
const server = createServer((request, response) => {
  const path = new URL(request.url, "http://x").pathname;
  const file = path === "/bench.html" ? null : path.startsWith("/ort/") ? join(ort, basename(path)) : path === "/encoder.onnx" ? onnx : path === "/photo" ? photo : join(site, path);
  if (!file) { response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>"); return; }
  if (!existsSync(file)) { response.writeHead(404).end(); return; }
  response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/bench.html`);
const result = await page.evaluate(async (hasPhoto) => {
  const SIDE = 256, ROUNDS = 30;
  // A picture of 256 × 256 as a BMP, so that nothing is resized and decoding takes no time; the same numbers for the other.
  const pixels = Uint8Array.from({ length: SIDE * SIDE * 3 }, (_, k) => (k * 2654435761 >>> 11) & 255);
  const bmp = new Uint8Array(54 + pixels.length), head = new DataView(bmp.buffer);
  bmp.set([66, 77]);
  for (const [at, value] of [[2, bmp.length], [10, 54], [14, 40], [18, SIDE], [22, -SIDE]]) head.setInt32(at, value, true);
  head.setInt16(26, 1, true);
  head.setInt16(28, 24, true);
  const planes = new Float32Array(pixels.length);
  for (let k = 0; k < SIDE * SIDE; k++) for (let c = 0; c < 3; c++) {
    bmp[54 + 3 * k + 2 - c] = pixels[3 * k + c];
    planes[c * SIDE * SIDE + k] = (pixels[3 * k + c] - 127) / 128;
  }
  const { open } = await import("/locdiff/index.js");
  const locdiff = open();
  const ort = await import("/ort/ort.wasm.min.mjs");
  Object.assign(ort.env.wasm, { numThreads: 1, wasmPaths: "/ort/" });
  const session = await ort.InferenceSession.create("/encoder.onnx", { executionProviders: ["wasm"], graphOptimizationLevel: "all" });
  const input = { pixels: new ort.Tensor("float32", planes, [1, 3, SIDE, SIDE]) };
  const ours = () => locdiff.embed(bmp), theirs = () => session.run(input);
  const timed = async (what) => { const begin = performance.now(); await what(); return performance.now() - begin; };
  const [a, b] = [(await ours()).embedding, (await theirs()).embedding.data];
  let apart = 0;
  for (let k = 0; k < 512; k++) apart = Math.max(apart, Math.abs(a[k] - b[k]));
  for (let k = 0; k < 5; k++) { await ours(); await theirs(); }
  const times = [[], []];
  for (let k = 0; k < ROUNDS; k++) { times[0].push(await timed(ours)); times[1].push(await timed(theirs)); }
  const whole = [];
  if (hasPhoto) {
    const bytes = await (await fetch("/photo")).arrayBuffer();
    for (let k = 0; k < ROUNDS; k++) whole.push(await timed(() => locdiff.locate(bytes)));
  }
  const sorted = (list) => [...list].sort((x, y) => x - y), middle = (list) => sorted(list)[list.length >> 1];
  return { apart, rounds: ROUNDS, ours_ms: middle(times[0]), ours_fastest_ms: sorted(times[0])[0], onnxruntime_web_ms: middle(times[1]), onnxruntime_web_fastest_ms: sorted(times[1])[0], ratio: middle(times[1].map((t, k) => t / times[0][k])), ...(hasPhoto ? { photo_ms: middle(whole), photo_fastest_ms: sorted(whole)[0] } : {}), about: await locdiff.about(), isolated: crossOriginIsolated };
}, Boolean(photo));
console.log(JSON.stringify(result));
await browser.close();
server.close();
