// Finds the texts in a request or an answer, with their positions. A string is a text, whatever field it is in, unless
// it names or encodes something in the interfaces' formats. So no text escapes in a new field. Inside schemas and
// arguments, where clients choose the names, every string is a text.
import {
  brokenSignature,
  encodeEnvelope,
  findMember,
  type JsonText,
  removeItems,
  replaceValues,
} from '../wire/index.ts';
import type { EventPiece, FoundText } from './grammar.ts';

export const wordsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * Fields of ids, roles, types and other keywords of the interfaces. A string of another form in a field of this list is
 * a text.
 */
const idFields = wordsOf(`
  role type id call_id tool_call_id tool_use_id item_id response_id file_id container_id skill_id tool_id object model
  status format detail media_type mime_type finish_reason native_finish_reason stop_reason effort verbosity display phase
  toolUseId caller created_by event_id allowed_callers syntax language ttl version additional_properties mimeType
  finishReason mode responseMimeType thinkingLevel responseModalities mediaResolution outcome toolType responseId
`);
const idShape = /^[\w.:/@+-]{0,128}$/;

/** Fields of names that a model reads, and that other fields refer to. */
const nameFields = wordsOf('name tool_name namespace server_label server_name');

/** Fields of media, signatures and addresses. A string with a blank in it is a text. */
const encodedFields = wordsOf(`
  url file_url image_url file_data b64_json partial_image_b64 signature thought_signature encrypted_content
  bytes redactedContent encrypted_index encrypted_stdout encrypted_value obfuscation thoughtSignature fileUri
`);

/** Fields other than text fields that are not searched. */
const closedFields = wordsOf('cache_control prompt_cache_breakpoint logprobs top_logprobs extra_content usage');

/** Arguments of a tool call, as a string of JSON or an object. */
const callFields = wordsOf('arguments partial_json');
/** Arguments of a tool call, as an object. */
const callObjects = wordsOf('arguments input args');

const schemaFields = wordsOf(`
  parameters input_schema inputSchema output_schema schema parametersJsonSchema responseSchema responseJsonSchema
`);
/** Fields of a schema whose own fields have names from the client. */
const namingKeywords = wordsOf('properties patternProperties $defs definitions dependentSchemas dependentRequired');

/** Fields at the top of a request of any interface that no model reads. */
export const commonSettings = wordsOf(`
  model models provider cache preset usage user metadata stream stream_options store temperature top_p top_k n seed stop
  service_tier safety_identifier prompt_cache_key prompt_cache_retention prompt_cache_options tool_choice
`);

/** Number of values that are processed within a millisecond. */
const stepValues = 2_048;
const isStep = (value: number): boolean => value % stepValues === 0;
const isFound = (found: FoundText | undefined): found is FoundText => found !== undefined;

/**
 * Yields the texts as they follow each other in the body, and undefined between values without texts, so that other
 * work may run. `settings` are top-level fields that no model reads.
 */
export function* textsOfRequest(json: JsonText, settings: ReadonlySet<string>): Generator<FoundText | undefined> {
  for (const { name, value } of json.members()) {
    if (settings.has(name)) continue;
    if (name === 'prompt' && json.isObject(value)) yield* textsOfPrompt(json, value);
    else yield* textsIn(json, value, name);
  }
}

/** Yields the texts of a stored prompt's variables, each of which has any name, and is a text or a part of content. */
function* textsOfPrompt(json: JsonText, prompt: number): Generator<FoundText | undefined> {
  for (const inner of json.inside(prompt)) {
    const name = json.name(inner);
    if (name !== 'variables') yield* textsIn(json, inner, name);
    else if (!json.isObject(inner)) yield* stringsIn(json, inner);
    else for (const variable of json.inside(inner)) yield* textsOfVariable(json, variable);
  }
}

