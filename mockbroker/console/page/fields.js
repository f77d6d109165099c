import { html } from "./html.js";

/**
 * The fields of operations, from the description of the control API.
 *
 * @typedef {"string" | "integer" | "number" | "boolean" | "list" | "any" | "json"} Kind
 *   a `list` is written with commas; `any` is JSON, or else text
 * @typedef {{name: string, kind: Kind, required: boolean, description: string, choices: string[], examples: string[],
 *   usual: string, one: boolean, numbers: boolean, legal: Record<string, string[]>}} Field
 *   `choices` are all values that it may have, `examples` some; `usual` is what it is if it is left out. Of a list, `one`
 *   is whether a value may stand alone, `numbers` whether values may be numbers. `legal` has the examples that are right
 *   for an API
 * @typedef {{value: string, label?: string}} Suggestion
 */

/** What was typed into a field can't be its value. */
export class FieldError extends Error {
  /** @param {string} field @param {string} why */
  constructor(field, why) {
    super(why);
    this.field = field;
  }
}

const SIMPLE = new Set(["string", "integer", "number", "boolean"]);
const YES_OR_NO = ["true", "false"];

/** @param {string} name @param {any} schema @param {boolean} required @param {string} [description] @returns {Field} */
export function fieldOf(name, schema, required, description) {
  const variants = (schema.anyOf ?? [schema]).filter((/** @type {any} */ each) => each.type !== "null");
  const list = variants.find((/** @type {any} */ each) => each.type === "array");
  const items = list && (list.items.anyOf ?? [list.items]).map((/** @type {any} */ each) => each.type);
  const kind = kindOf(variants, items);
  const listed = variants.find((/** @type {any} */ each) => each.enum)?.enum ?? (kind === "boolean" ? YES_OR_NO : []);
  return {
    name,
    kind: listed.length && kind !== "boolean" ? "string" : kind,
    required,
    description: description ?? schema.description ?? "",
    choices: listed,
    examples: schema.examples ?? [],
    usual: schema.default === undefined || schema.default === null ? "" : String(schema.default),
    one: variants.some((/** @type {any} */ each) => SIMPLE.has(each.type)),
    legal: schema["x-legal"] ?? {},
    numbers: items?.includes("integer") ?? false,
  };
}

/** @param {any[]} variants @param {string[] | undefined} items the types that a list may have @returns {Kind} */
function kindOf(variants, items) {
  const kinds = variants.map((each) => each.type);
  if (items?.every((each) => SIMPLE.has(each))) return "list";
  if (kinds.length === 1 && SIMPLE.has(kinds[0])) return kinds[0];
  if (kinds.includes("string")) return "string";
  return kinds.every((each) => each === undefined) && !variants[0].enum ? "any" : "json";
}

/**
 * What was typed, as a value. FieldError.
 * @param {Pick<Field, "name" | "kind"> & Partial<Field>} field @param {string} text @returns {any}
 */
export function valueOf({ name, kind, one, numbers }, text) {
  switch (kind) {
    case "integer":
    case "number": {
      const number = Number(text);
      if (Number.isNaN(number)) throw new FieldError(name, `${name} is ${text}: give a number`);
      return number;
    }
    case "boolean":
      return text === "true";
    case "list": {
      const parts = text.split(",").map((each) => each.trim());
      const values = parts.filter(Boolean).map((each) => (numbers && /^-?\d+$/.test(each) ? Number(each) : each));
      return one && values.length === 1 ? values[0] : values;
    }
    case "string":
      return text;
  }
  try {
    return JSON.parse(text);
  } catch {
    if (kind === "any") return text;
    throw new FieldError(name, `${name} is not JSON: ${text}`);
  }
}

const HINTS = { json: "JSON", any: "JSON, or text", list: "several with commas", string: "text" };
/** Lists that are offered have no more names than this. */
const MOST = 200;

/**
 * One field: its name, where it is typed or chosen, and what is wrong with it.
 * @param {{field: Field, text: string, suggestions: Suggestion[], wrong: string, set: (text: string) => void}} props
 */
export function Argument({ field, text, suggestions, wrong, set }) {
  const { name, kind, required, description, choices, usual } = field;
  const typed = (/** @type {any} */ e) => set(e.currentTarget.value);
  const told = { "aria-invalid": wrong ? "true" : undefined, "aria-describedby": wrong ? `wrong-${name}` : undefined };
  const offered = kind === "list" ? completed(text, suggestions) : suggestions;
  const hint = usual || (kind === "list" && field.one && field.numbers && !field.examples.length ? "1, 2, …" : { ...HINTS }[/** @type {string} */ (kind)] ?? kind);
  return html`<div class=${`argument ${kind === "list" && field.examples.length ? "wide" : ""}`}>
    <label for=${`field-${name}`} title=${description}>${name}${required ? html`<span class="required" title="required">${" *"}</span>` : ""}</label>
    ${choices.length
      ? html`<select id=${`field-${name}`} name=${name} value=${text} required=${required} onChange=${typed} ...${told}>
          <option value="">${usual}</option>
          ${choices.map((one) => html`<option>${one}</option>`)}
        </select>`
      : html`<input id=${`field-${name}`} name=${name} value=${text} placeholder=${hint} autocomplete="off" aria-required=${required}
          list=${offered.length ? `names-${name}` : undefined} onInput=${typed} ...${told} />`}
    ${!choices.length && offered.length > 0 &&
    html`<datalist id=${`names-${name}`}>${offered.slice(0, MOST).map((each) => html`<option value=${each.value} label=${each.label}></option>`)}</datalist>`}
    ${wrong && html`<p class="wrong" id=${`wrong-${name}`}>${wrong}</p>`}
  </div>`;
}

/**
 * Suggestions for the last value of a list.
 * @param {string} text @param {Suggestion[]} suggestions @returns {Suggestion[]}
 */
export function completed(text, suggestions) {
  const before = text.slice(0, text.lastIndexOf(",") + 1).trim();
  if (!before) return suggestions;
  const there = new Set(before.split(",").map((each) => each.trim()));
  return suggestions
    .filter((each) => !there.has(each.value))
    .map(({ value, label }) => ({ value: `${before} ${value}`, label: label ?? value }));
}
