// Text that was read in a photo: boxes on it and a list of lines. A click on either switches a line off or on, and the answer follows.
import { plain, signed, text } from "./parts.js";

const SVG = "http://www.w3.org/2000/svg";

// `"Fermé le Lundi": French, +1.8 nats`
export const lineWords = ({ text: read, evidence }) => `"${plain(read)}": ${evidence.map(({ says, nats }) => `${plain(says)}, ${signed(nats, 1)} nats`).join("; ")}`;

// Boxes are in pixels of the photo itself: a small picture of it by the server has others, and of several photos it is not known which has the line.
export const hasBoxes = (photo) => !photo.files && !photo.isForeign;

export class Reading {
  // `changed` is called when a photo is to be answered again.
  constructor(changed) {
    const $ = (id) => document.getElementById(id);
    Object.assign(this, { changed, photo: null, section: $("reading"), list: $("lines"), boxes: $("boxes"), image: $("picture"), all: $("read") });
    this.image.addEventListener("load", () => this.draw());
    this.all.addEventListener("change", () => {
      this.photo.isUnread = !this.all.checked;
      this.paint();
      this.changed(this.photo);
    });
  }

  // The lines that an answer used, and those that are switched off, which it does not have any more.
  show(photo) {
    this.photo = photo;
    const used = photo?.answer?.text ?? [], known = new Set(used.map((line) => line.text));
    const off = (photo?.lines ?? []).filter((line) => this.isOff(line) && !known.has(line.text));
    const lines = [...used, ...off].sort(({ corners: [a] }, { corners: [b] }) => a[1] - b[1] || a[0] - b[0]);
    if (photo) photo.lines = lines;
    this.section.hidden = !lines.length;
    this.all.checked = !photo?.isUnread;
    this.paint();
  }

  paint() {
    const at = document.activeElement, held = this.list.contains(at) ? at.dataset.line : null;
    this.list.replaceChildren(...this.rows());
    if (held !== null) this.list.querySelector(`[data-line="${held}"]`)?.focus();
    this.draw();
  }

  isOff(line) { return Boolean(this.photo.isUnread || this.photo.ignored?.has(line.text)); }

  rows() {
    return (this.photo?.lines ?? []).map((line, k) => {
      const item = document.createElement("li"), button = document.createElement("button"), isOff = this.isOff(line);
      button.type = "button";
      button.dataset.line = String(k);
      button.disabled = Boolean(this.photo.isUnread);
      button.setAttribute("aria-pressed", String(!isOff));
      button.append("reads ", text("bdi", lineWords(line)), ...(isOff ? [text("small", "not used", "quiet")] : []));
      button.addEventListener("click", () => this.toggle(line));
      for (const kind of ["mouseenter", "focus"]) button.addEventListener(kind, () => this.point(k, true));
      for (const kind of ["mouseleave", "blur"]) button.addEventListener(kind, () => this.point(k, false));
      item.append(button);
      return item;
    });
  }

  toggle(line) {
    const { photo } = this, ignored = photo.ignored ??= new Set();
    if (photo.isUnread) return;
    if (!ignored.delete(line.text)) ignored.add(line.text);
    this.paint();
    this.changed(photo);
  }

  point(k, isOn) { this.boxes.children[k]?.classList.toggle("held", isOn); }

  // The same boxes as the list has lines; the list is the way to them without a pointer.
  draw() {
    const { image, boxes, photo } = this, lines = photo && hasBoxes(photo) && image.complete && image.naturalWidth ? photo.lines ?? [] : [];
    boxes.setAttribute("viewBox", `0 0 ${image.naturalWidth || 1} ${image.naturalHeight || 1}`);
    boxes.replaceChildren(...lines.map((line) => {
      const box = document.createElementNS(SVG, "polygon"), title = document.createElementNS(SVG, "title");
      box.setAttribute("points", line.corners.map(([x, y]) => `${Number(x)},${Number(y)}`).join(" "));
      box.classList.toggle("off", this.isOff(line));
      title.textContent = lineWords(line);
      box.append(title);
      box.addEventListener("click", () => this.toggle(line));
      return box;
    }));
  }
}
