import { asCtl, asCurl, asPytest, asScenario, toClipboard } from "./copying.js";
import { html, useState } from "./html.js";
import { time } from "./words.js";

/**
 * What was done on this page, to be done again in a test.
 *
 * @typedef {import("./copying.js").Call} Call
 * @typedef {{call: Call, atMs: number}} Done `atMs` is the browser's time
 */

const KEPT = "done";
const INDENT = "    ";

/** What ends what the operation began, with values of the same names. @type {Record<string, string>} */
export const OPPOSITE = {
  "brokers-stop": "brokers-start",
  "brokers-kill": "brokers-start",
  "brokers-start": "brokers-stop",
  "brokers-cut-off": "brokers-rejoin",
  "followers-pause": "followers-resume",
  "followers-slow": "followers-resume",
  "followers-fail": "followers-resume",
  "listeners-close": "listeners-open",
  "listeners-open": "listeners-close",
  "handshakes-break": "handshakes-mend",
  "acls-add": "acls-remove",
  "acls-remove": "acls-add",
  "policies-set": "policies-reset",
  "topics-create": "topics-delete",
  "faults-add": "faults-remove",
  "faults-pause": "faults-release",
  "faults-release": "faults-pause",
};

/** @returns {Done[]} what was done in this tab, also before the page was loaded again */
export function doneSoFar() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");
  } catch {
    return [];
  }
}

/** @param {Done[]} done */
export function keep(done) {
  sessionStorage.setItem(KEPT, JSON.stringify(done));
}

/** @param {Done[]} done @returns {string} a test in which the same happens, one thing after the other */
export function testOf(done) {
  const lines = ["cluster = mock_cluster", ...done.map(({ call }) => asPytest(call)), "# Now your client: what does it do?"];
  return ["def test_what_was_done(mock_cluster):", ...lines.map((each) => INDENT + each), ""].join("\n");
}

/** @param {Done[]} done @returns {string} faults are there from the start; steps come as far apart as they were */
export function scenarioOf(done) {
  const first = done[0]?.atMs ?? 0;
  const faults = done.filter(({ call }) => call.id === "faults-add");
  const steps = done.filter(({ call }) => call.id !== "faults-add");
  const parts = [...faults, ...steps].map(({ call, atMs }) => asScenario(call, 1000 + Math.round(atMs - first)));
  return `${parts.join("\n\n")}\n`;
}

/** @param {Done[]} done @param {(call: Call) => string} as @returns {string} */
export function scriptOf(done, as) {
  return ["set -e", ...done.map(({ call }) => as(call)), ""].join("\n");
}

/**
 * @param {{done: Done[], clear: () => void, undo: (id: string, values: Record<string, string>) => void}} props
 *   `undo` opens the form of an operation
 */
export function DoneList({ done, clear, undo }) {
  const [text, setText] = useState("");
  if (!done.length) return html`<p class="nothing">What you do here is kept, to be copied as a test.</p>`;
  const copy = async (/** @type {string} */ copied) => {
    setText(copied);
    await toClipboard(copied);
  };
  return html`<section class="done" aria-label="done so far">
    <h3>Done so far</h3>
    <ol>
      ${done.map(({ call, atMs }) => {
        const opposite = OPPOSITE[call.id];
        const given = Object.fromEntries(Object.entries(call.values).map(([name, value]) => [name, String(value)]));
        return html`<li>
          <span class="moment">${time(atMs).slice(0, 8)}</span> <code>${asPytest(call)}</code>
          ${opposite && (call.id !== "faults-add" || given.name) && html` <button type="button" onClick=${() => undo(opposite, given)}>${opposite.replace("-", " ")} …</button>`}
        </li>`;
      })}
    </ol>
    <div class="controls">
      <button type="button" onClick=${() => copy(testOf(done))}>copy all as pytest</button>
      <button type="button" onClick=${() => copy(scenarioOf(done))}>all as scenario</button>
      <button type="button" onClick=${() => copy(scriptOf(done, asCtl))}>all as ctl</button>
      <button type="button" onClick=${() => copy(scriptOf(done, asCurl))}>all as curl</button>
      <button type="button" onClick=${clear}>forget it</button>
    </div>
    ${text && html`<pre class="copied" tabindex="0">${text}</pre>`}
  </section>`;
}
