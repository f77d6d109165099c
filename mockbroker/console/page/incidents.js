import { html } from "./html.js";
import { Plot } from "./plot.js";
import { time, visible } from "./words.js";

/**
 * What `mockbroker analyze` found in the trace that is shown, and in other files: its `incidents.json`.
 *
 * @typedef {{file: string, position: number, time_ms: number | null, text: string}} Evidence
 * @typedef {{confidence: string, why: string, summary: string, signature: string, ids: string[], behaviours: string[],
 *   topic: string | null, partition: number | null, group: string | null, broker: number | null, evidence: Evidence[]}} Finding
 * @typedef {{time_ms: number, because: number | null, link: string, finding: Finding}} Link
 *   an event of an incident; `because` is the place of the one from which it followed
 * @typedef {{name: string, confidence: string, story: string, ruled_out: string[], events: Link[], symptoms: number[]}} Incident
 * @typedef {{name: string, told: string, from_ms: number, topic: string | null, partition: number | null,
 *   explained_by: number[], looked: string[], missing: string[], before: string[], evidence: Evidence[]}} Symptom
 * @typedef {{told: string, from_ms: number}} Act
 * @typedef {import("./plot.js").Point} Point
 * @typedef {{incident: number | null, topic: string, partition: number, offsets: Record<string, Point[]>, lag: Record<string, Point[]>,
 *   marks: Point[]}} Drawn the ledger of a partition around an incident; `marks` are the times of its events, by their number
 * @typedef {{shown: string, incidents: Incident[], symptoms: Symptom[], acts?: Act[], plots?: Drawn[]}} Report
 *   `shown` is the file of the trace; reports of earlier versions have no plots
 * @typedef {(ms: number, about: {topic?: string | null, partition?: number | null}) => void} Show shows a moment and a partition
 */

const MOST = 100;
const SPACE = " ";

/** @param {{ms: number, about: object, show: Show}} props */
function Moment({ ms, about, show }) {
  return html`<button type="button" class="moment" title="show this moment" onClick=${() => show(ms, about)}>${time(ms)}</button>`;
}

/** @param {{rows: Evidence[], about: object, shown: string, show: Show}} props */
function Proof({ rows, about, shown, show }) {
  return html`<details><summary>evidence</summary><ul>
    ${rows.slice(0, MOST).map(
      (each) => html`<li>${each.time_ms !== null && html`<${Moment} ms=${each.time_ms} about=${about} show=${show} />`} ${visible(each.text)}${SPACE}
        <small>${each.file === shown ? `line ${each.position}` : `${each.file}:${each.position}`}</small></li>`,
    )}
  </ul></details>`;
}

/** @param {{drawn: Drawn}} props */
function Ledger({ drawn }) {
  const { topic, partition, offsets, lag, marks } = drawn;
  const times = [...Object.values(offsets).flat(), ...marks].map(([ms]) => ms);
  const [from, until] = [Math.min(...times), Math.max(...times)];
  const plots = [
    { what: "offsets", lines: offsets, low: undefined, height: 150 },
    { what: "lag", lines: lag, low: 0, height: 90 },
  ];
  return plots.map(({ what, lines, low, height }) => {
    const series = Object.entries(lines).filter(([, points]) => points.length).map(([name, points]) => ({ name, points }));
    if (!series.length) return "";
    const words = `${what} of ${topic}-${partition}: ${series.map(({ name, points }) => `${name} from ${points[0][1]} to ${points[points.length - 1][1]}`).join(", ")}`;
    return html`<figure class="lag"><figcaption>${visible(words)}</figcaption>
      <${Plot} words=${visible(words)} series=${series.map((each) => ({ ...each, name: visible(each.name) }))} from=${from} until=${until} low=${low} height=${height} marks=${marks} /></figure>`;
  });
}

