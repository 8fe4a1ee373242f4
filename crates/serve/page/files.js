// Answers as files to keep: a table, GeoJSON, KML, GPX, and photos with their place as a zip.
import { inTime, when } from "./trip.js";

const cell = (value) => `"${String(value ?? "").replaceAll('"', '""').replace(/^[=+@\t\r-]/, "'$&")}"`;
const xml = (value) => String(value).replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "?");

// What is said of each photo, of the trip or alone.
export function answersOf(photos, isTrip) {
  const list = isTrip ? inTime(photos) : photos;
  return list.map((photo) => ({ photo, said: isTrip ? photo.trip : photo.answer })).filter(({ said }) => said);
}

export function csv(answers) {
  const head = "photo,time,lat,lon,radius_50_km,radius_90_km,headline,place,can_tell,gps,because,outlier,hint";
  const rows = answers.map(({ photo, said }) => [cell(photo.name), cell(said.time ? when(said.time) : ""), said.best.lat, said.best.lon, said.radius_50_km, said.radius_90_km,
    cell(said.headline), cell(said.place), said.can_tell ? 1 : 0, said.gps ? 1 : 0, cell(said.because), cell(said.outlier?.reason), cell(said.hint?.reason)]);
  return [head, ...rows.map((row) => row.join(","))].join("\n") + "\n";
}

// All places that a photo may be from.
export function placesCsv({ photo, said }) {
  const rows = said.hypotheses.map((place, k) => [cell(photo.name), k + 1, place.lat, place.lon, place.probability, cell(place.place)]);
  return ["photo,rank,lat,lon,probability,place", ...rows.map((row) => row.join(","))].join("\n") + "\n";
}

export function geojson(answers) {
  const feature = ({ photo, said }) => ({
    type: "Feature",
    geometry: { type: "Point", coordinates: [said.best.lon, said.best.lat] },
    properties: { photo: photo.name, headline: said.headline, place: said.place, can_tell: said.can_tell, radius_50_km: said.radius_50_km, radius_90_km: said.radius_90_km, restricted_by: said.restricted_by?.join(" or ") },
  });
  return JSON.stringify({ type: "FeatureCollection", features: answers.map(feature) });
}

const words = (said) => `${said.can_tell ? "" : "I can’t tell: "}${said.headline}; 50 % within ${Math.ceil(said.radius_50_km)} km, 90 % within ${Math.ceil(said.radius_90_km)} km${said.restricted_by ? `; restricted by ${said.restricted_by.join(" or ")}` : ""}`;

export function kml(answers, way) {
  const marks = answers.map(({ photo, said }) =>
    `<Placemark><name>${xml(photo.name)}</name><description>${xml(words(said))}</description><Point><coordinates>${said.best.lon},${said.best.lat}</coordinates></Point></Placemark>`);
  const lines = way.map((line) => `<Placemark><name>track</name><LineString><tessellate>1</tessellate><coordinates>${line.map(([lon, lat]) => `${lon},${lat}`).join(" ")}</coordinates></LineString></Placemark>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>LocDiff</name>${lines.join("")}${marks.join("")}</Document></kml>\n`;
}

// Places as waypoints, with a time where it is surely of UTC; guesses are not in it.
export function gpx(answers) {
  const sure = answers.filter(({ said }) => said.can_tell && !said.outlier);
  const points = sure.map(({ photo, said }) => {
    const time = said.time?.utc ? `<time>${xml(said.time.utc)}</time>` : "";
    return `<wpt lat="${said.best.lat}" lon="${said.best.lon}">${time}<name>${xml(photo.name)}</name><desc>${xml(words(said))}</desc></wpt>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="LocDiff" xmlns="http://www.topografix.com/GPX/1/1">${points.join("")}</gpx>\n`;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

function crc(bytes) {
  let sum = 0xffffffff;
  for (let k = 0; k < bytes.length; k++) sum = TABLE[(sum ^ bytes[k]) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

// Files as a zip, stored as they are: photos do not become smaller. Below 4 GB, as the plain format has it.
export class Zip {
  constructor() { Object.assign(this, { parts: [], list: [], at: 0, names: new Set() }); }

  // The name without a folder, told apart from those before it.
  name(name) {
    const plain = name.replace(/[\\/:*?"<>|\u0000-\u001f\u202a-\u202e\u2066-\u2069]/g, "_").replace(/^\.+/, "_") || "photo";
    const [, stem, end] = /^(.*?)(\.[^.]*)?$/s.exec(plain);
    let free = plain;
    for (let k = 2; this.names.has(free.toLowerCase()); k++) free = `${stem}-${k}${end ?? ""}`;
    this.names.add(free.toLowerCase());
    return free;
  }

  add(name, bytes) {
    if (this.at + bytes.length > 0xf0000000) throw new Error("a zip holds 4 GB at the most: tag fewer photos at a time");
    const text = new TextEncoder().encode(this.name(name)), head = new DataView(new ArrayBuffer(30)), sum = crc(bytes);
    const fields = (view, from) => {
      // UTF-8 names, stored, 1 January 1980.
      for (const [k, value, wide] of [[0, 20], [2, 0x800], [4, 0], [6, 0], [8, 0x21], [10, sum, 1], [14, bytes.length, 1], [18, bytes.length, 1], [22, text.length], [24, 0]]) {
        if (wide) view.setUint32(from + k, value, true); else view.setUint16(from + k, value, true);
      }
    };
    head.setUint32(0, 0x04034b50, true);
    fields(head, 4);
    const entry = new DataView(new ArrayBuffer(46));
    entry.setUint32(0, 0x02014b50, true);
    entry.setUint16(4, 20, true);
    fields(entry, 6);
    entry.setUint32(42, this.at, true);
    this.list.push(entry, text);
    this.parts.push(head, text, new Blob([bytes]));
    this.at += 30 + text.length + bytes.length;
  }

  get count() { return this.list.length / 2; }

  blob() {
    const size = this.list.reduce((sum, part) => sum + part.byteLength, 0), end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, this.count, true);
    end.setUint16(10, this.count, true);
    end.setUint32(12, size, true);
    end.setUint32(16, this.at, true);
    return new Blob([...this.parts, ...this.list, end], { type: "application/zip" });
  }
}
