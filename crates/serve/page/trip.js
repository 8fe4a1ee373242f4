// A trip: its photos in the order of time, and what the album says of each.
import { preview } from "./server.js";

const THUMBNAIL = 240;

// "12 km", "3.1 km", "400 m".
export function km(value) {
  if (value < 0.95) return `${Math.max(10, Math.round(value * 100) * 10)} m`;
  if (value < 10) return `${value.toFixed(1)} km`;
  const step = value >= 1000 ? 100 : value >= 100 ? 10 : 1;
  return `${(Math.round(value / step) * step).toLocaleString("en")} km`;
}

// When a photo was taken; a clock without an offset is shown as it stands.
export function when({ text, utc }) {
  if (!text) return "time unknown";
  const words = text.replace("T", " ").slice(0, 16);
  return utc ? `${words} UTC` : words;
}

export function inTime(photos) {
  const seconds = (photo) => photo.trip?.time.seconds ?? Infinity;
  return [...photos].sort((a, b) => seconds(a) - seconds(b) || 0);
}

// The lines under a thumbnail.
export function caption(photo) {
  const line = (words, name) => Object.assign(document.createElement("span"), { textContent: words, className: name });
  if (photo.tripError) return [line("cannot be read", "wrong")];
  const said = photo.trip;
  if (!said) return [];
  const lines = [
    line(when(said.time), "when"),
    line(said.gps ? "GPS tag" : "no tag", said.gps ? "tag" : "quiet"),
    ...(said.can_tell ? [] : [line("can’t tell:", "wrong")]),
    line(said.headline, "where"),
    line(`half within ${km(said.radius_50_km)}`, "quiet"),
  ];
  if (said.outlier || said.hint) lines.push(line(said.outlier ? "does not fit" : "may not fit", "wrong"));
  return lines;
}

// A small picture of a photo, so that a strip of large photos takes little memory; the server makes it where the browser cannot.
export async function thumbnail(photo) {
  try {
    const bitmap = await createImageBitmap(photo.file, { resizeWidth: THUMBNAIL, resizeQuality: "medium" });
    const canvas = Object.assign(document.createElement("canvas"), { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    const blob = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.8));
    return URL.createObjectURL(blob ?? photo.file);
  } catch {
    photo.isForeign = true;
    return preview(photo).catch(() => "");
  }
}

// What is told of the clocks that were set.
export function clocks(wrong) {
  return wrong.map(({ camera, ahead_h: hours, photos }) =>
    `The clock of ${camera || "one camera"} is ${Math.abs(hours)} hours ${hours > 0 ? "ahead" : "behind"}: its ${photos} photos were shifted.`).join(" ");
}