/** @param {{incident: Incident, report: Report, show: Show}} props */
function Told({ incident, report, show }) {
  const { name, confidence, story, ruled_out = [], events, symptoms = [] } = incident;
  const cause = events[0].finding;
  const { why } = cause;
  const { plots = [] } = report;
  const matched = [...cause.ids, ...cause.behaviours];
  return html`<article class=${confidence}>
    <h3>${name} <small>${confidence}, because ${why}</small></h3>
    <p><${Moment} ms=${events[0].time_ms} about=${cause} show=${show} /> <strong>${visible(story)}</strong></p>
    ${matched.length > 0 && html`<p>Matches ${matched.join(", ")}.</p>`}
    ${plots.filter((each) => each.incident === report.incidents.indexOf(incident)).map((each) => html`<${Ledger} drawn=${each} />`)}
    <ol>
      ${events.slice(0, MOST).map(
        ({ time_ms, because, link, finding }) => html`<li><${Moment} ms=${time_ms} about=${finding} show=${show} /> ${visible(finding.summary)}
          ${because !== null && html`<p class="dim">${`${finding.signature}, ${finding.confidence}: ${finding.why}. It followed from ${because + 1}: ${link}.`}</p>`}
          <${Proof} rows=${finding.evidence} about=${finding} shown=${report.shown} show=${show} /></li>`,
      )}
    </ol>
    ${events.length > MOST && html`<p>${events.length - MOST} more are in incidents.json.</p>`}
    ${symptoms.length > 0 && html`<p>What was noticed:</p><ul>${symptoms.slice(0, MOST).map((each) => html`<${Noticed} symptom=${report.symptoms[each]} shown=${report.shown} show=${show} />`)}</ul>`}
    ${ruled_out.length > 0 && html`<details><summary>ruled out</summary><ul>${ruled_out.map((each) => html`<li>${visible(each)}</li>`)}</ul></details>`}
  </article>`;
}

/** @param {{symptom: Symptom, shown: string, show: Show}} props */
function Noticed({ symptom, shown, show }) {
  const { told, from_ms, looked, before, missing, explained_by } = symptom;
  const where = explained_by.length
    ? []
    : [
        ...(looked.length ? [`No known cause in ${looked.join("; nor in ")}.`] : []),
        ...before.map((each) => `Perhaps because of what an administrator did: ${each}.`),
        ...(missing.length ? [`Its cause may be told elsewhere: ${missing.join("; ")}.`] : []),
      ];
  return html`<li><${Moment} ms=${from_ms} about=${symptom} show=${show} /> ${visible(told)}
    ${where.map((each) => html`<p class="dim">${visible(each)}</p>`)}
    <${Proof} rows=${symptom.evidence} about=${symptom} shown=${shown} show=${show} /></li>`;
}

/** @param {{report: Report, show: Show}} props */
export function Incidents({ report, show }) {
  const { incidents, symptoms, acts = [], plots = [], shown } = report;
  const open = symptoms.filter((each) => !each.explained_by.length);
  return html`<div class="incidents">
    ${!incidents.length && html`<p class="nothing">No known bug was found in the files that were read.</p>`}
    ${plots.filter((each) => each.incident === null).map((each) => html`<${Ledger} drawn=${each} />`)}
    ${incidents.slice(0, MOST).map((each) => html`<${Told} incident=${each} report=${report} show=${show} />`)}
    ${incidents.length > MOST && html`<p>${incidents.length - MOST} more are in incidents.json.</p>`}
    ${open.length > 0 && html`<h3>Noticed, without a known cause</h3>
      <ul>${open.slice(0, MOST).map((each) => html`<${Noticed} symptom=${each} shown=${shown} show=${show} />`)}</ul>`}
    ${acts.length > 0 && html`<h3>What was done</h3>
      <ul>${acts.slice(0, MOST).map((each) => html`<li><${Moment} ms=${each.from_ms} about=${each} show=${show} /> ${visible(each.told)}</li>`)}</ul>`}
  </div>`;
}
