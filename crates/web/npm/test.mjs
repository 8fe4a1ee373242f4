// The package in Node: node --experimental-wasm-relaxed-simd test.mjs PACKAGE PHOTOS [BINARY]
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
assert.equal((await locdiff.embed(photo(first))).embedding.length, 512);
const trip = await locdiff.album([{ name: "IMG_20240512_101500.jpg", bytes: photo(first) }, { name: "IMG_20240512_111500.jpg", bytes: photo(names[1]) }]);
assert.equal(trip.photos.length, 2);
console.log(`the package answers, restricts, refuses and places a trip; sums ${isFused ? "round once" : "round twice"}`);

if (binary) {
  let equal = 0, worst = 0, where = "";
  for (const name of names.slice(0, 100)) {
    const expected = execFileSync(binary, ["locate", "--json", "--device", "cpu", join(photos, name)], { encoding: "utf8" }).trimEnd();
    const got = await locdiff.locateText(photo(name), { name: join(photos, name) });
    if (got === expected) { equal++; continue; }
    for (const [path, a, b] of differences(JSON.parse(expected), JSON.parse(got))) {
      const apart = typeof a === "number" && typeof b === "number" ? Math.abs(a - b) / Math.max(Math.abs(a), 1e-300) : Infinity;
      if (apart > worst) [worst, where] = [apart, `${name} ${path}: ${a} here ${b}`];
    }
  }
  console.log(`${equal} of ${Math.min(names.length, 100)} answers are equal to the byte; the largest relative difference is ${worst} (${where})`);
}

function* differences(a, b, path = "") {
  if (a && b && typeof a === "object" && typeof b === "object") for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) yield* differences(a[key], b[key], `${path}.${key}`);
  else if (a !== b) yield [path, a, b];
}