function textsOfVariable(json: JsonText, variable: number): Generator<FoundText | undefined> {
  const isPart = json.isObject(variable) && findMember(json, 'type', variable) !== undefined;
  return isPart ? textsIn(json, variable, '', { isListed: true }) : stringsIn(json, variable);
}

/** Yields every string of a value whose fields have any name. It recurses within the depth of a body. */
export function* stringsIn(json: JsonText, value: number): Generator<FoundText | undefined> {
  if (json.isString(value)) {
    const text = JSON.parse(json.slice(value)) as string;
    if (text.trim() !== '') yield { value, text, kind: 'text' };
  } else if (json.isArray(value) || json.isObject(value)) {
    for (const inner of json.inside(value)) {
      if (isStep(inner)) yield undefined;
      yield* stringsIn(json, inner);
    }
  }
}

interface Surroundings {
  /** True if the value is an item of a list. */
  readonly isListed?: boolean;
  /** True for a piece of a text, which may be blank. */
  readonly keepsBlanks?: boolean;
  readonly signedItem?: number | undefined;
}

/**
 * Yields the texts of a value. `name` is the field that contains the value, or the list around it. It recurses within
 * the depth of a body.
 */
export function* textsIn(
  json: JsonText,
  value: number,
  name: string,
  around: Surroundings = {},
): Generator<FoundText | undefined> {
  if (closedFields.has(name)) return;
  const { isListed = false, keepsBlanks = false, signedItem } = around;
  if (json.isString(value)) {
    const text = JSON.parse(json.slice(value)) as string;
    if (text === '' || (!keepsBlanks && text.trim() === '') || isNoText(name, text)) return;
    const kind = nameFields.has(name) ? 'name' : callFields.has(name) ? 'call' : 'text';
    yield { value, text, kind, signedItem };
  } else if (json.isArray(value)) {
    const listed = { ...around, isListed: true };
    for (const inner of json.inside(value)) {
      if (isStep(inner)) yield undefined;
      yield* textsIn(json, inner, name, listed);
    }
  } else if (json.isObject(value)) {
    if (schemaFields.has(name)) yield* textsOfSchema(json, value);
    else if (!isListed && callObjects.has(name)) {
      const [first] = json.inside(value);
      if (first !== undefined) yield { value, text: json.slice(value), kind: 'call' };
    } else yield* textsOfObject(json, value, name, { keepsBlanks, signedItem: signedItemOf(json, value, around) });
  }
}

function* textsOfObject(
  json: JsonText,
  object: number,
  name: string,
  around: Surroundings,
): Generator<FoundText | undefined> {
  const encoded = encodedFieldOf(json, object, name);
  for (const inner of json.inside(object)) {
    if (isStep(inner)) yield undefined;
    const innerName = json.name(inner);
    if (innerName !== encoded) yield* textsIn(json, inner, innerName, around);
  }
}

const isNoText = (name: string, text: string): boolean =>
  idFields.has(name) ? idShape.test(text) : encodedFields.has(name) && !text.includes(' ');

/** Returns the signed item around a text, because its provider refuses the item if one of its texts has changed. */
const signedItemOf = (json: JsonText, object: number, { signedItem }: Surroundings): number | undefined =>
  signedItem ?? (isSigned(json, object) ? object : undefined);

const signatureFields = wordsOf('signature encrypted_content thoughtSignature');

const isSignature = (json: JsonText, value: number): boolean =>
  signatureFields.has(json.name(value)) && json.isString(value) && json.slice(value) !== '""';

/** True if an object has a signature. It builds no list, because it is called for every object of a body. */
function isSigned(json: JsonText, object: number): boolean {
  const end = json.next(object);
  for (let value = object + 1; value < end; value = json.next(value)) if (isSignature(json, value)) return true;
  return false;
}

/** Returns the values of the signatures in an object. */
const signaturesOf = (json: JsonText, object: number): number[] =>
  [...json.inside(object)].filter((value) => isSignature(json, value));

