import { html, render, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { useAddress, useMark } from "./address.js";
import { Changes } from "./changes.js";
import { Clients } from "./clients.js";
import { Groups, Hints } from "./groups.js";
import { Behaviours, Faults } from "./inforce.js";
import { heightOf, Lanes, markersOf } from "./lanes.js";
import { Incidents } from "./incidents.js";
import { List } from "./list.js";
import { Operations } from "./operations.js";
import { Overview } from "./overview.js";
import { usePast } from "./past.js";
import { Recording } from "./recording.js";
import { Records } from "./records.js";
import { useRedraw } from "./redraw.js";
import { Requests } from "./requests.js";
import { ask, file, live } from "./source.js";
import { Split } from "./split.js";
import { captionAt, Stories } from "./stories.js";
import { Brokers, Producers, Transactions } from "./tables.js";
import { recordingTime, stepAfter, stepBefore, Timeline } from "./timeline.js";

/**
 * @typedef {import("./model.js").Event} Event
 * @typedef {import("./model.js").Partition} Partition
 * @typedef {import("./stories.js").Story} Story
 */

const HEAD = 26;
/** Of so many brokers the address is shown. */
const MOST_SERVERS = 3;
/** While a story plays: how long an event that changes something stays, at speed 1. */
const STEP_MS = 900;

/** @returns {{mode: "live" | "file", path: string}} */
function sourceOf() {
  const given = new URLSearchParams(location.search);
  const path = given.get("file") ?? document.body.dataset.file ?? "";
  return path ? { mode: "file", path } : { mode: "live", path: "" };
}

/** Where the report of `mockbroker analyze` is, if there is one. */
const REPORT = new URLSearchParams(location.search).get("incidents");

function App() {
  const source = useMemo(sourceOf, []);
  const recordings = useRef({ live: new Recording(), told: /** @type {Recording | null} */ (null) });
  const [story, setStory] = useState(/** @type {Story | null} */ (null));
  const [stories, setStories] = useState(/** @type {Story[]} */ ([]));
  const [status, setStatus] = useState({ text: "connecting", bad: false });
  /** Which release it is, and where clients find it. */
  const [about, setAbout] = useState("");
  const [until, setUntil] = useState(0);
  const [oldest, setOldest] = useState(0);
  const [moment, setMoment] = useAddress("at");
  const at = /^\d+$/.test(moment) ? Number(moment) : null;
  const setAt = (/** @type {number | null} */ to) => setMoment(to === null ? "" : `${to}`);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [wantedTab, setTab] = useAddress("tab", REPORT ? "incidents" : "requests");
  const [storyFile, setStoryFile] = useAddress("story");
  const [report, setReport] = useState(/** @type {import("./incidents.js").Report | null} */ (null));
  const [wanted, setWanted] = useState(/** @type {{id: string, values: Record<string, string>} | null} */ (null));
  const [stretch, setStretch] = useAddress("stretch");
  const [filter, setFilter] = useAddress("partitions");
  const [internal, setInternal] = useMark("internal");
  const [chosen, setChosen] = useAddress("partition");
  const redraw = useRedraw();
  const { live: kept, told } = recordings.current;
  const limits = /^(\d+)-(\d+)$/.exec(stretch)?.slice(1).map(Number) ?? null;
  const past = usePast(kept, story ? 0 : oldest, at, limits, (to) => goTo(to));
  const recording = (story && told) || past.recording;

  useEffect(() => {
    const { live: own } = recordings.current;
    const sink = {
      events: (/** @type {Event[]} */ events, more = false) => {
        for (const event of events) own.add(event);
        if (!more) redraw(events.length);
      },
      drawn: () => redraw.now(),
      until: (/** @type {number} */ last, first = 0) => {
        setUntil(last);
        setOldest(first);
      },
      status: (/** @type {string} */ text, bad = false) => setStatus((now) => (now.text === text ? now : { text, bad })),
    };
    if (source.mode === "live") live(sink);
    else file(source.path, sink).then(() => redraw());
    if (REPORT) {
      ask(REPORT)
        .then((answer) => answer.json())
        .then(setReport)
        .catch((error) => setStatus({ text: `the report can't be read: ${error.message}`, bad: true }));
    }
    if (source.mode === "live") {
      ask("/cluster")
        .then((answer) => answer.json())
        .then(({ release, bootstrap_servers: servers }) => setAbout(` · Kafka ${release} at ${shortened(servers.split(","))}`))
        .catch(() => {});
    }
    fetch("stories/index.json")
      .then((answer) => (answer.ok ? answer.json() : []))
      .then((found) => {
        setStories(found);
        const wanted = storyFile || new URLSearchParams(location.search).get("story");
        const one = found.find((/** @type {Story} */ each) => each.file === wanted);
        if (one) tell(one, at);
        else setStoryFile("");
      })
      .catch(() => setStories([]));
  }, []);

  const loading = !story && kept.end < until;
  const canFollow = source.mode === "live" && !story;
  const following = canFollow && !loading && at === null;
  const number = at === null ? recording.end : Math.min(Math.max(at, recording.first), recording.end);
  const state = useMemo(() => recording.at(number), [recording, number, number === recording.end && recording.end]);

  const goTo = (/** @type {number} */ to) => {
    // What is there ends somewhere in the past, so that a step would lead nowhere in particular.
    if (loading) return;
    setPlaying(false);
    setAt(to);
  };
  const shown = useMemo(() => (limits ? recording.within(limits[0], limits[1]) : recording), [recording, stretch, recording.first, limits && Math.min(recording.end, limits[1])]);
  const brush = (/** @type {number} */ first, /** @type {number} */ last) => {
    setStretch(`${first}-${last}`);
    goTo(last);
  };
  const follow = () => {
    setPlaying(false);
    setAt(null);
  };
  const play = () => {
    if (loading) return;
    if (!playing && number >= recording.end) setAt(recording.first);
    else if (at === null) setAt(number);
    setPlaying(!playing);
  };
  const tell = async (/** @type {Story} */ one, /** @type {number | null} */ from = null) => {
    const told = new Recording();
    const sink = {
      events: (/** @type {Event[]} */ events) => events.forEach((event) => told.add(event)),
      until: () => {},
      status: (/** @type {string} */ text, bad = false) => bad && setStatus({ text, bad }),
    };
    await file(`stories/${one.file}`, sink);
    recordings.current.told = told;
    setStory(one);
    setStoryFile(one.file);
    setChosen(one.partition);
    setAt(from ?? one.captions[0]?.number ?? told.first);
    setSpeed(1);
    setPlaying(from === null && !matchMedia("(prefers-reduced-motion: reduce)").matches);
  };
  const leave = () => {
    recordings.current.told = null;
    setStory(null);
    setStoryFile("");
    setPlaying(false);
    setAt(null);
  };

  useEffect(() => {
    if (!playing) return;
    const caption = story?.captions.find((each) => each.number > number);
    const to = Math.min(stepAfter(recording, number) || Infinity, caption?.number ?? Infinity);
    if (to === Infinity) {
      const timer = setTimeout(() => {
        setAt(recording.end);
        setPlaying(false);
      }, STEP_MS / speed);
      return () => clearTimeout(timer);
    }
    const stays = story?.captions.some((each) => each.number === number) ? 3 : 1;
    const timer = setTimeout(() => setAt(to), (STEP_MS * stays) / speed);
    return () => clearTimeout(timer);
  }, [playing, number, speed, recording, story]);

  useKeys({
    " ": play,
    l: () => canFollow && follow(),
    ",": () => step(-1),
    ".": () => step(1),
  });
  const step = (/** @type {number} */ by) => {
    const to = (by > 0 ? stepAfter : stepBefore)(recording, number);
    if (to) goTo(to);
  };

  const act = (/** @type {string} */ id, /** @type {Record<string, string>} */ values) => {
    setWanted({ id, values });
    setTab("operations");
  };

  const [, setClient] = useAddress("client");
  const look = (/** @type {string} */ client) => {
    setClient(client);
    setTab("requests");
  };

  const partitions = [...state.partitions.values()]
    .filter((each) => each.name.includes(filter) && (internal || !each.topic.startsWith("__")))
    .sort((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1));
  /** @type {import("./incidents.js").Show} */
  const showMoment = (ms, { topic, partition }) => {
    goTo(recording.numberAt(ms));
    if (topic && partition !== null && partition !== undefined) setChosen(`${topic}-${partition}`);
  };
  const tabs = [
    ...(report && !story ? [["incidents", "Incidents"]] : []),
    ["requests", "What happened"],
    ["brokers", "Brokers"],
    ["groups", "Groups"],
    ...(canFollow ? [["records", "Records"]] : []),
    ["transactions", "Transactions"],
    ["producers", "Producers"],
    ["clients", "Clients"],
    ["changes", "Changes"],
    ...(canFollow ? [["faults", "Faults"], ["behaviours", "Behaviours"]] : []),
    ...(source.mode === "live" ? [["operations", "Do something"]] : []),
    ["stories", "Stories"],
  ];
  const tab = tabs.some(([id]) => id === wantedTab) ? wantedTab : "requests";
  // A copied address may be of a moment that is forgotten by now, or of another cluster.
  const isGone = at !== null && !loading && storyFile === (story?.file ?? "") && recording.events.length > 0 && at !== number;
  return html`<header>
      <h1>mockbroker</h1>
      <p class="status ${status.bad ? "bad" : ""}" role="status">
        ${story ? story.title : loading && !status.bad ? progress(recording, until) : status.text}${story || status.bad ? "" : about}${recording.events.length ? ` · ${new Date(recordingTime(recording, number)).toISOString().slice(0, 10)}` : ""}${past.loads ? ` · loading what was around event ${at}` : isGone ? ` · event ${at} is not there: this is the one nearest to it` : ""}
      </p>
      ${story && html`<button type="button" onClick=${leave}>leave the story</button>`}
      <${Theme} />
    </header>
    ${story && html`<p class="caption" role="status">${captionAt(story, number)}</p>`}
    <${Width}>${(/** @type {number} */ width) => html`<${Timeline}
      recording=${recording} number=${number} until=${loading ? until : 0} live=${following} playing=${playing} speed=${speed} width=${width}
      canFollow=${canFollow} goTo=${goTo} goToTime=${story ? (/** @type {number} */ ms) => goTo(recording.numberAt(ms)) : past.goToTime} follow=${follow} play=${play} setSpeed=${setSpeed}
      oldest=${canFollow && oldest < kept.first ? oldest : 0} newest=${kept.end}
      stretch=${limits} brush=${brush} forget=${() => setStretch("")} />`}<//>
    <${Split} label="how wide partitions are">
      <section class="partitions" aria-label="partitions">
        <div class="filters">
          <label>partitions <input type="search" value=${filter} placeholder="topic" onInput=${(/** @type {any} */ e) => setFilter(e.currentTarget.value)} /></label>
          <label><input type="checkbox" checked=${internal} onChange=${() => setInternal(!internal)} /> internal</label>
          <span>${partitions.length} of ${state.partitions.size}</span>
        </div>
        <${Overview} partitions=${partitions} state=${state} chosen=${chosen} choose=${setChosen} />
        <${Partitions} partitions=${partitions} state=${state} chosen=${chosen} choose=${setChosen} />
        <p class="legend">
          <span class="key high-watermark">high watermark</span> <span class="key last-stable">last stable offset</span>
          <span class="key committed">▲ committed</span> <span class="key position">◆ client asks from</span>
          colours and numbers in bars: leader epochs · ✕ not in sync
        </p>
      </section>
      <section class="side">
        <div class="tabs" role="tablist" aria-label="views" onKeyDown=${toNeighbour}>
          ${tabs.map(
            ([id, title]) => html`<button type="button" role="tab" id=${`tab-${id}`} aria-selected=${tab === id} tabindex=${tab === id ? 0 : -1} aria-controls="view" onClick=${() => setTab(id)}>${title}</button>`,
          )}
        </div>
        <div id="view" role="tabpanel" aria-labelledby=${`tab-${tab}`}>
          ${tab === "incidents" && report && html`<${Incidents} report=${report} show=${showMoment} />`}
          ${tab === "requests" && html`<${Requests} recording=${shown} number=${number} goTo=${goTo} />`}
          ${tab === "brokers" && html`<${Brokers} state=${state} recording=${shown} number=${number} />`}
          ${tab === "groups" && html`<${Groups} state=${state} recording=${shown} number=${number} live=${following} act=${canFollow ? act : null} />`}
          ${tab === "records" && canFollow && html`<${Records} state=${state} chosen=${chosen} choose=${setChosen} act=${act} now=${recording.last} />`}
          ${tab === "transactions" && html`<${Transactions} state=${state} />`}
          ${tab === "producers" && following && html`<${Hints} nothing="Nothing is known for which a client would wait." />`}
          ${tab === "producers" && html`<${Producers} state=${state} />`}
          ${tab === "clients" && html`<${Clients} recording=${shown} number=${number} look=${look} />`}
          ${tab === "changes" && html`<${Changes} recording=${recording} stretch=${limits} />`}
          ${tab === "faults" && canFollow && html`<${Faults} recording=${shown} act=${act} />`}
          ${tab === "behaviours" && canFollow && html`<${Behaviours} recording=${recording} act=${act} />`}
          ${tab === "operations" && html`<${Operations} state=${state} recording=${recording} chosen=${chosen} goTo=${goTo} wanted=${wanted} />`}
          ${tab === "stories" && html`<${Stories} stories=${stories} chosen=${story} tell=${tell} />`}
        </div>
      </section>
    <//>`;
}

/** @param {string[]} servers */
function shortened(servers) {
  const more = servers.length - MOST_SERVERS;
  return [...servers.slice(0, MOST_SERVERS), ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
}

/** @param {Recording} recording @param {number} until the number of the last event */
function progress({ events, first }, until) {
  const whole = until === Infinity ? "" : ` of ${until - Math.max(first, 1) + 1}`;
  return `loading: ${events.length}${whole} events`;
}

/** @param {{partitions: Partition[], state: import("./model.js").State, chosen: string, choose: (name: string) => void}} props */
function Partitions({ partitions, state, chosen, choose }) {
  const most = Math.max(1, ...partitions.map((each) => each.lanes().length));
  const marked = partitions.some((each) => markersOf(each, state).length > 0);
  const height = HEAD + heightOf(most, marked);
  return html`<${Width}>${(/** @type {number} */ width) => html`<${List} label="partitions" class="lanes-list" count=${partitions.length} height=${height} target=${chosen} to=${partitions.findIndex((each) => each.name === chosen)}
    render=${(/** @type {number} */ index) => {
      const one = partitions[index];
      return html`<div role="listitem" key=${one.name} class="partition ${one.name === chosen ? "chosen" : ""}" data-partition=${one.name} style=${{ height: `${height}px` }}>
        <button type="button" class="name" onClick=${() => choose(one.name)}>
          ${one.name} <small>${one.leader < 0 ? "no leader" : `leader ${one.leader}`}, epoch ${one.leaderEpoch}, ISR ${one.isr.join(" ") || "–"}, high watermark ${one.highWatermark}</small>
        </button>
        <${Lanes} partition=${one} state=${state} width=${width - 18} />
      </div>`;
    }} />`}<//>`;
}

/** @param {KeyboardEvent} event from one tab to the next, as arrows do in lists of tabs */
function toNeighbour(event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  const list = /** @type {HTMLElement} */ (event.currentTarget);
  const tabs = [...list.querySelectorAll("button")];
  const next = tabs[(tabs.indexOf(/** @type {HTMLButtonElement} */ (event.target)) + by + tabs.length) % tabs.length];
  next.focus();
  next.click();
}

/** Gives its content the width that there is. @param {{children: any}} props */
function Width({ children }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(element.clientWidth));
    watch.observe(element);
    setWidth(element.clientWidth);
    return () => watch.disconnect();
  }, []);
  const draw = Array.isArray(children) ? children[0] : children;
  return html`<div ref=${box} class="width">${width > 0 && draw(width)}</div>`;
}

const THEMES = ["auto", "light", "dark"];

function Theme() {
  const [theme, setTheme] = useState(localStorage.getItem("theme") ?? "auto");
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("theme", theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  return html`<button type="button" onClick=${() => setTheme(next)} title="choose ${next}">${theme}</button>`;
}

/** @param {Record<string, () => void>} keys */
function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const pressed = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) return;
      if (event.key === " " && target.tagName === "BUTTON") return;
      const act = latest.current[event.key];
      if (act) {
        event.preventDefault();
        act();
      }
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const place = /** @type {HTMLElement} */ (document.getElementById("app"));
place.replaceChildren();
render(html`<${App} />`, place);
