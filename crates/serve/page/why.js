// Why here: what each factor did to the answer, as a table, and all of it as one page to print.
import { hasBoxes, lineWords } from "./reading.js";
import { degrees, percent, plain, signed, text } from "./parts.js";
import { info } from "./server.js";
import { km } from "./trip.js";

// The longer side of the printed photo, in pixels.
const SIDE = 1400;

const heading = (words, scope) => Object.assign(text("th", words), { scope });

function without({ factor, without: other }) {
  if (!other) return factor === "land" ? "part of every answer" : "not known";
  const where = other.moved_km < 1 ? "the same place" : `${plain(other.place)}, ${km(other.moved_km)} away`;
  return `${where} (${plain(other.country)} ${percent(other.probability)})`;
}

// The countries whose probability it changed most, in points of a hundred.
function changes(countries) {
  const most = Object.entries(countries).filter(([, change]) => Math.abs(change) >= 0.005).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, 3);
  return most.map(([code, change]) => `${plain(code)} ${signed(100 * change, 0)} %`).join(", ");
}

export function ledgerTable(rows) {
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody(), foot = table.createTFoot().insertRow();
  table.createCaption().textContent = "What each factor did to the best place";
  head.append(heading("factor", "col"), heading("nats", "col"), heading("the answer without it", "col"));
  for (const row of rows) {
    const name = heading(plain(row.factor), "row"), countries = changes(row.countries);
    if (row.says) name.append(text("bdi", plain(row.says)));
    if (countries) name.append(text("small", countries));
    body.insertRow().append(name, text("td", signed(row.nats, 2), "number"), text("td", without(row)));
  }
  const whole = rows.reduce((sum, row) => sum + row.nats, 0), times = Number(Math.exp(Math.min(whole, 40)).toPrecision(2)).toLocaleString("en");
  foot.append(heading("all together", "row"), text("td", signed(whole, 2), "number"), text("td", `${times} times the Earth’s mean density`));
  return table;
}

// ---- the page to print
async function checksum(file) {
  // Browsers offer it to pages of this machine and over TLS only.
  if (!globalThis.crypto?.subtle) return "not computed: the browser does so over https or on this machine only";
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const quoted = (words) => `'${plain(words, Infinity).replaceAll("'", "'\\''")}'`;

// The command that asks the same of one photo.
function command({ name, within, clues = [], takenAt, ignored, isUnread }) {
  const words = [`locdiff locate --why ${quoted(name)}`];
  if (within) words.push(`--within ${quoted(within)}`);
  for (const clue of clues) words.push(`--clue ${quoted(clue)}`);
  if (takenAt && clues.length) words.push(`--time ${quoted(takenAt)}`);
  if (isUnread) words.push("--no-text");
  else for (const line of ignored ?? []) words.push(`--ignore-text ${quoted(line)}`);
  return words.join(" ");
}

const blobOf = (canvas, type) => new Promise((done) => canvas.toBlob(done, type, 0.9));

// The photo as the page shows it, with the boxes of the lines that were used.
async function drawnPhoto(photo, image, colour) {
  const scale = Math.min(1, SIDE / Math.max(image.naturalWidth, image.naturalHeight, 1));
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.max(1, image.naturalWidth * scale), height: Math.max(1, image.naturalHeight * scale) });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  for (const [style, width] of [["#fff", 7], [colour, 3.5]]) {
    Object.assign(context, { strokeStyle: style, lineWidth: width, lineJoin: "round" });
    for (const { corners } of hasBoxes(photo) ? photo.answer.text ?? [] : []) {
      context.beginPath();
      for (const [x, y] of corners) context.lineTo(x * scale, y * scale);
      context.closePath();
      context.stroke();
    }
  }
  return blobOf(canvas, "image/jpeg");
}

// The map in light colours: it is printed on paper.
function drawnMap(globe) {
  const { classList } = document.documentElement, isDark = classList.contains("dark");
  classList.remove("dark");
  globe.draw();
  const { canvas } = globe, side = Math.min(canvas.width, canvas.height), square = Object.assign(document.createElement("canvas"), { width: side, height: side });
  square.getContext("2d").drawImage(canvas, (canvas.width - side) / 2, (canvas.height - side) / 2, side, side, 0, 0, side, side);
  classList.toggle("dark", isDark);
  globe.redraw();
  return blobOf(square, "image/png");
}

async function picture(blob, words) {
  const image = Object.assign(document.createElement("img"), { alt: words, src: URL.createObjectURL(blob) });
  await image.decode();
  return image;
}

// Fills the page to print; its pictures are let go when it is printed.
export async function fillReport(report, photo, globe, { headline, words }) {
  const { answer } = photo, files = photo.files ?? [photo.file];
  const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
  const [about, sums, ...pictures] = await Promise.all([info().catch(() => null), Promise.all(files.map(checksum)),
    drawnPhoto(photo, document.getElementById("picture"), accent).then((blob) => picture(blob, "The photo with the lines that were read")), drawnMap(globe).then((blob) => picture(blob, "The map with the density"))]);
  const facts = [["best place", `${degrees(answer.best)}, ${answer.place}`], ["radii", `half within ${km(answer.radius_50_km)}, nine in ten within ${km(answer.radius_90_km)}`]];
  for (const line of answer.text ?? []) facts.push(["reads", lineWords(line)]);
  if (answer.gps) facts.push(["GPS tag (not used)", degrees(answer.gps)]);
  for (const [k, file] of files.entries()) facts.push(["file", `${plain(file.name)}, ${file.size.toLocaleString("en")} bytes`], ["SHA-256", sums[k]]);
  facts.push(["LocDiff", about ? `version ${about.version}, model of degree ${about.model.degree}` : "version unknown"]);
  if (about?.encoder) facts.push(["image encoder", about.encoder]);
  if (!photo.files) facts.push(["command", command(photo)]);
  facts.push(["made", new Date().toISOString().replace("T", " ").slice(0, 16) + " UTC"]);
  const list = document.createElement("dl"), row = text("div", "", "pictures");
  list.append(...facts.flatMap(([name, value]) => [text("dt", name), text("dd", value)]));
  row.append(...pictures);
  report.replaceChildren(text("h1", headline), text("p", words), row, ledgerTable(answer.ledger ?? []),
    text("p", "+1 nat (natural logarithm) makes a place 2.7 times more probable. The rows add up to the last line.", "quiet"), list);
  return () => { for (const { src } of pictures) URL.revokeObjectURL(src); report.replaceChildren(); };
}
