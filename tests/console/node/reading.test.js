// What groups skipped or fetched more than once: node --test, with the page's folder in PAGE.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const page = (name) => import(pathToFileURL(join(process.env.PAGE, name)).href);
const { Readings } = await page("reading.js");
const { Recording, readUpTo } = await page("recording.js");
const begin = () => new Readings();

const WHERE = { topic: "t", partition: 0 };

/** Events in the order of their calls. */
class Told {
  constructor() {
    this.recording = new Recording();
    this.add({ kind: "topic", topic: "t", topic_id: "id", partitions: 1 });
    this.end(100);
    this.member("g", "a");
  }

  add(event) {
    const number = this.recording.end + 1;
    this.recording.add({ number, time_ms: number * 1000, ...event });
    return number;
  }

  end(offset) {
    const ends = { high_watermark: offset, last_stable_offset: offset, log_end_offset: offset };
    this.add({ kind: "high-watermark", ...WHERE, ...ends });
  }

  member(group, client_id, assigned = ["t-0"]) {
    this.add({ kind: "member", group, member_id: client_id, client_id, type: "consumer", epoch: 1, subscribed: ["t"], assigned });
  }

  ask(client_id, fetch_offset, more = {}) {
    const topics = [{ topic_id: "id", topic: "", partitions: [{ partition: 0, fetch_offset }] }];
    this.add({ kind: "request", broker: 1, connection: client_id, client_id, api: "Fetch", names: [], body: { topics, ...more } });
  }

  answer(client_id, batches, more = {}) {
    const records = batches.map(([base_offset, last_offset, leader_epoch = 0]) => ({ base_offset, last_offset, leader_epoch, records: 1 }));
    const responses = [{ topic_id: "id", topic: "", partitions: [{ partition_index: 0, records }] }];
    const rest = { api: "Fetch", outcome: "answer", errors: [], faults: [], body: { responses }, ...more };
    return this.add({ kind: "answer", broker: 1, connection: client_id, client_id, ...rest });
  }

  fetch(client_id, fetch_offset, ...batches) {
    this.ask(client_id, fetch_offset);
    return this.answer(client_id, batches);
  }

  commit(group, client_id, offset) {
    const topics = [{ name: "t", partitions: [{ partition_index: 0, committed_offset: offset }] }];
    if (client_id) this.add({ kind: "request", api: "OffsetCommit", client_id, names: [], body: { group_id: group, topics } });
    return this.add({ kind: "committed", ...WHERE, group, offset, leader_epoch: 0 });
  }

  readings(number = this.recording.end) {
    return readUpTo({ recording: null, first: 0, reader: new Readings() }, begin, this.recording, number);
  }

  skipped(group = "g", number = undefined) {
    return this.readings(number).of(group).skipped.map((each) => [each.from, each.to - 1, each.before, each.after, each.client]);
  }

  again(group = "g", number = undefined) {
    return this.readings(number).of(group).again.map((each) => [each.from, each.to - 1, ...each.fetched.map((one) => one.client)]);
  }
}

test("nothing is skipped or fetched again by who reads on", () => {
  const told = new Told();
  for (const from of [0, 10, 20]) told.fetch("a", from, [from, from + 9]);
  told.commit("g", "a", 30);
  assert.deepEqual([told.skipped(), told.again()], [[], []]);
});

test("what a commit passes and nobody fetched is skipped, until somebody fetches it", () => {
  const told = new Told();
  told.fetch("a", 2, [0, 4]);
  const at = told.commit("g", "a", 9);
  assert.deepEqual(told.skipped(), [[5, 8, -1, 9, "a"]]);
  told.fetch("a", 6, [6, 6]);
  assert.deepEqual(told.skipped(), [[5, 5, -1, 9, "a"], [7, 8, -1, 9, "a"]]);
  assert.deepEqual(told.skipped("g", at), [[5, 8, -1, 9, "a"]]);
  assert.deepEqual(told.skipped("g", at - 1), []);
});

test("what does not exist is not skipped, nor what was there before a group began", () => {
  const told = new Told();
  told.end(7);
  told.fetch("a", 5, [5, 6]);
  told.commit("g", "", 50);
  told.commit("other", "", 6);
  assert.deepEqual([told.skipped(), told.skipped("other")], [[], []]);
});

test("an offset that is gone is still where the group was", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 4]);
  told.commit("g", "a", 5);
  told.add({ kind: "committed", ...WHERE, group: "g", offset: -1, leader_epoch: -1 });
  told.fetch("a", 8, [8, 9]);
  told.commit("g", "a", 10);
  assert.deepEqual(told.skipped(), [[5, 7, 5, 10, "a"]]);
});

