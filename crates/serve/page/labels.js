// Names of countries and towns on the globe: the more one zooms in, the more there are; none covers another.
import { send } from "./backend.js";

export class Labels {
  constructor(whenLoaded) {
    this.list = [];
    send("page/labels.json").then((response) => response.json()).then((list) => { this.list = list; whenLoaded(); }).catch(() => {});
  }

  // `level` is that of a world of 256 pixels, doubled so often; `isSeen` says whether a place is on this side of the Earth.
  draw(context, projection, level, width, height, isSeen, colour) {
    const taken = new Map(), CELL = 64;
    const isFree = (box) => {
      const cells = [];
      for (let x = Math.floor(box[0] / CELL); x <= box[2] / CELL; x++) for (let y = Math.floor(box[1] / CELL); y <= box[3] / CELL; y++) cells.push(x * 4096 + y);
      if (cells.some((cell) => taken.get(cell)?.some((b) => b[0] < box[2] && b[2] > box[0] && b[1] < box[3] && b[3] > box[1]))) return false;
      for (const cell of cells) { if (taken.has(cell)) taken.get(cell).push(box); else taken.set(cell, [box]); }
      return true;
    };
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.strokeStyle = colour("halo");
    context.lineWidth = 3;
    this.drawn = 0;
    for (const label of this.list) {
      const [lon, lat, text, least, isTown] = label;
      if (level < least || !isSeen([lon, lat])) continue;
      const at = projection([lon, lat]);
      if (!at || at[0] < -40 || at[0] > width + 40 || at[1] < -10 || at[1] > height + 10) continue;
      context.font = isTown ? "12px system-ui, sans-serif" : "600 12px system-ui, sans-serif";
      const half = (label[5] ??= context.measureText(text).width / 2) + 3, y = at[1] - (isTown ? 10 : 0);
      if (!isFree([at[0] - half, y - 8, at[0] + half, y + 8])) continue;
      context.fillStyle = colour(isTown ? "soft" : "text");
      context.globalAlpha = isTown ? 1 : 0.75;
      context.strokeText(text, at[0], y);
      context.fillText(text, at[0], y);
      if (isTown) { context.beginPath(); context.arc(at[0], at[1], 1.8, 0, 7); context.fill(); }
      context.globalAlpha = 1;
      this.drawn++;
    }
  }
}