/** Yields the texts of a schema, with the names that it gives to parameters. It recurses within the depth of a body. */
function* textsOfSchema(json: JsonText, value: number, keyword = ''): Generator<FoundText | undefined> {
  if (json.isString(value)) {
    const text = JSON.parse(json.slice(value)) as string;
    if (text.trim() === '' || (keyword === 'type' && idShape.test(text))) return;
    yield { value, text, kind: keyword === 'required' ? 'name' : 'text' };
  } else if (json.isArray(value)) {
    for (const inner of json.inside(value)) {
      if (isStep(inner)) yield undefined;
      yield* textsOfSchema(json, inner, keyword);
    }
  } else if (json.isObject(value)) {
    for (const inner of json.inside(value)) {
      if (isStep(inner)) yield undefined;
      const name = json.name(inner);
      const isChosen = namingKeywords.has(keyword) || !keywords.has(name);
      if (isChosen && name.trim() !== '') yield { value: inner, text: name, kind: 'name' };
      yield* textsOfSchema(json, inner, namingKeywords.has(keyword) ? '' : name);
    }
  }
}

/** Keywords of JSON Schema, in every draft. Any other field of a schema has a name that the client chose. */
const keywords = wordsOf(`
  $schema $id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs
  definitions id type enum const title description default examples format properties patternProperties
  additionalProperties propertyNames unevaluatedProperties items prefixItems additionalItems unevaluatedItems contains
  minContains maxContains required dependentRequired dependentSchemas dependencies allOf anyOf oneOf not if then else
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems
  minProperties maxProperties readOnly writeOnly deprecated nullable contentEncoding contentMediaType contentSchema
`);

/** Fields without text, by the type of their object. They are media, and thinking that only its provider reads. */
const encodedByType: Readonly<Record<string, string>> = {
  base64: 'data',
  redacted_thinking: 'data',
  'reasoning.encrypted': 'data',
  image_generation_call: 'result',
};

function encodedFieldOf(json: JsonText, object: number, name: string): string | undefined {
  if (name === 'input_audio' || name === 'audio' || name === 'inlineData') return 'data';
  let word = '';
  const end = json.next(object);
  for (let value = object + 1; value < end; value = json.next(value))
    if (json.name(value) === 'type') word = json.slice(value).slice(1, -1);
  return Object.hasOwn(encodedByType, word) ? encodedByType[word] : undefined;
}

/** Yields the texts of the whole answer. `facts` are top-level fields that no model wrote. */
export function* textsOfAnswer(json: JsonText, facts: ReadonlySet<string>): Generator<FoundText | undefined> {
  for (const { name, value } of json.members()) if (!facts.has(name)) yield* textsIn(json, value, name);
}

/** Fields of an answer of any interface that no model wrote. */
export const answerFacts = wordsOf(
  'id object created created_at model usage system_fingerprint service_tier provider type role x_groq gw',
);

/** Returns each string of an event's value as one complete text, and the signatures of these texts. */
export function wholeTexts(json: JsonText, value: number, name: string): EventPiece[] {
  const found = [...textsIn(json, value, name)].filter(isFound);
  const items = new Set(found.flatMap(({ signedItem }) => signedItem ?? []));
  const signatures = [...items].flatMap((signedItem) =>
    signaturesOf(json, signedItem).map((value) => ({ value, text: '', kind: 'signature', signedItem }) as const),
  );
  return [...found, ...signatures].map((one) => ({ ...one, channel: undefined }));
}

/** Returns a piece of a text that further events of its channel continue. */
export function pieceOf(json: JsonText, value: number, name: string, channel: string): EventPiece[] {
  if (signatureFields.has(name))
    return [{ value, text: '', kind: 'signature', channel: channel.slice(0, -name.length) }];
  return [...textsIn(json, value, name, { keepsBlanks: true })].filter(isFound).map((found) => ({
    ...found,
    channel: found.kind === 'name' ? undefined : channel,
  }));
}

