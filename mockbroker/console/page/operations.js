import { html, useEffect, useMemo, useRef, useState } from "./html.js";
import { asCtl, asCurl, asPytest, asScenario, parts, toClipboard } from "./copying.js";
import { DoneList, doneSoFar, keep } from "./doing.js";
import { Hits, seenIn, suggestionsFor, usePreview } from "./faults.js";
import { Argument, FieldError, fieldOf, valueOf } from "./fields.js";
import { ask } from "./source.js";
import { time } from "./words.js";

/**
 * @typedef {import("./copying.js").Call} Call
 * @typedef {import("./fields.js").Field} Field
 * @typedef {{title: string, about: string, fields: Field[]}} Variant
 *   one of several kinds of what an operation takes, with fields of its own: `title` is the value of the field `do` then
 * @typedef {{id: string, method: string, path: string, summary: string, tag: string, fields: Field[], variants: Variant[]}} Operation
 * @typedef {import("./model.js").State} State
 * @typedef {import("./recording.js").Recording} Recording
 */

const KIND = "do";
/** Which requests a fault is for; its other fields say how often, and when. */
const WHICH = ["api", "topic", "partition", "group", "client_id", "user", "mechanism", "listener", "transactional_id", "broker", "version"];
const LAST = ["name", "optional"];

/**
 * The operations that change something, from the description of the control API.
 * @param {any} document
 * @returns {Operation[]}
 */
export function operationsOf(document) {
  /** @type {Operation[]} */
  const found = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, one] of Object.entries(/** @type {Record<string, any>} */ (methods))) {
      // Nothing is done by a preview, and other clusters are not on this page.
      if (method === "get" || one.operationId === "faults-preview" || one.tags[0] === "clusters") continue;
      const body = one.requestBody?.content?.["application/json"]?.schema ?? {};
      const inPath = (one.parameters ?? []).map((/** @type {any} */ each) => fieldOf(each.name, each.schema, each.required, each.description));
      /** @type {Variant[]} */
      const variants = (body.oneOf ?? []).map((/** @type {any} */ each) => ({ title: each.title, about: each.description, fields: fieldsOf(each) }));
      const fields = [...inPath, ...fieldsOf(body)].map((each) =>
        variants.length && each.name === KIND ? { ...each, choices: variants.map((one) => one.title) } : each,
      );
      found.push({ id: one.operationId, method, path, summary: one.summary, tag: one.tags[0], fields, variants });
    }
  }
  return found;
}

/** @param {any} schema of an object @returns {Field[]} those that are chosen or typed */
function fieldsOf({ properties = {}, required = [] }) {
  return Object.entries(properties)
    .filter(([, schema]) => /** @type {any} */ (schema).const === undefined)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)));
}

/**
 * The fields of an operation as they are grouped on the page.
 * @param {Operation} operation @param {Variant | undefined} variant
 * @returns {{title: string, fields: Field[]}[]}
 */
export function groupsOf({ fields, variants }, variant) {
  if (!variants.length) return [{ title: "", fields }];
  const own = variant?.fields ?? [];
  const is = (/** @type {string[]} */ names) => (/** @type {Field} */ each) => names.includes(each.name);
  const which = WHICH.flatMap((name) => fields.filter(is([name])));
  return [
    { title: "What goes wrong", fields: [...fields.filter(is([KIND])), ...own.filter((each) => each.name !== "when")] },
    { title: "With which requests", fields: which },
    { title: "When, and how often", fields: [...own.filter(is(["when"])), ...fields.filter((each) => !is([KIND, ...WHICH, ...LAST])(each)), ...fields.filter(is(LAST))] },
  ];
}

/**
 * What a form begins with. It stays as it is while the cluster changes, so that doing it again does the same again.
 * @param {State} state @param {string} chosen the name of a partition, or none
 * @returns {Record<string, string>}
 */
function beginning(state, chosen) {
  const there = state.partitions.get(chosen) ?? [...state.partitions.values()].find((each) => !each.topic.startsWith("__"));
  return { do: "disconnect", topic: there?.topic ?? "", partition: String(there?.partition ?? 0), broker: String(there?.leader ?? 1) };
}

/**
 * Paragraphs, in which what is between backquotes is code.
 * @param {{text: string}} props
 */
