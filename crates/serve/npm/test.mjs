// The package in Node: node test.mjs PACKAGE PHOTOS [BINARY]     (Node 20: with --experimental-wasm-relaxed-simd)
// Photos are answered, restricted, refused, put into a trip; with `locdiff` as BINARY, answers are compared to its bytes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [home, photos, binary] = process.argv.slice(2).map((path) => resolve(path));
const { open, LocdiffError } = await import(pathToFileURL(join(home, "node.js")));
const locdiff = open();
const { isFused } = await locdiff.about();
const names = readdirSync(photos).filter((name) => /\.(jpe?g|png|webp|gif|bmp|tiff)$/.test(name)).sort();
const photo = (name) => readFileSync(join(photos, name));

const first = names.find((name) => /\.jpe?g$/.test(name));
const alone = await locdiff.locate(photo(first), { name: first });
assert.equal(alone.photo, first);
assert.deepEqual(alone.best, { lat: alone.hypotheses[0].lat, lon: alone.hypotheses[0].lon });
assert.ok(alone.radius_50_km < alone.radius_90_km);
assert.deepEqual(await locdiff.locate(photo(first), { name: first }), alone);
const japan = await locdiff.locate(photo(first), { within: ["Japan"] });
assert.equal(japan.country_code, "JP");
await assert.rejects(locdiff.locate(photo(first), { within: "Atlantis" }), (error) => error instanceof LocdiffError && error.status === 400 && /Atlantis/.test(error.message));
await assert.rejects(locdiff.locate(new Uint8Array([1, 2, 3])), (error) => error.status === 415);
const embedded = await locdiff.embed(photo(first));
assert.equal(embedded.embedding.length, 512);
assert.match(embedded.encoder, /^the bundled encoder/);
const trip = await locdiff.album([{ name: "IMG_20240512_101500.jpg", bytes: photo(first) }, { name: "IMG_20240512_111500.jpg", bytes: photo(names[1]) }]);
assert.equal(trip.photos.length, 2);
console.log(`the package answers, restricts, refuses and places a trip; sums ${isFused ? "round once" : "round twice"}`);

// The command's answers without text, which this build does not read: words are the same, numbers within what other libraries' sines and sums of other order give.
if (binary) {
  const compared = names.slice(0, 100), paths = compared.map((name) => join(photos, name));
  const lines = execFileSync(binary, ["locate", "--json", "--no-text", "--device", "cpu", ...paths], { encoding: "utf8", maxBuffer: 1e9, stdio: ["ignore", "pipe", "ignore"] }).trimEnd().split("\n");
  let equal = 0, rounded = 0, worst = 0, where = "nowhere";
  for (const [k, path] of paths.entries()) {
    const got = await locdiff.locateText(photo(compared[k]), { name: path });
    if (got === lines[k]) equal++;
    if (short(got) === short(lines[k])) rounded++;
    for (const [key, a, b] of differences(JSON.parse(lines[k]), JSON.parse(got))) {
      const apart = typeof a === "number" && typeof b === "number" ? Math.abs(a - b) / Math.max(Math.abs(a), 0.01) : Infinity;
      if (apart > worst) [worst, where] = [apart, `${path} ${key}: ${a} by the command, ${b} here`];
    }
  }
  console.log(`${equal} of ${paths.length} answers are the command's to the byte, ${rounded} to 10 digits; the largest relative difference is ${worst.toExponential(1)} (${where})`);
  assert.ok(worst < (isFused ? 1e-9 : 1e-3), where);
}

// The same with 10 significant digits.
function short(text) { return JSON.stringify(JSON.parse(text), (_, value) => (typeof value === "number" ? Number(value.toPrecision(10)) : value)); }

function* differences(a, b, path = "") {
  if (a && b && typeof a === "object" && typeof b === "object") for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) yield* differences(a[key], b[key], `${path}.${key}`);
  else if (a !== b) yield [path, a, b];
}
