// Finer shores where one is near: outlines of states and provinces; closer still, land and borders of 1:10 million. They are fetched for what is in
// sight, and kept.
import { send } from "./backend.js";
import { geoArea } from "./d3-geo.js";

// Degrees of a tile, and the level (a world of 256 pixels, doubled so often) from which on they are looked at. Tiles of land reach into each other.
const STATES = [10, 6.5], FINEST = [2, 8.5], OVER = 0.02;

const closed = (ring) => {
  const list = [...ring, ring[0]];
  return [geoArea({ type: "Polygon", coordinates: [list] }) > 2 * Math.PI ? list.reverse() : list];
};

// A ring's lines, but for the edges of its tile.
function shoreOf(ring, edges) {
  const lines = [];
  for (let k = 0, line = null; k <= ring.length; k++) {
    const at = ring[k % ring.length], before = ring[k - 1];
    const isEdge = before && edges.some(([axis, edge]) => Math.abs(at[axis] - edge) < 1e-6 && Math.abs(before[axis] - edge) < 1e-6);
    if (!line || isEdge) lines.push(line = []);
    line.push(at);
  }
  return lines.filter((line) => line.length > 1);
}

export class Shores {
  constructor(whenLoaded) { Object.assign(this, { whenLoaded, tiles: new Map(), outlines: new Map() }); }

  // What is in sight, or null where that is not fetched yet or is too much; `place` says where on Earth a pixel is.
  seen(level, place, width, height) {
    const finest = this.inSight(FINEST, level, place, width, height);
    if (finest) {
      const all = (name) => finest.flatMap((tile) => tile[name]), areas = (name) => ({ type: "MultiPolygon", coordinates: all(name) });
      const lines = (name) => ({ type: "MultiLineString", coordinates: all(name) });
      return { land: areas("land"), lakes: areas("lakes"), shore: lines("shore"), borders: lines("borders"), count: all("land").length };
    }
    const ids = new Set(this.inSight(STATES, level, place, width, height)?.flatMap((tile) => tile.ids));
    return ids.size ? { states: { type: "MultiPolygon", coordinates: [...ids].map((id) => this.outlines.get(id)) }, count: ids.size } : null;
  }

  inSight([size, least], level, place, width, height) {
    if (level < least) return null;
    const wanted = new Set();
    for (let i = 0; i <= 4; i++) for (let j = 0; j <= 4; j++) {
      const at = place([(i / 4) * width, (j / 4) * height]);
      if (!at || Number.isNaN(at[0])) return null;
      wanted.add(`${size},${Math.floor((((at[0] + 540) % 360) - 180) / size)},${Math.floor(at[1] / size)}`);
    }
    if (wanted.size > 9) return null;
    const found = [...wanted].map((key) => this.tiles.get(key) ?? this.fetch(key));
    return found.every((tile) => tile.isHere) ? found : null;
  }

  fetch(key) {
    const tile = {}, [size, x, y] = key.split(",").map(Number), [west, south, degrees] = size === FINEST[0] ? [x * size - OVER, y * size - OVER, size + 2 * OVER] : [x * size, y * size, size];
    this.tiles.set(key, tile);
    send(`page/shores.json?west=${west}&south=${south}&degrees=${degrees}${size === FINEST[0] ? "&fine=1" : ""}`).then((response) => response.json()).then((found) => {
      // A page without a server has states alone.
      if (size === FINEST[0] && found.land) {
        const edges = [[0, west], [0, west + degrees], [1, south], [1, south + degrees]], rings = [...found.land, ...found.lakes];
        Object.assign(tile, { land: found.land.map(closed), lakes: found.lakes.map(closed), shore: rings.flatMap((ring) => shoreOf(ring, edges)), borders: found.borders, isHere: true });
      } else if (size !== FINEST[0]) {
        for (const [id, ring] of found) if (!this.outlines.has(id)) this.outlines.set(id, closed(ring));
        Object.assign(tile, { ids: found.map(([id]) => id), isHere: true });
      }
      this.whenLoaded();
    }).catch(() => {});
    return tile;
  }
}
