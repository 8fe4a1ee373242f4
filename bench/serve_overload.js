// Requests that arrive on time whatever comes back: k6 run with URL, PHOTOS (a comma between), RATE (a second), SECONDS and OUT.
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";

const photos = __ENV.PHOTOS.split(","), rate = Number(__ENV.RATE), seconds = Number(__ENV.SECONDS);
// One photo a virtual user, so that k6's own memory stays small; k6 wants all files opened once before the first.
const photo = __VU === 0 ? photos.map((path) => open(path, "b"))[0] : open(photos[__VU % photos.length], "b");
const accepted = new Trend("accepted", true), refused = new Trend("refused", true);
const answers = new Counter("answers"), refusals = new Counter("refusals"), others = new Counter("others");

export const options = {
  scenarios: {
    arrivals: { executor: "constant-arrival-rate", rate, timeUnit: "1s", duration: `${seconds}s`, preAllocatedVUs: 300, maxVUs: 600, gracefulStop: "60s" },
  },
  discardResponseBodies: true,
  summaryTrendStats: ["med", "p(99)", "max", "count"],
};

export default function () {
  const response = http.post(`${__ENV.URL}/v1/locate`, photo, { headers: { "content-type": "image/jpeg" }, timeout: "70s" });
  if (response.status === 200) { answers.add(1); accepted.add(response.timings.duration); }
  else if (response.status === 429) { refusals.add(1); refused.add(response.timings.duration); }
  else { others.add(1); console.error(`status ${response.status}: ${response.error}`); }
}

export function handleSummary({ metrics, state }) {
  const values = (name) => metrics[name]?.values ?? {};
  const found = {
    answers: values("answers").count ?? 0, refusals: values("refusals").count ?? 0, others: values("others").count ?? 0,
    seconds: state.testRunDurationMs / 1000, dropped: values("dropped_iterations").count ?? 0, accepted: values("accepted"), refused: values("refused"),
  };
  return { [__ENV.OUT]: JSON.stringify(found) };
}