/** Returns the signature that replaces the signature of changed texts, in the format of its field. */
export const brokenSignatureOf = (json: JsonText, signature: number): string =>
  JSON.stringify(json.name(signature) === 'thoughtSignature' ? encodeEnvelope(brokenSignature) : brokenSignature);

export type ReplacedText = readonly [value: number, text: string];

export interface MaskedBody {
  readonly text: string;
  /** Paths of items that were dropped, because their texts are signed. */
  readonly dropped: readonly string[];
}

/**
 * Returns the body with other texts in place of some. An item whose signed text would change is dropped. `texts` has
 * one item for each text found. Returns undefined if all texts are unchanged.
 */
export function withTexts(
  json: JsonText,
  found: readonly FoundText[],
  texts: readonly string[],
  spellingFields: ReadonlySet<string> = new Set(),
): MaskedBody | undefined {
  const replaced: ReplacedText[] = [];
  const items = new Set<number>();
  for (const [at, { value, text, kind, signedItem }] of found.entries()) {
    const masked = texts[at];
    if (kind !== 'text' || masked === undefined || masked === text) continue;
    if (signedItem === undefined) replaced.push([value, JSON.stringify(masked)]);
    else items.add(signedItem);
  }
  if (replaced.length === 0 && items.size === 0) return undefined;
  const changes = spellingFields.size === 0 ? replaced : withoutSpelling(json, replaced, spellingFields);
  const dropped = pathsTo(json, [...items].slice(0, droppedPathsMax));
  return { text: items.size === 0 ? replaceValues(json, changes) : removeItems(json, items, changes), dropped };
}

/**
 * Empties the lists that repeat a masked text as tokens or words. The changes are sorted, together with the changes of
 * the texts.
 */
export function withoutSpelling(
  json: JsonText,
  changes: readonly ReplacedText[],
  names: ReadonlySet<string>,
): ReplacedText[] {
  const spelling: [number, string][] = [];
  for (let value = 0; value < json.next(0); value += 1) {
    if (names.has(json.name(value))) spelling.push([value, json.isArray(value) ? '[]' : 'null']);
  }
  return [...changes, ...spelling].toSorted(([a], [b]) => a - b);
}

/** Maximum number of reported paths. */
const droppedPathsMax = 32;

/**
 * Returns paths such as `messages[3].content[0]`. `items` follow each other in the body, none inside another. Each
 * value is visited at most once.
 */
function pathsTo(json: JsonText, items: readonly number[]): string[] {
  const paths: string[] = [];
  function find(around: number, pathAround: string): void {
    let place = 0;
    for (const inner of json.inside(around)) {
      const item = items[paths.length];
      if (item === undefined) return;
      if (item < json.next(inner)) {
        const dot = pathAround === '' ? '' : '.';
        const path = `${pathAround}${json.isArray(around) ? `[${place}]` : `${dot}${json.name(inner)}`}`;
        if (item === inner) paths.push(path);
        else find(inner, path);
      }
      place += 1;
    }
  }
  find(0, '');
  return paths;
}

export function numberAt(json: JsonText, name: string, object = 0): number | undefined {
  const value = findMember(json, name, object);
  return value !== undefined && json.isNumber(value) ? Number(json.slice(value)) : undefined;
}

export function wordAt(json: JsonText, name: string, object = 0): string | undefined {
  const value = findMember(json, name, object);
  if (value === undefined || !json.isString(value)) return undefined;
  return JSON.parse(json.slice(value)) as string;
}

export const objectAt = (json: JsonText, name: string, object = 0): number | undefined => {
  const value = findMember(json, name, object);
  return value !== undefined && json.isObject(value) ? value : undefined;
};

export const parsedAt = (json: JsonText, value: number | undefined): unknown =>
  value === undefined ? undefined : (JSON.parse(json.slice(value)) as unknown);
