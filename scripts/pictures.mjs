// Pictures of the three pages (serve with a photo's answer, album, review) for the documents.
//     node scripts/pictures.mjs MODULES BINARY PHOTO ALBUM.html FOLDER OUT     (scripts/pictures.sh runs it)
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, binary, photo, album, folder, out] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const programs = [];
// Starts a command that serves, and reads its address off what it says.
function start(words) {
  const program = spawn(binary, words, { stdio: ["ignore", "pipe", "pipe"] });
  programs.push(program);
  return new Promise((found, failed) => {
    let said = "";
    const hear = (text) => { said += text; const address = said.match(/http:\/\/127[\d.:]+\/?(\?token=\w+)?/); if (address) found(address[0]); };
    program.stdout.on("data", hear);
    program.stderr.on("data", hear);
    program.on("exit", () => failed(new Error(said)));
  });
}
async function open(address) {
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1200, height: 760 } });
  const page = await context.newPage();
  await page.goto(address);
  return page;
}
const quiet = (page, milliseconds) => page.waitForTimeout(milliseconds);
try {
  const serve = await open(await start(["serve", "--address", "127.0.0.1:0", "--device", "cpu"]));
  await serve.setInputFiles("#choose", photo);
  await serve.waitForFunction(() => !document.getElementById("answer").hidden && document.getElementById("work").hidden, null, { timeout: 60000 });
  await quiet(serve, 2000);
  await serve.screenshot({ path: join(out, "serve.png") });

  const trip = await open(pathToFileURL(album).href);
  await quiet(trip, 2000);
  await trip.screenshot({ path: join(out, "album.png") });

  const review = await open(await start(["review", folder, "--device", "cpu"]));
  await review.waitForFunction(() => document.querySelectorAll("img").length > 4, null, { timeout: 60000 });
  await quiet(review, 3000);
  await review.screenshot({ path: join(out, "review.png") });
} finally {
  await browser.close();
  for (const program of programs) program.kill();
}
