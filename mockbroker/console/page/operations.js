import { html, useEffect, useMemo, useState } from "./html.js";
import { asCurl, asPytest, asScenario, parts } from "./copying.js";
import { ask } from "./source.js";

/**
 * @typedef {import("./copying.js").Call} Call
 * @typedef {{name: string, kind: string, required: boolean, description: string, choices?: string[]}} Field
 * @typedef {{id: string, method: string, path: string, summary: string, tag: string, fields: Field[]}} Operation
 * @typedef {import("./model.js").State} State
 */

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
      if (method === "get") continue;
      const body = one.requestBody?.content?.["application/json"]?.schema ?? {};
      const fields = [
        ...(one.parameters ?? []).map((/** @type {any} */ each) => field(each.name, each.schema, each.required, each.description)),
        ...Object.entries(body.properties ?? {}).map(([name, schema]) =>
          field(name, schema, (body.required ?? []).includes(name), /** @type {any} */ (schema).description),
        ),
      ];
      found.push({ id: one.operationId, method, path, summary: one.summary, tag: one.tags[0], fields });
    }
  }
  return found;
}

const SIMPLE = new Set(["string", "integer", "number", "boolean"]);

/** @param {string} name @param {any} schema @param {boolean} required @param {string} [description] @returns {Field} */
function field(name, schema, required, description) {
  const variants = (schema.anyOf ?? [schema]).filter((/** @type {any} */ each) => each.type !== "null");
  const kinds = variants.map((/** @type {any} */ each) => each.type);
  const kind = SIMPLE.has(kinds[0]) && kinds.length === 1 ? kinds[0] : kinds.includes("string") ? "string" : "json";
  const choices = variants.find((/** @type {any} */ each) => each.enum)?.enum;
  return { name, kind: choices ? "string" : kind, required, description: description ?? schema.description ?? "", choices };
}

/**
 * What was typed, as a value.
 * @param {Field} field @param {string} text @returns {any}
 */
export function valueOf({ kind, name }, text) {
  if (kind === "integer" || kind === "number") {
    const number = Number(text);
    if (Number.isNaN(number)) throw new Error(`${name} is ${text}: give a number`);
    return number;
  }
  if (kind === "boolean") return text === "true";
  if (kind === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} is not JSON: ${text}`);
  }
}

/**
 * What a form begins with. It stays as it is while the cluster changes, so that doing it again does the same again.
 * @param {State} state @param {string} chosen the name of a partition, or none
 * @returns {Record<string, string>}
 */
function beginning(state, chosen) {
  const there = state.partitions.get(chosen) ?? [...state.partitions.values()].find((each) => !each.topic.startsWith("__"));
  return { topic: there?.topic ?? "", partition: String(there?.partition ?? 0), broker: String(there?.leader ?? 1) };
}

/** @param {{state: State, chosen: string}} props the name of the partition that is chosen, or none */
export function Operations({ state, chosen }) {
  const [operations, setOperations] = useState(/** @type {Operation[]} */ ([]));
  const [id, setId] = useState("partitions-move-leader");
  const [texts, setTexts] = useState(/** @type {Record<string, string>} */ ({}));
  const [outcome, setOutcome] = useState({ text: "", bad: false });
  const [policies, setPolicies] = useState(/** @type {any[]} */ ([]));
  useEffect(() => {
    ask("/openapi.json")
      .then((answer) => answer.json())
      .then((document) => setOperations(operationsOf(document)))
      .catch((error) => setOutcome({ text: String(error), bad: true }));
    ask("/policies")
      .then((answer) => answer.json())
      .then((found) => setPolicies(found))
      .catch(() => {});
  }, []);
  const operation = operations.find((each) => each.id === id);
  const usual = useMemo(() => beginning(state, chosen), [id, chosen, state.partitions.size > 0]);
  const text = (/** @type {Field} */ each) => texts[each.name] ?? (each.required ? (usual[each.name] ?? "") : "");
  /** @returns {Call} */
  const call = () => {
    if (!operation) throw new Error("no operation is chosen");
    /** @type {Record<string, any>} */
    const values = {};
    for (const each of operation.fields) {
      const given = text(each);
      if (given !== "") values[each.name] = valueOf(each, given);
      else if (each.required) throw new Error(`${each.name} is needed`);
    }
    return { id, method: operation.method, path: operation.path, values };
  };
  const run = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const { path, query, body } = parts(call());
      const answer = await ask(path + query, {
        method: operation?.method.toUpperCase(),
        ...(Object.keys(body).length ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } } : {}),
      });
      const told = await answer.json().catch(() => ({}));
      setOutcome({ text: answer.ok ? `done: ${JSON.stringify(told).slice(0, 300)}` : (told.error ?? `status ${answer.status}`), bad: !answer.ok });
    } catch (error) {
      setOutcome({ text: error instanceof Error ? error.message : String(error), bad: true });
    }
  };
  const copy = async (/** @type {(call: Call) => string} */ as) => {
    try {
      const line = as(call());
      setOutcome({ text: line, bad: false });
      await navigator.clipboard?.writeText(line).catch(() => {});
    } catch (error) {
      setOutcome({ text: error instanceof Error ? error.message : String(error), bad: true });
    }
  };
  const choices = (/** @type {Field} */ each) => {
    if (id.startsWith("policies-") && each.name === "name") return policies.map((one) => one.name);
    if (id === "policies-set" && each.name === "answer") return policies.find((one) => one.name === texts.name)?.answers ?? [];
    return each.choices ?? [];
  };
  return html`<form class="operations" onSubmit=${run}>
    <label>operation
      <select value=${id} onChange=${(/** @type {any} */ e) => { setId(e.currentTarget.value); setTexts({}); setOutcome({ text: "", bad: false }); }}>
        ${operations.map((each) => html`<option value=${each.id}>${each.id.replace("-", " ")}</option>`)}
      </select>
    </label>
    ${operation && html`<p class="summary">${operation.summary}</p>`}
    ${operation?.fields.map((each) => {
      const listed = choices(each);
      const set = (/** @type {any} */ e) => setTexts({ ...texts, [each.name]: e.currentTarget.value });
      return html`<label class="argument" title=${each.description}>${each.name}${each.required ? " *" : ""}
        ${listed.length
          ? html`<select name=${each.name} value=${text(each)} onChange=${set}><option value=""></option>${listed.map((/** @type {string} */ one) => html`<option>${one}</option>`)}</select>`
          : html`<input name=${each.name} value=${text(each)} placeholder=${each.kind === "json" ? "JSON" : each.kind} onInput=${set} />`}
      </label>`;
    })}
    <div class="controls">
      <button type="submit" class="run">Do it</button>
      <button type="button" onClick=${() => copy(asPytest)}>copy as pytest</button>
      <button type="button" onClick=${() => copy(asCurl)}>copy as curl</button>
      <button type="button" onClick=${() => copy(asScenario)}>copy as scenario</button>
    </div>
    <pre class="outcome ${outcome.bad ? "bad" : ""}" role="status" tabindex="0">${outcome.text}</pre>
  </form>`;
}
