// What gives a photo away: a table from the worst to the least, and a copy without location tags, measured again.
import { plain, text } from "./parts.js";
import { hasBoxes } from "./reading.js";
import { clean, embed, expose } from "./server.js";
import { km } from "./trip.js";

const KINDS = { gps: "GPS position", "place-name": "name of a place", "time-zone": "time zone", hidden: "data that cannot be read", text: "text in the picture",
  gallery: "a reference photo", picture: "the picture itself", part: "a part of the picture" };

const heading = (words, scope) => Object.assign(text("th", words), { scope });

function findingsTable(findings, words) {
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  table.createCaption().textContent = words;
  head.append(heading("to within", "col"), heading("what", "col"), heading("says", "col"));
  for (const { kind, found_in: part, says, radius_km: radius } of findings) {
    const what = heading(KINDS[kind] ?? plain(kind), "row"), said = text("td", "");
    if (["gps", "place-name", "time-zone", "hidden", "gallery"].includes(kind)) what.append(text("small", plain(part)));
    said.append(text("bdi", plain(says)));
    body.insertRow().append(text("td", radius === null ? "unknown" : km(radius), "number"), what, said);
  }
  return table;
}

export const worst = (findings) => {
  const radius = findings[0]?.radius_km ?? null;
  return radius === null ? "LocDiff found nothing that gives the location away." : `The location can be found to within ${km(radius)}.`;
};

// Tags are what a copy can do without; the picture stays.
const isTag = ({ kind }) => ["gps", "place-name", "time-zone", "hidden"].includes(kind);

const canCover = (photo) => Boolean(photo.lines?.length) && hasBoxes(photo);

// The photo with all text painted over, as a new JPEG, which has no tags at all. Lines that say nothing beside others may tell alone.
async function covered(photo, signal) {
  const { file } = photo, { text: lines } = await embed(photo, signal);
  const bitmap = await createImageBitmap(file), canvas = new OffscreenCanvas(bitmap.width, bitmap.height), context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  Object.assign(context, { fillStyle: "#808080", strokeStyle: "#808080", lineJoin: "round" });
  for (const [, , corners] of lines) {
    // Wider than the box by a tenth of the letters' height on each side.
    context.lineWidth = 0.2 * Math.hypot(corners[3][0] - corners[0][0], corners[3][1] - corners[0][1]);
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.closePath();
    context.fill();
    context.stroke();
  }
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.95 });
}

export class Exposure {
  // `download` hands a file to the user; `failed` is told of errors.
  constructor(download, failed) {
    const $ = (id) => document.getElementById(id);
    Object.assign(this, { download, failed, photo: null, words: $("worst"), tables: $("findings"), button: $("clean"), cover: $("cover") });
    this.button.addEventListener("click", () => this.clean());
    this.cover.addEventListener("change", () => { if (this.photo) this.fill(); });
  }

  // Asks once for a photo, when its tab is seen; null for none.
  show(photo) {
    const isNew = photo !== this.photo;
    this.photo = photo;
    if (isNew) this.stop?.abort();
    if (!photo) return;
    this.fill();
    if (isNew && !photo.findings) this.work(photo, "Looking for what gives the location away …", async (signal) => { photo.findings = await expose(photo, signal); });
  }

  async work(photo, words, task) {
    this.stop?.abort();
    const { signal } = this.stop = new AbortController();
    this.words.textContent = words;
    this.button.disabled = true;
    try {
      await task(signal);
    } catch (error) {
      if (signal.aborted) return;
      this.failed(error);
      // The next look at it asks again.
      this.photo = null;
      this.words.textContent = error.message;
      return;
    } finally {
      if (this.stop.signal === signal) this.button.disabled = false;
    }
    if (this.photo === photo) this.fill();
  }

  fill() {
    const { findings, cleanFindings: after } = this.photo;
    if (findings) this.words.textContent = worst(findings);
    this.tables.replaceChildren(...(findings?.length ? [findingsTable(findings, after ? "Before" : "From worst to least")] : []),
      ...(after ? [text("p", `The copy: ${worst(after)}`), ...(after.length ? [findingsTable(after, "After: the copy without location tags")] : [])] : []));
    this.cover.parentElement.hidden = !findings || !canCover(this.photo);
    this.button.hidden = !findings?.some(isTag) && !this.isCovering(this.photo);
  }

  isCovering(photo) { return this.cover.checked && canCover(photo); }

  async clean() {
    const { photo } = this;
    if (!photo) return;
    const isCovering = this.isCovering(photo), name = photo.name.replace(/(\.[^.]*)?$/, isCovering ? "-clean.jpg" : "-clean$1");
    await this.work(photo, "Writing a copy without location tags …", async (signal) => {
      const blob = isCovering ? await covered(photo, signal) : await clean(photo, signal);
      photo.cleanFindings = await expose({ file: new File([blob], name, { type: isCovering ? "image/jpeg" : photo.file.type }), name }, signal);
      this.download(blob, name);
    });
  }
}
