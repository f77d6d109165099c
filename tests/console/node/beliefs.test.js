// What brokers believe, and moments by their time: node --test, with the page's folder in PAGE.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const page = (name) => import(pathToFileURL(join(process.env.PAGE, name)).href);
const { Recording } = await page("recording.js");
const { beliefsOf } = await page("tables.js");
const { timeOfDay } = await page("timeline.js");

function recorded(...events) {
  const found = new Recording();
  events.forEach((event, index) => found.add({ number: index + 1, time_ms: 1000 * (index >> 1), ...event }));
  return found;
}

const BROKER = { kind: "broker", broker: 2, state: "running", fenced: false };
const leads = (topic, leader, leader_epoch) => ({ kind: "leader", topic, partition: 0, leader, leader_epoch });
const known = (missing, ...rows) => ({ kind: "image", broker: 2, missing, known: rows });

test("a running broker believes what its image says, and what its replicas know", () => {
  const image = known(4, ["t", 0, 1, 0], ["new", 0, -1, -1], ["gone", 0, -1, 3], ["__consumer_offsets", 7, 1, 0]);
  const found = recorded(BROKER, leads("t", 3, 1), leads("new", 1, 0), leads("old", -1, 5), image);
  const all = [[2, "t-0", 1, 0, 3, 1], [2, "new-0", "not known", "–", 1, 0], [2, "gone-0", "none", 3, "deleted", "–"]];
  assert.deepEqual(beliefsOf(found.last), all);
  found.add({ kind: "replica", number: 6, time_ms: 0, topic: "old", partition: 0, broker: 2, leader: 1, leader_epoch: 4, log_end_offset: 0, epochs: [] });
  assert.deepEqual(beliefsOf(found.last), [...all, [2, "old-0", 1, 4, "none", 5]]);
  assert.deepEqual(beliefsOf(found.at(4)), []);
  found.add({ ...BROKER, number: 7, time_ms: 0, state: "killed" });
  assert.deepEqual(beliefsOf(found.last), []);
});

test("a broker that has learned of everything, and a keyframe that tells of none", () => {
  const found = recorded(BROKER, leads("t", 3, 1), known(1, ["t", 0, 1, 0]), known(0));
  assert.equal(beliefsOf(found.at(3)).length, 1);
  assert.deepEqual(beliefsOf(found.last), []);
});

test("the event of a time", () => {
  const found = recorded(BROKER, BROKER, BROKER, BROKER, BROKER);
  assert.deepEqual([-1, 0, 999, 1000, 1999, 9000].map((ms) => found.numberAt(ms)), [1, 2, 2, 4, 4, 5]);
  assert.equal(new Recording().numberAt(5), 0);
});

test("a time of day is one of the day that is shown", () => {
  const near = Date.UTC(2026, 0, 31, 23, 59);
  const at = (...time) => Date.UTC(2026, 0, 31, ...time);
  assert.equal(timeOfDay(" 10:02:03 ", near), at(10, 2, 3));
  assert.equal(timeOfDay("0:02", near), at(0, 2));
  assert.equal(timeOfDay("10:02:03.5", near), at(10, 2, 3, 500));
  assert.equal(timeOfDay("10:02:03,045", near), at(10, 2, 3, 45));
  for (const text of ["", "10", "24:00", "10:60", "10:00:60", "10:02:03.1234", "x"]) assert.equal(timeOfDay(text, near), null);
});
