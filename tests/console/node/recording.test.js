// The state of a recording: node --test, with the page's folder in PAGE and the folder of traces in TRACES.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const page = (name) => import(pathToFileURL(join(process.env.PAGE, name)).href);
const { State } = await page("model.js");
const { Recording, before, readUpTo } = await page("recording.js");
const { Lags } = await page("lag.js");
const { heightOf, markersOf, scale } = await page("lanes.js");
const { asCtl, asCurl, asPytest, asScenario } = await page("copying.js");
const { completed, valueOf } = await page("fields.js");
const { inWords, suggestionsFor } = await page("faults.js");
const { groupsOf, operationsOf } = await page("operations.js");
const { captionAt } = await page("stories.js");
const { offsetsOf } = await page("groups.js");
const { outcomeAt, readersOf, shownAs, wasThere } = await page("records.js");
const { countsOf, lagOf, whoIs, whyNothing } = await page("sharing.js");
const { placesOf, told, toldTogether } = await page("words.js");
const { fits } = await page("requests.js");
const { movesIn } = await page("tables.js");
const { stepAfter, stepBefore } = await page("timeline.js");

const stories = join(process.env.PAGE, "stories");
const files = readdirSync(stories).filter((name) => name.endsWith(".jsonl"));

function events(file) {
  const lines = readFileSync(join(stories, file), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter((row) => row.kind);
}

function recording(file) {
  const found = new Recording();
  for (const event of events(file)) found.add(event);
  return found;
}

/** What is compared of a state: all but what only requests tell. */
function shown(state) {
  const partitions = [...state.partitions.values()].map((each) => ({
    ...each,
    replicas: [...each.replicas.values()].map(({ number, time_ms, ...rest }) => rest),
    followers: [...each.followers],
    producers: [...each.producers].map(([id, { producer_epoch, last_sequence }]) => [id, producer_epoch, last_sequence]),
    committed: [...each.committed],
  }));
  return { partitions, brokers: [...state.brokers], topics: [...state.topics] };
}

for (const file of files) {
  test(`every moment of ${file} is what led to it`, () => {
    const found = recording(file);
    const state = new State();
    for (const [index, event] of found.events.entries()) {
      state.apply(event);
      if (index % 25 === 0) assert.deepEqual(shown(found.at(event.number)), shown(state));
    }
    assert.deepEqual(shown(found.at(found.end)), shown(state));
  });
}

test("a keyframe in the middle changes nothing", () => {
  const found = recording("cut-off-leader.jsonl");
  const all = found.events;
  const again = new Recording();
  const rows = [...rowsOf(found.at(all[200].number))];
  for (const event of all.slice(0, 201)) again.add(event);
  again.add({ kind: "keyframe", number: all[200].number + 0.5, time_ms: all[200].time_ms, rows });
  for (const event of all.slice(201)) again.add(event);
  assert.deepEqual(shown(again.at(all[300].number)), shown(found.at(all[300].number)));
  assert.deepEqual(again.at(all[300].number).positions, found.at(all[300].number).positions);
});

function* rowsOf(state) {
  for (const [broker, one] of state.brokers) yield { kind: "broker", broker, ...one };
  for (const [topic, one] of state.topics) yield { kind: "topic", topic, ...one };
  for (const each of state.partitions.values()) {
    const place = { topic: each.topic, partition: each.partition };
    yield { kind: "leader", ...place, leader: each.leader, leader_epoch: each.leaderEpoch };
    yield { kind: "in-sync-replicas", ...place, in_sync_replicas: each.isr };
    yield { kind: "log-start", ...place, log_start_offset: each.logStart };
    const ends = { high_watermark: each.highWatermark, last_stable_offset: each.lastStable, log_end_offset: each.logEnd };
    yield { kind: "high-watermark", ...place, ...ends };
    for (const [broker, one] of each.followers) yield { kind: "follower", ...place, broker, ...one };
    for (const { number, time_ms, ...one } of each.replicas.values()) yield one;
    for (const [group, one] of each.committed) yield { kind: "committed", ...place, group, ...one };
  }
}

test("requests have their answers and decisions", () => {
  const found = recording("idle-producer.jsonl");
  const refused = found.rows.filter((row) => row.answer?.errors.includes("UNKNOWN_PRODUCER_ID"));
  assert.ok(refused.length > 0);
  for (const row of refused) {
    assert.equal(row.event.correlation_id, row.answer.correlation_id);
    assert.ok(row.decisions.some((each) => each.name === "unknown-producer"));
  }
  assert.ok(found.rows.filter((row) => row.event.kind === "answer").length === 0);
});

test("an offset that goes back is on the timeline", () => {
  const found = recording("load-stops.jsonl");
  const back = found.notable.filter((row) => row.back);
  assert.deepEqual(back.filter((row) => row.event.kind === "committed").map((row) => row.event.offset), [10]);
});

test("what is usual at the beginning is not on the timeline", () => {
  const found = recording("idle-producer.jsonl");
  const kinds = new Set(found.notable.map((row) => row.event.kind));
  assert.ok(!kinds.has("follower") && !kinds.has("in-sync-replicas"));
});

test("the oldest events are forgotten, and the rest is as it was", () => {
  const all = events("cleanup-during-load.jsonl");
  const small = new Recording(100);
  const whole = new Recording();
  for (const event of all) {
    small.add(event);
    whole.add(event);
  }
  assert.ok(small.events.length <= 100);
  assert.equal(small.end, whole.end);
  assert.deepEqual(shown(small.last), shown(whole.last));
  assert.ok(small.rows.every((row) => row.event.number >= small.first));
});

test("after missing events, the next keyframe puts it right", () => {
  const found = new Recording();
  found.add({ kind: "keyframe", number: 1, time_ms: 0, rows: [{ kind: "broker", broker: 1, state: "running", fenced: false }] });
  found.add({ kind: "broker", number: 2, time_ms: 0, broker: 2, state: "running", fenced: false });
  found.add({ kind: "keyframe", number: 9, time_ms: 0, rows: [{ kind: "broker", broker: 1, state: "killed", fenced: true }] });
  assert.deepEqual([...found.last.brokers], [[1, { state: "killed", fenced: true }]]);
});

test("traces without keyframes can be looked at too", () => {
  const found = new Recording();
  for (const event of events("cut-off-leader.jsonl")) {
    if (!["keyframe", "replica", "producer", "topic", "committed"].includes(event.kind)) found.add(event);
  }
  assert.equal(found.last.partitions.get("t-0").leader, 1);
  assert.equal(found.at(found.first).partitions.size, 0);
});

test("most of the width shows the end of a long log", () => {
  const x = scale(0, 1_000_000, 1000);
  assert.ok(x(999_900) < x(1_000_000) - 200);
  for (let offset = 1; offset < 1_000_000; offset += 9973) assert.ok(x(offset) > x(offset - 1));
  const near = scale(5, 25, 1000);
  assert.equal(near(15) - near(10), near(20) - near(15));
  assert.ok(heightOf(3, true) > heightOf(3, false));
});

test("markers are committed offsets of groups that live, and what clients ask for", () => {
  const { last } = recording("cut-off-leader.jsonl");
  const found = markersOf(last.partitions.get("t-0"), last);
  assert.ok(found.some((each) => each.kind === "committed" && each.label === "g"));
  assert.ok(found.some((each) => each.kind === "position" && each.label === "c"));
  last.groups.set("g", { ...last.groups.get("g"), state: "Dead" });
  assert.ok(!markersOf(last.partitions.get("t-0"), last).some((each) => each.label === "g"));
});

test("a group's partition without a commit has no lag, but is there", () => {
  const found = new Recording();
  const where = { topic: "t", time_ms: 0 };
  let number = 0;
  const add = (event) => found.add({ number: ++number, time_ms: 0, ...event });
  const rows = [{ kind: "topic", topic: "t", topic_id: "id", partitions: 3 }];
  add({ kind: "keyframe", rows });
  for (const partition of [0, 1, 2]) {
    add({ kind: "high-watermark", ...where, partition, high_watermark: 5, last_stable_offset: 5, log_end_offset: 5 });
  }
  const group = { kind: "group", group: "g", coordinator: 1, generation: 1, members: 1 };
  add({ ...group, state: "Stable" });
  add({ kind: "committed", ...where, partition: 0, group: "g", offset: 2, leader_epoch: 0 });
  const asks = (topic, group_id) => ({ group_id, topics: [{ ...topic, partition_indexes: [0, 1] }] });
  add({ kind: "request", api: "OffsetFetch", names: [], body: { groups: [asks({ topic_id: "id", name: "" }, "g")] } });
  add({ kind: "request", api: "OffsetFetch", names: [], body: { groups: [], ...asks({ topic_id: null, name: "t" }, "h") } });
  add({ kind: "request", api: "OffsetFetch", names: [], body: { groups: [{ group_id: "g", topics: null }] } });
  const ofG = [["g", "t-0", 2, 0, 3], ["g", "t-1", "–", "–", "–"]];
  assert.deepEqual(offsetsOf(found.last), [...ofG, ["h", "t-0", "–", "–", "–"], ["h", "t-1", "–", "–", "–"]]);
  add({ kind: "keyframe", rows: [...rowsOf(found.last)] });
  assert.deepEqual(offsetsOf(found.at(number - 1)), offsetsOf(found.last));
  add({ ...group, group: "h", state: "Dead", members: 0 });
  assert.deepEqual(offsetsOf(found.last), ofG);
  assert.deepEqual(offsetsOf(found.at(6)), [["g", "t-0", 2, 0, 3]]);
});

const SHARED = { kind: "share-partition", group: "g", topic: "t", partition: 0, coordinator: 1 };
const MEMBER = { kind: "member", group: "g", member_id: "m", client_id: "worker", type: "share", epoch: 1, subscribed: ["t"], assigned: ["t-0"] };

/** A share group with ten records, of which `in_flight` have states. */
function shared(in_flight, more = []) {
  const state = new State();
  for (const each of [
    { kind: "topic", topic: "t", topic_id: "a", partitions: 1 },
    { kind: "leader", topic: "t", partition: 0, leader: 1, leader_epoch: 0 },
    { kind: "high-watermark", topic: "t", partition: 0, high_watermark: 10, last_stable_offset: 10, log_end_offset: 10 },
    MEMBER,
    { kind: "share-session", broker: 1, group: "g", member_id: "m", epoch: 1, names: ["t-0"] },
    { ...SHARED, start_offset: 2, in_flight },
    ...more,
  ]) {
    state.apply({ number: state.number + 1, time_ms: 0, ...each });
  }
  const [share] = state.sharePartitions.values();
  return { state, share };
}

const UNTIL = Date.UTC(2026, 0, 1, 12, 0, 30);
const ALL = [2, 9, "acquired", 1, "m", UNTIL];

test("records of a share group are counted by their states", () => {
  const { state, share } = shared([[2, 4, "acquired", 1, "m", UNTIL], [5, 5, "acknowledged", 1, null, null], [6, 7, "archived", 5, null, null]]);
  assert.deepEqual(countsOf(share), { available: 0, acquired: 3, acknowledged: 1, archiving: 0, archived: 2 });
  assert.equal(lagOf(state, share), 5);
  assert.equal(whoIs(state, "g", "m"), "worker");
  state.apply({ ...MEMBER, member_id: "n" });
  assert.equal(whoIs(state, "g", "m"), "m");
});

test("why a share group gets nothing", () => {
  const why = (...given) => {
    const { state, share } = shared(...given);
    return whyNothing(state, share);
  };
  const ends = (last_stable_offset) => ({ kind: "high-watermark", topic: "t", partition: 0, high_watermark: 10, last_stable_offset, log_end_offset: 10 });
  assert.equal(why([]), "");
  assert.equal(why([[2, 9, "available", 1, null, null]]), "");
  assert.equal(why([ALL]), "all that is left is acquired by worker: the first lock ends at 12:00:30.000");
  assert.equal(why([[2, 9, "archiving", 5, null, null]]), "the rest waits to be written as dead letters");
  assert.equal(why([], [{ ...SHARED, start_offset: 10, in_flight: [] }]), "nothing is left");
  assert.equal(why([], [{ ...SHARED, start_offset: -1, in_flight: [] }]), "no member has read yet");
  assert.match(why([[2, 4, "acquired", 1, "m", UNTIL]], [ends(5)]), /transaction is open from offset 5/);
  assert.equal(why([[2, 4, "acquired", 1, "m", UNTIL]], [ends(7)]), "");
  assert.equal(why([ALL], [{ ...MEMBER, epoch: -1 }]), "the group has no members");
  assert.equal(why([ALL], [{ ...MEMBER, assigned: [] }]), "it is assigned to no member yet");
  assert.equal(why([ALL], [{ kind: "leader", topic: "t", partition: 0, leader: -1, leader_epoch: 1 }]), "the partition has no leader");
  assert.equal(why([ALL], [{ kind: "share-session", broker: 1, group: "g", member_id: "m", epoch: -1, names: [] }]), "no member has a share session with it");
});

test("partitions are told in few words", () => {
  assert.equal(placesOf(["t-2", "t-0", "t-1", "t-7", "a-b-3"]), "t 0–2, 7; a-b 3");
  assert.equal(placesOf([]), "");
});

test("keys and values are text, JSON or bytes", () => {
  assert.equal(shownAs(null, "utf-8", null, "text"), "null");
  assert.equal(shownAs("é", "utf-8", 2, "bytes"), "c3 a9");
  assert.equal(shownAs('{"a":1}', "utf-8", 7, "JSON"), '{\n "a": 1\n}');
  assert.equal(shownAs("{", "utf-8", 1, "JSON"), "{");
  assert.equal(shownAs("abc", "utf-8", 900, "text"), "abc… (900 bytes)");
  assert.equal(shownAs("/w==", "base64", 1, "text"), "/w== (base64)");
  assert.equal(shownAs("/w==", "base64", 1, "bytes"), "ff");
});

test("a record at a moment", () => {
  const record = { topic: "t", partition: 0, offset: 4, leader_epoch: 1, producer_id: 7, transaction: "committed", control: null };
  const marker = { ...record, offset: 6, control: "commit" };
  const partition = { topic: "t", partition: 0, logStart: 0, logEnd: 5, leaderEpoch: 1 };
  assert.ok(wasThere(record, partition));
  assert.ok(!wasThere(record, { ...partition, logEnd: 4 }));
  assert.ok(!wasThere(record, { ...partition, logStart: 5 }));
  assert.ok(!wasThere(record, { ...partition, leaderEpoch: 0 }));
  assert.equal(outcomeAt(record, [record, marker], 5, true), "open");
  assert.equal(outcomeAt(record, [record, marker], 7, true), "committed");
  assert.equal(outcomeAt(record, [record], 5, true), "committed by now");
  assert.equal(outcomeAt({ ...record, transaction: "ongoing" }, [record], 5, false), "open");
  assert.equal(outcomeAt({ ...record, transaction: null }, [record], 5, false), "–");
});

test("who has read a record", () => {
  const { state } = shared([[2, 4, "acquired", 1, "m", UNTIL]], [{ kind: "committed", topic: "t", partition: 0, group: "billing", offset: 3, leader_epoch: 0 }]);
  const partition = state.partitions.get("t-0");
  assert.deepEqual(readersOf(state, partition, 1), ["billing committed", "g done"]);
  assert.deepEqual(readersOf(state, partition, 3), ["g acquired"]);
  assert.deepEqual(readersOf(state, partition, 8), []);
});

test("captions come with their events", () => {
  for (const story of JSON.parse(readFileSync(join(stories, "index.json"), "utf8"))) {
    const numbers = new Set(events(story.file).map((event) => event.number));
    for (const { number, text } of story.captions) {
      assert.ok(numbers.has(number));
      assert.equal(captionAt(story, number), text);
    }
    assert.equal(captionAt(story, 0), story.about);
  }
});

test("operations can be copied", () => {
  const call = {
    id: "partitions-move-leader",
    method: "post",
    path: "/topics/{topic}/partitions/{partition}/move-leader",
    values: { topic: "it's", partition: 0, to: 2 },
    required: ["topic", "partition"],
  };
  assert.equal(asCtl(call), "mockbroker ctl partitions move-leader --to=2 'it'\\''s' 0");
  assert.equal(asPytest(call), 'cluster.move_leader("it\'s", 0, to=2)');
  assert.equal(asCurl(call), `curl -sS -X POST "$MOCKBROKER_CONTROL/topics/it's/partitions/0/move-leader" -d '{"to":2}'`);
  assert.equal(asScenario(call), '[[step]]\nafter = "1s"\ndo = "partitions move-leader"\ntopic = "it\'s"\npartition = 0\nto = 2');
  const fault = { id: "faults-add", method: "post", path: "/faults", values: { do: "delay", api: ["Fetch"], ms: 10 }, required: ["do"] };
  assert.equal(asCtl(fault), "mockbroker ctl faults add delay 'api=[\"Fetch\"]' ms=10");
  assert.equal(asPytest(fault), 'cluster.faults.add("delay", api=["Fetch"], ms=10)');
  const values = { user: "alice", expires_in: 60, email: "a@b.test", iat: null, claims: [1] };
  const token = { id: "tokens-issue", method: "post", path: "/tokens", values };
  const claims = '{"email": "a@b.test", "iat": None, "claims": [1]}';
  assert.equal(asPytest(token), `cluster.token("alice", expires_in=60, claims=${claims})`);
  assert.equal(asPytest({ ...token, values: { user: "alice" } }), 'cluster.token("alice")');
  assert.equal(asScenario(fault), '[[fault]]\ndo = "delay"\napi = ["Fetch"]\nms = 10');
});

test("what is typed becomes a value, or an error", () => {
  assert.equal(valueOf({ name: "to", kind: "integer" }, "2"), 2);
  assert.deepEqual(valueOf({ name: "from", kind: "json" }, "[1]"), [1]);
  assert.throws(() => valueOf({ name: "to", kind: "integer" }, "x"), /to is x: give a number/);
  assert.throws(() => valueOf({ name: "from", kind: "json" }, "["), /from is not JSON/);
});

test("lists, and what may be anything", () => {
  const api = { name: "api", kind: "list", one: true, numbers: true };
  assert.deepEqual(valueOf(api, "Produce, 1,"), ["Produce", 1]);
  assert.equal(valueOf(api, "Produce"), "Produce");
  assert.deepEqual(valueOf({ ...api, one: false }, "2"), [2]);
  assert.equal(valueOf({ name: "value", kind: "any" }, "[text"), "[text");
  assert.equal(valueOf({ name: "value", kind: "any" }, "1"), 1);
  const names = [{ value: "Produce" }, { value: "Fetch", label: "requested so far" }];
  assert.deepEqual(completed("Pro", names), names);
  assert.deepEqual(completed("Produce, F", names), [{ value: "Produce, Fetch", label: "requested so far" }]);
});

test("what a fault would hit, in words", () => {
  const told = { fault: "", illegal: "", requests: 5, matching: 2, touched: [1, 2], why: "" };
  assert.match(inWords(told), /hit 2 of the last 5 requests\.$/);
  assert.match(inWords({ ...told, touched: [2] }), /hit 1 of the last 5 requests \(2 match/);
  assert.match(inWords({ ...told, touched: [], why: "nth=3" }), /2 of the last 5 requests match, but .* none: nth=3\.$/);
  assert.match(inWords({ ...told, touched: [], matching: 0, why: "x" }), /none of the last 5 requests: x\.$/);
  assert.match(inWords({ ...told, requests: 2 }), /every one/);
  assert.match(inWords({ ...told, requests: 0, touched: [] }), /No requests/);
});

test("the fields of a fault are those of what it does, and names are offered", () => {
  const found = operationsOf(JSON.parse(readFileSync(join(process.env.TRACES, "openapi.json"), "utf8")));
  const add = found.find((each) => each.id === "faults-add");
  const variant = add.variants.find((each) => each.title === "error");
  const groups = groupsOf(add, variant).map((each) => each.fields.map((field) => field.name));
  assert.deepEqual(groups[0], ["do", "error", "level"]);
  assert.ok(groups[1].includes("api") && groups[2][0] === "when" && groups[2].at(-1) === "optional");
  const all = groups.flat();
  assert.deepEqual(all, [...new Set(all)]);
  const error = variant.fields.find((each) => each.name === "error");
  const { last } = recording("idle-producer.jsonl");
  const seen = { apis: ["Fetch"], clients: ["c"] };
  const [first] = suggestionsFor(error, last, seen, ["Produce"]);
  assert.equal(first.label, "Kafka answers it in Produce");
  assert.ok(suggestionsFor(error, last, seen, [""]).every((each) => !each.label));
  assert.deepEqual(suggestionsFor(add.fields.find((each) => each.name === "api"), last, seen, [])[0].value, "Fetch");
  assert.ok(!found.some((each) => each.id === "faults-preview"));
});

test("what is whole begins after the last gap", () => {
  const recording = new Recording();
  for (const number of [3, 4, 7, 8]) recording.add({ kind: "broker", number, time_ms: number, broker: 1, state: "running", fenced: false });
  assert.deepEqual([recording.first, recording.whole, recording.end], [3, 7, 8]);
  assert.equal(new Recording().whole, 0);
});

test("every operation that changes something is there", () => {
  const found = operationsOf(JSON.parse(readFileSync(join(process.env.TRACES, "openapi.json"), "utf8")));
  assert.ok(found.length > 25);
  for (const each of found) {
    const kinds = ["string", "integer", "number", "boolean", "list", "any", "json"];
    for (const field of each.fields) assert.ok(kinds.includes(field.kind), `${each.id} ${field.name} ${field.kind}`);
    const values = Object.fromEntries(each.fields.map((field) => [field.name, "x"]));
    assert.ok(!asPytest({ ...each, values }).startsWith("#"), each.id);
  }
});

test("every event can be told", () => {
  for (const file of files) for (const event of events(file)) assert.equal(typeof told(event), "string");
});

test("filters", () => {
  const row = { event: { kind: "request", api: "Fetch", version: 1, names: ["orders-0"], client_id: "App" }, answer: { errors: [] }, decisions: [], back: false };
  const all = { kinds: ["requests"], api: "", client: "", text: "", only: [] };
  assert.ok(fits(row, all));
  assert.ok(fits(row, { ...all, text: "orders" }) && fits(row, { ...all, text: "app" }));
  assert.ok(!fits(row, { ...all, only: ["errors"] }) && !fits(row, { ...all, kinds: [] }) && !fits(row, { ...all, api: "Produce" }));
  for (const [outcome, bad] of [["closed", true], ["silence", true], ["none", false], ["answer", false]]) {
    const ended = { ...row, answer: { errors: [], faults: ["disconnect before api=Fetch name=Lost"], outcome } };
    assert.equal(fits(ended, { ...all, only: ["errors"] }), bad, outcome);
    assert.ok(fits(ended, { ...all, text: "disconnect" }) && fits(ended, { ...all, text: "lost" }));
  }
  assert.equal(before([row, row].map((each, index) => ({ ...each, event: { ...each.event, number: index * 10 } })), 5), 1);
});

test("changes of one cause are one step, and are told together", () => {
  const found = new Recording();
  let number = 0;
  const add = (kind, time_ms, rest) => found.add({ kind, number: ++number, time_ms, ...rest });
  const leads = (partition, leader, epoch, reason = "") => ({ topic: "t", partition, leader, leader_epoch: epoch, reason });
  for (const partition of [0, 1, 2]) add("leader", 1, leads(partition, 1, 0));
  assert.equal(found.notable.length, 0);
  add("broker", 5, { broker: 1, state: "stopped", fenced: true });
  add("leader", 5, leads(0, 2, 1, "stopped"));
  add("decision", 5, { name: "election", request: null });
  add("leader", 5, leads(1, 2, 1, "stopped"));
  add("leader", 9, leads(2, 2, 1, "stopped"));
  assert.equal(new Set(found.notable.map((row) => row.step)).size, 1);
  assert.deepEqual(found.notable.filter((row) => row.event.kind === "leader").map((row) => row.was), [1, 1, 1]);
  assert.equal(toldTogether(found.notable.map((row) => row.event)), "broker 1 is stopped, fenced; t 0–2: broker 2 leads, leader epoch 1 (stopped)");
  assert.deepEqual([stepAfter(found, 3), stepAfter(found, number), stepBefore(found, number)], [number, 0, 0]);
  const ask = () => add("request", 20, { broker: 1, connection: "c", correlation_id: 1, api: "Metadata", names: [] });
  ask();
  add("leader", 20, leads(0, 1, 2, "moved"));
  ask();
  add("leader", 20, leads(1, 1, 2, "moved"));
  assert.equal(found.notable.at(-1).step.length, 2);
  ask();
  add("in-sync-replicas", 20, { topic: "t", partition: 1, in_sync_replicas: [1] });
  add("in-sync-replicas", 20, { topic: "t", partition: 1, in_sync_replicas: [1, 2] });
  assert.equal(found.notable.at(-1).step.length, 2);
  assert.deepEqual([stepBefore(found, number), stepBefore(found, 12), stepAfter(found, 8)], [12, 8, 12]);
  add("leader", 5000, leads(1, 2, 3, "moved"));
  assert.equal(found.notable.at(-1).step.length, 1);
  assert.deepEqual(movesIn(found, 10).map((row) => row.slice(1)), [
    ["t-0", 2, 1, 2, "moved"],
    ["t-2", 1, 2, 1, "stopped"],
    ["t-1", 1, 2, 1, "stopped"],
    ["t-0", 1, 2, 1, "stopped"],
  ]);
});

test("a group's lag over time, whichever moment is looked at", () => {
  const found = new Recording();
  let number = 0;
  const add = (kind, time_ms, rest) => found.add({ kind, number: ++number, time_ms, topic: "t", ...rest });
  const end = (partition, time_ms, high_watermark) => add("high-watermark", time_ms, { partition, high_watermark, last_stable_offset: high_watermark, log_end_offset: high_watermark });
  const commit = (partition, time_ms, offset) => add("committed", time_ms, { partition, group: "g", offset, leader_epoch: 0 });
  end(0, 1, 10);
  commit(0, 2, 4);
  end(0, 3, 12);
  end(1, 3, 5);
  commit(1, 4, 0);
  commit(0, 5, 12);
  commit(1, 6, -1);
  const kept = { recording: null, first: 0, reader: new Lags() };
  const lagsAt = (at) => readUpTo(kept, () => new Lags(), found, at).points.get("g")?.map(({ ms, lag }) => [ms, lag]);
  const all = [[2, 6], [3, 8], [4, 13], [5, 5], [6, 0]];
  assert.deepEqual(lagsAt(number), all);
  assert.deepEqual(lagsAt(5), all.slice(0, 3));
  assert.deepEqual(lagsAt(1), undefined);
  assert.deepEqual(lagsAt(number), all);
});
