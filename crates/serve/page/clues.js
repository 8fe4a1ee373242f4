// What is known about a photo: a field for clues, and a chip for each.
import { plain, text } from "./parts.js";

export class Clues {
  // `changed` answers a photo again; when it is done, the photo's `error` says what was wrong.
  constructor(changed) {
    const $ = (id) => document.getElementById(id);
    Object.assign(this, { changed, photo: null, field: $("clue"), time: $("taken"), chips: $("chips"), wrong: $("clue-wrong"), kinds: $("kinds"), examples: $("examples") });
    $("clues").addEventListener("submit", (event) => {
      event.preventDefault();
      this.add(this.field.value.trim());
    });
    this.time.addEventListener("change", () => {
      const time = this.time.value.trim();
      // Clues alone need it.
      if (this.photo.clues?.length) this.attempt("takenAt", time, this.time);
      else this.photo.takenAt = time;
    });
  }

  // The kinds, as the server tells them: a click puts an example into the field.
  offer(kinds) {
    this.examples.replaceChildren(...kinds.map(({ example }) => new Option(example, example)));
    this.kinds.replaceChildren(...kinds.map(({ example, says }) => {
      const item = document.createElement("li"), button = text("button", example);
      button.type = "button";
      button.addEventListener("click", () => {
        this.field.value = example;
        this.field.focus();
        this.field.setSelectionRange(example.indexOf("=") + 1, example.length);
      });
      item.append(button, text("span", ` ${says}`));
      return item;
    }));
  }

  show(photo) {
    if (photo !== this.photo) this.field.value = "";
    this.photo = photo;
    this.time.value = photo?.takenAt ?? "";
    this.say("");
    this.chips.hidden = !photo?.clues?.length;
    this.chips.replaceChildren(...(photo?.clues ?? []).map((clue) => {
      const item = text("li", ""), button = text("button", "×");
      button.type = "button";
      button.setAttribute("aria-label", `Remove ${plain(clue)}`);
      button.addEventListener("click", () => {
        photo.clues = photo.clues.filter((other) => other !== clue);
        this.field.focus();
        this.show(photo);
        this.changed(photo);
      });
      item.append(text("bdi", plain(clue)), button);
      return item;
    }));
  }

  async add(clue) {
    const { photo } = this, before = photo.clues ?? [];
    if (!clue || before.includes(clue)) { this.field.value = ""; return; }
    if (await this.attempt("clues", [...before, clue], this.field) && this.photo === photo) this.field.value = "";
  }

  // Tries something that is known; what the server refuses is taken back, and its words are shown at the field.
  async attempt(name, value, field) {
    const { photo } = this, before = photo[name];
    photo[name] = value;
    await this.changed(photo);
    if (!photo.error) return true;
    const words = photo.error;
    photo[name] = before;
    photo.error = null;
    if (this.photo !== photo) return false;
    this.show(photo);
    // What was typed stays to be mended.
    if (field === this.time) this.time.value = value;
    this.say(words, field);
    return false;
  }

  say(words, field = null) {
    this.wrong.textContent = words;
    for (const one of [this.field, this.time]) one.setAttribute("aria-invalid", String(one === field));
  }
}
