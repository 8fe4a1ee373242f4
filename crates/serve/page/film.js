// The diffusion's samples on their way from noise to places: a slider for everybody, 4 seconds of motion for those who like it.
import { geoInterpolate } from "./d3-geo.js";

const STEP_MS = 250;

export class Film {
  // `show` gets the places of all samples, or null; `tell` gets the number of the step.
  constructor(slider, show, tell) {
    Object.assign(this, { slider, show, tell, steps: [] });
    slider.addEventListener("input", () => { this.stop(); this.at(Number(slider.value)); });
  }

  get isOpen() { return this.steps.length > 0; }

  open(steps) {
    this.steps = steps;
    this.slider.max = String(steps.length - 1);
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (still) this.at(0);
    else this.play();
  }

  close() {
    this.stop();
    this.steps = [];
    this.show(null);
  }

  stop() { cancelAnimationFrame(this.frame); }

  // All samples at a moment between two steps.
  at(moment) {
    const step = Math.min(Math.floor(moment), this.steps.length - 1), part = moment - step;
    const here = this.steps[step].places, next = this.steps[step + 1]?.places;
    this.show(next && part > 0 ? here.map((place, k) => geoInterpolate(place, next[k])(part)) : here);
    this.slider.value = String(step);
    this.tell(step, this.steps.length);
  }

  play() {
    let begin;
    const last = this.steps.length - 1;
    const frame = (now) => {
      begin ??= now;
      const moment = Math.min((now - begin) / STEP_MS, last), step = Math.floor(moment), part = moment - step;
      // They rest at each step for a moment.
      this.at(step + Math.max(0, (part - 0.3) / 0.7));
      if (moment < last) this.frame = requestAnimationFrame(frame);
    };
    this.stop();
    this.frame = requestAnimationFrame(frame);
  }
}
