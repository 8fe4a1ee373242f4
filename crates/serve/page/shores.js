// Finer shores where one is near: outlines of states and provinces, fetched for what is in sight and kept.
import { send } from "./backend.js";
import { geoArea } from "./d3-geo.js";

// Degrees of a tile, and the level (a world of 256 pixels, doubled so often) from which on they are looked at.
const TILE = 10, LEVEL = 6.5;

export class Shores {
  constructor(whenLoaded) {
    Object.assign(this, { whenLoaded, tiles: new Map(), outlines: new Map() });
  }

  // What is in sight, or null where that is not fetched yet or is too much; `place` says where on Earth a pixel is.
  seen(level, place, width, height) {
    if (level < LEVEL) return null;
    const wanted = new Set();
    for (let i = 0; i <= 4; i++) for (let j = 0; j <= 4; j++) {
      const at = place([(i / 4) * width, (j / 4) * height]);
      if (!at || Number.isNaN(at[0])) return null;
      wanted.add(`${Math.floor((((at[0] + 540) % 360) - 180) / TILE)},${Math.floor(at[1] / TILE)}`);
    }
    if (wanted.size > 9) return null;
    const found = new Set();
    let isWhole = true;
    for (const key of wanted) {
      const tile = this.tiles.get(key);
      if (!tile) this.fetch(key);
      if (!tile?.ids) { isWhole = false; continue; }
      for (const id of tile.ids) found.add(id);
    }
    return isWhole ? { type: "MultiPolygon", coordinates: [...found].map((id) => this.outlines.get(id)) } : null;
  }

  fetch(key) {
    const tile = {}, [x, y] = key.split(",");
    this.tiles.set(key, tile);
    send(`page/shores.json?west=${x * TILE}&south=${y * TILE}&degrees=${TILE}`).then((response) => response.json()).then((list) => {
      for (const [id, ring] of list) if (!this.outlines.has(id)) {
        const closed = [...ring, ring[0]];
        this.outlines.set(id, [geoArea({ type: "Polygon", coordinates: [closed] }) > 2 * Math.PI ? closed.reverse() : closed]);
      }
      tile.ids = list.map(([id]) => id);
      this.whenLoaded();
    }).catch(() => {});
  }
}