function About({ text }) {
  const told = (/** @type {string} */ paragraph) => paragraph.split("`").map((part, index) => (index % 2 ? html`<code>${part}</code>` : part));
  return text.split("\n\n").map((paragraph) => html`<p class="summary about">${told(paragraph)}</p>`);
}

const NOTHING = { text: "", bad: false, field: "" };
/** From then on it is said that there is no answer yet. */
const SLOW_MS = 300;
/** The outcome of an operation whose tab had been left: shown when the tab is opened again. */
let missed = NOTHING;

function takeMissed() {
  const found = missed;
  missed = NOTHING;
  return found;
}

/** @param {unknown} error */
function failed(error) {
  return { text: error instanceof Error ? error.message : String(error), bad: true, field: error instanceof FieldError ? error.field : "" };
}

/**
 * @param {{state: State, recording: Recording, chosen: string, goTo: (number: number) => void,
 *   wanted: {id: string, values: Record<string, string>} | null}} props
 *   `chosen` is the name of the partition that is chosen, or none; `wanted` is what the form begins with
 */
export function Operations({ state, recording, chosen, goTo, wanted }) {
  const [operations, setOperations] = useState(/** @type {Operation[]} */ ([]));
  const [id, setId] = useState(wanted?.id ?? "partitions-move-leader");
  const [texts, setTexts] = useState(/** @type {Record<string, string>} */ (wanted?.values ?? {}));
  const [outcome, setOutcome] = useState(takeMissed);
  /** Counts the forms that were opened; 0 once the tab is left. */
  const form = useRef(1);
  useEffect(() => () => void (form.current = 0), []);
  const [done, setDone] = useState(doneSoFar);
  const [policies, setPolicies] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    ask("/openapi.json")
      .then((answer) => answer.json())
      .then((document) => setOperations(operationsOf(document)))
      .catch((error) => setOutcome(failed(error)));
    ask("/policies")
      .then((answer) => answer.json())
      .then((found) => setPolicies(found))
      .catch(() => {});
  }, []);
  const operation = operations.find((each) => each.id === id);
  const usual = useMemo(() => beginning(state, chosen), [id, chosen, state.partitions.size > 0]);
  const text = (/** @type {Field} */ each) => texts[each.name] ?? (each.required ? (usual[each.name] ?? "") : "");
  const kind = operation?.fields.find((each) => each.name === KIND);
  const variant = operation?.variants.find((each) => kind && each.title === text(kind));
  const groups = operation ? groupsOf(operation, variant) : [];
  const fields = groups.flatMap((each) => each.fields);
  const missing = fields.filter((each) => each.required && text(each) === "").map((each) => each.name);

  /** What has been typed so far; FieldError. @returns {Record<string, any>} */
  const values = () => Object.fromEntries(fields.filter((each) => text(each) !== "").map((each) => [each.name, valueOf(each, text(each))]));
  /** @returns {Call} */
  const call = () => {
    if (!operation) throw new Error("no operation is chosen");
    if (missing.length) throw new FieldError(missing[0], `${missing[0]} is needed`);
    const required = operation.fields.filter((each) => each.required).map((each) => each.name);
    return { id, method: operation.method, path: operation.path, values: values(), required };
  };
  let typed = null;
  let mistyped = NOTHING;
  try {
    typed = values();
  } catch (error) {
    mistyped = failed(error);
  }
  const isFault = Boolean(operation?.variants.length);
  const preview = usePreview(isFault && !missing.length ? typed : null, recording);
  const seen = useMemo(() => (isFault ? seenIn(recording) : { apis: [], clients: [] }), [isFault, recording, preview]);

  const change = (/** @type {import("./doing.js").Done[]} */ list) => {
    keep(list);
    setDone(list);
  };
  const run = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const mine = form.current;
    const name = id.replace("-", " ");
    const since = Date.now();
    const tell = (/** @type {typeof NOTHING} */ told) => {
      if (form.current === mine) return setOutcome(told);
      const late = { ...told, text: `${name} of ${time(since)}: ${told.text}`, field: "" };
      if (form.current) setOutcome(late);
      else missed = late;
    };
    const slow = setTimeout(() => form.current === mine && setOutcome({ ...NOTHING, text: `no answer yet, since ${time(since)}` }), SLOW_MS);
    try {
      const given = call();
      const { path, query, body } = parts(given);
      const answer = await ask(path + query, {
        method: operation?.method.toUpperCase(),
        ...(Object.keys(body).length ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}),
      });
      const told = await answer.json().catch(() => ({}));
      if (answer.ok) {
        tell({ text: `done: ${JSON.stringify(told).slice(0, 300)}`, bad: false, field: "" });
        // Others may have been done meanwhile.
        change([...doneSoFar(), { call: given, atMs: since }].sort((a, b) => a.atMs - b.atMs));
      } else tell({ text: told.error ?? `status ${answer.status}`, bad: true, field: told.field ?? "" });
    } catch (error) {
      tell(failed(error));
    } finally {
      clearTimeout(slow);
    }
  };
  const copy = async (/** @type {(call: Call) => string} */ as) => {
    try {
      const line = as(call());
      setOutcome({ text: line, bad: false, field: "" });
      await toClipboard(line);
    } catch (error) {
      setOutcome(failed(error));
    }
  };
  const choose = (/** @type {string} */ one, /** @type {Record<string, string>} */ given = {}) => {
    form.current += 1;
    setId(one);
    setTexts(given);
    setOutcome(NOTHING);
  };
  const set = (/** @type {Field} */ each, /** @type {string} */ value) => {
    const stays = (/** @type {string} */ name) => each.name !== KIND || !variant?.fields.some((own) => own.name === name);
    // Two fields may be set before the form is drawn again.
    setTexts((now) => ({ ...Object.fromEntries(Object.entries(now).filter(([name]) => stays(name))), [each.name]: value }));
    if (outcome.bad) setOutcome(NOTHING);
  };
  const choices = (/** @type {Field} */ each) => {
    if (id.startsWith("policies-") && each.name === "name") return policies.map((one) => one.name);
    if (id === "policies-set" && each.name === "answer") return policies.find((one) => one.name === texts.name)?.answers ?? [];
    return each.choices;
  };
  const apis = (texts.api ?? "").split(",").map((each) => each.trim());
  const wrong = [mistyped, outcome, { text: preview?.error ?? "", field: preview?.field ?? "" }];
  const argument = (/** @type {Field} */ each) => html`<${Argument} key=${each.name} field=${{ ...each, choices: choices(each) }} text=${text(each)}
    suggestions=${isFault ? suggestionsFor(each, state, seen, apis) : []}
    wrong=${wrong.find((one) => one.field === each.name)?.text ?? ""} set=${(/** @type {string} */ value) => set(each, value)} />`;
  return html`<form class="operations" onSubmit=${run} noValidate>
    <label>operation
      <select value=${id} onChange=${(/** @type {any} */ e) => choose(e.currentTarget.value)}>
        ${operations.map((each) => html`<option value=${each.id}>${each.id.replace("-", " ")}</option>`)}
      </select>
    </label>
    ${operation ? html`<p class="summary">${operation.summary}</p>` : !outcome.bad && html`<p class="loading">Asking what can be done …</p>`}
    ${groups.map(({ title, fields: shown }) =>
      title ? html`<fieldset key=${title}><legend>${title}</legend>
        <div class="grid">${shown.map(argument)}</div>
        ${shown[0]?.name === KIND && variant && html`<${About} text=${variant.about} />`}
      </fieldset>` : shown.map(argument))}
    ${isFault && html`<${Hits} preview=${mistyped.field ? { error: mistyped.text, field: mistyped.field } : preview} missing=${missing} recording=${recording} goTo=${goTo} />`}
    <div class="controls">
      <button type="submit" class="run" disabled=${!operation}>Do it</button>
      <button type="button" disabled=${!operation} onClick=${() => copy(asPytest)}>copy as pytest</button>
      <button type="button" disabled=${!operation} onClick=${() => copy(asCurl)}>copy as curl</button>
      <button type="button" disabled=${!operation} onClick=${() => copy(asScenario)}>copy as scenario</button>
      <button type="button" disabled=${!operation} onClick=${() => copy(asCtl)}>copy as ctl</button>
    </div>
    <pre class="outcome ${outcome.bad ? "bad" : ""}" role="status" tabindex="0">${outcome.text}</pre>
    <${DoneList} done=${done} clear=${() => change([])} undo=${choose} />
  </form>`;
}
