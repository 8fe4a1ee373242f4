// Map tiles of a server that the user named, on the globe: each square is cut into parts that are nearly flat.
const SIZE = 256, LEAST = 4, MOST = 19, KEPT = 300, RAD = Math.PI / 180;

const column = (lon, z) => (lon / 360 + 0.5) * 2 ** z;
const row = (lat, z) => (0.5 - Math.asinh(Math.tan(lat * RAD)) / (2 * Math.PI)) * 2 ** z;
const lon = (x, z) => (x / 2 ** z - 0.5) * 360;
const lat = (y, z) => Math.atan(Math.sinh((0.5 - y / 2 ** z) * 2 * Math.PI)) / RAD;

export class Tiles {
  constructor(template, whenLoaded) { Object.assign(this, { template, whenLoaded, images: new Map() }); }

  // Draws what is in sight at a level (a world of 256 pixels, doubled so often); whether that is close enough for tiles.
  draw(context, projection, level, centre, width, height, isMoving) {
    if (level < LEAST) return false;
    const z = Math.max(2, Math.min(MOST, Math.round(level + Math.log2(Math.max(0.1, Math.cos(centre[1] * RAD)))))), all = 2 ** z;
    let [west, east, north, south] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i <= 8; i++) for (let j = 0; j <= 8; j++) {
      const at = projection.invert([(i / 8) * width, (j / 8) * height]);
      if (!at || Number.isNaN(at[0]) || Math.abs(at[1]) > 85) continue;
      // As far from the middle as it is, whatever the antimeridian says.
      const x = column(centre[0] + ((at[0] - centre[0] + 540) % 360 + 360) % 360 - 180, z), y = row(at[1], z);
      [west, east, north, south] = [Math.min(west, x), Math.max(east, x), Math.min(north, y), Math.max(south, y)];
    }
    const parts = z < 7 ? 8 : z < 10 ? 4 : 1, side = SIZE / parts;
    this.drawn = 0;
    if ((east - west + 1) * (south - north + 1) > KEPT / 2) return false;
    for (let x = Math.floor(west); x <= east; x++) for (let y = Math.max(0, Math.floor(north)); y <= Math.min(all - 1, south); y++) {
      const image = this.image(z, ((x % all) + all) % all, y, isMoving);
      if (!image) continue;
      this.drawn++;
      for (let i = 0; i < parts; i++) for (let j = 0; j < parts; j++) {
        const corner = (right, down) => projection([lon(x + (i + right) / parts, z), lat(y + (j + down) / parts, z)]);
        const [a, b, c] = [corner(0, 0), corner(1, 0), corner(0, 1)];
        if (!a || !b || !c) continue;
        context.save();
        context.transform((b[0] - a[0]) / side, (b[1] - a[1]) / side, (c[0] - a[0]) / side, (c[1] - a[1]) / side, ...a);
        // A little over the edge: no seams.
        const scale = image.naturalWidth / SIZE;
        context.drawImage(image, i * side * scale, j * side * scale, side * scale, side * scale, 0, 0, side + 0.6, side + 0.6);
        context.restore();
      }
    }
    return true;
  }

  // A tile that is here, or nothing while it is fetched.
  image(z, x, y, isMoving) {
    const url = this.template.replace("{z}", z).replace("{x}", x).replace("{y}", y);
    let image = this.images.get(url);
    if (!image && isMoving) return null;
    this.images.delete(url);
    if (!image) {
      image = new Image();
      // Servers of tiles want to know that a page asks; this names the page's machine and port, and nothing else.
      image.referrerPolicy = "origin";
      image.addEventListener("load", this.whenLoaded);
      image.src = url;
    }
    this.images.set(url, image);
    if (this.images.size > KEPT) this.images.delete(this.images.keys().next().value);
    return image.complete && image.naturalWidth ? image : null;
  }
}