test("what compaction has left out is not skipped", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 1], [6, 9]);
  told.fetch("a", 10, [15, 15]);
  told.commit("g", "a", 16);
  assert.deepEqual(told.skipped(), []);
});

test("what two members fetch is told with both, in the order in which they did", () => {
  const told = new Told();
  told.member("g", "b");
  told.fetch("b", 4, [4, 5]);
  for (const from of [0, 5]) told.fetch("a", from, [from, from + 4]);
  assert.deepEqual(told.again(), [[4, 5, "b", "a"]]);
  const [{ fetched }] = told.readings().of("g").again;
  assert.ok(fetched[0].step.number < fetched[1].step.number);
  told.commit("g", "a", 8);
  told.fetch("b", 6, [5, 6]);
  assert.deepEqual(told.again(), [[4, 5, "b", "a"], [6, 6, "a", "b"]]);
  assert.equal(told.readings().of("g").again[1].fetched[1].committed, 8);
});

test("the same offset in another leader epoch is another record", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 4, 0]);
  told.fetch("a", 3, [3, 6, 1]);
  assert.deepEqual(told.again(), []);
  told.fetch("a", 4, [3, 4, 1]);
  assert.deepEqual(told.again(), [[4, 4, "a", "a"]]);
});

test("a deleted topic's records are forgotten", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 4]);
  told.add({ kind: "topic", topic: "t", topic_id: "id", partitions: 0 });
  told.add({ kind: "topic", topic: "t", topic_id: "new", partitions: 1 });
  told.fetch("a", 0, [0, 4]);
  assert.deepEqual(told.again(), []);
});

test("neither replicas nor lost answers count", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 4]);
  told.ask("follower", 0, { replica_id: 2 });
  told.answer("follower", [[0, 4]]);
  told.ask("a", 0);
  told.answer("a", [[0, 4]], { outcome: "closed" });
  assert.deepEqual(told.again(), []);
});

test("of clients that may read for several groups it can't be told", () => {
  const told = new Told();
  told.member("h", "a");
  told.fetch("a", 0, [0, 4]);
  told.fetch("a", 0, [0, 4]);
  const { again, unclear } = told.readings().of("g");
  assert.deepEqual([again, [...unclear]], [[], [["t-0", ["h"]]]]);
  assert.equal(told.readings().of("nobody").unclear.size, 0);
});

test("a client without a group reads for those in which it commits", () => {
  const told = new Told();
  told.fetch("alone", 0, [0, 4]);
  told.commit("own", "alone", 8);
  assert.deepEqual(told.skipped("own"), [[5, 7, -1, 8, "alone"]]);
  assert.deepEqual(told.skipped("g"), []);
});

test("answers without bodies, and events that are not there, are told", () => {
  const told = new Told();
  told.fetch("a", 0, [0, 4]);
  assert.deepEqual([told.readings().noBodies, told.readings().sinceMs, told.readings().leftOut], [false, 0, false]);
  told.answer("a", [], { body: {} });
  told.answer("a", [], { body: { responses: [], left_out: 3 } });
  told.recording.add({ kind: "keyframe", number: told.recording.end + 5, time_ms: 77, rows: [{ kind: "committed", ...WHERE, group: "g", offset: 3 }] });
  told.fetch("a", 0, [0, 4]);
  const found = told.readings();
  assert.deepEqual([found.noBodies, found.sinceMs, found.leftOut], [true, 77, true]);
  assert.deepEqual(found.of("g").again, []);
});

test("reading on adds to what is there, and going back begins again", () => {
  const told = new Told();
  const first = told.fetch("a", 0, [0, 4]);
  const last = told.fetch("a", 0, [0, 4]);
  const kept = { recording: null, first: 0, reader: new Readings() };
  assert.equal(readUpTo(kept, begin, told.recording, first).of("g").again.length, 0);
  const one = kept.readings;
  assert.equal(readUpTo(kept, begin, told.recording, last).of("g").again.length, 1);
  assert.equal(kept.readings, one);
  assert.equal(readUpTo(kept, begin, told.recording, first).of("g").again.length, 0);
});

test("LinkedIn's rewind is told in a story without members", () => {
  const lines = readFileSync(join(process.env.PAGE, "stories/load-stops.jsonl"), "utf8").trim().split("\n");
  const recording = new Recording();
  for (const event of lines.map((line) => JSON.parse(line)).filter((each) => each.kind)) recording.add(event);
  const kept = { recording: null, first: 0, reader: new Readings() };
  const found = readUpTo(kept, begin, recording, recording.end).of("g");
  assert.deepEqual(found.skipped, []);
  assert.deepEqual(found.again.map((each) => [each.from, ...each.fetched.map((one) => one.client)]), [[10, "a", "b"]]);
});
