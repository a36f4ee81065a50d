// Converts fields in the other spelling of Google's interface to `camelCase`, once, so that all other code knows a
// single name. Names that clients choose (parameters, arguments, labels) stay unchanged.
import { fail } from '../../../errors/index.ts';
import { bodyDepthMax } from '../../../foundation/constants/index.ts';
import { type JsonText, scanJson } from '../../wire/index.ts';

const namesIn = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .trim()
      .split(/\s+/)
      .map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
  );

/**
 * Fields of generateContent, countTokens and embedContent that the gateway reads (types of `@google/genai` 3.3.0,
 * November 2026).
 */
const fields = namesIn(`
  systemInstruction generationConfig safetySettings cachedContent toolConfig generateContentRequest serviceTier
  inlineData fileData mimeType fileUri displayName functionCall functionResponse functionDeclarations executableCode
  codeExecutionResult thoughtSignature videoMetadata startOffset endOffset mediaResolution partMetadata toolCall
  toolResponse willContinue partialArgs numTokens parametersJsonSchema responseJsonSchema functionCallingConfig
  allowedFunctionNames streamFunctionCallArguments retrievalConfig latLng languageCode googleSearch googleSearchRetrieval
  dynamicRetrievalConfig googleMaps urlContext codeExecution computerUse fileSearch enterpriseWebSearch mcpServers
  includeServerSideToolInvocations stopSequences responseMimeType responseSchema responseModalities candidateCount
  maxOutputTokens topP topK presencePenalty frequencyPenalty responseLogprobs enableEnhancedCivicAnswers speechConfig
  thinkingConfig includeThoughts thinkingBudget thinkingLevel imageConfig audioTimestamp modelSelectionConfig
  routingConfig outputDimensionality taskType embedContentConfig autoTruncate toolType continuationToken
`);

/** Fields of Google's schema format. */
const schemaFields = namesIn(`
  anyOf minItems maxItems minLength maxLength minProperties maxProperties propertyOrdering additionalProperties prefixItems
`);

const googleSchemas: ReadonlySet<string> = new Set(['parameters', 'response', 'responseSchema', 'items']);
/**
 * Fields whose contents have names that clients choose. `response` is a function's result, but in a declaration
 * `response` is a schema.
 */
const freeFields: ReadonlySet<string> = new Set([
  ...['args', 'labels', 'parametersJsonSchema', 'responseJsonSchema', 'partMetadata', 'functionResponse'],
  ...['provider', 'cache', 'models'],
]);

const otherSpelling = /"[a-z]+_[a-z_]+"\s*:/;

/** Throws invalid_request if a field is present in both spellings. */
export function requireOneSpelling(json: JsonText): JsonText {
  if (!otherSpelling.test(json.text)) return json;
  const renamed: [start: number, end: number, name: string][] = [];
  collect(json, 0, { path: '', names: fields }, renamed);
  if (renamed.length === 0) return json;
  const pieces: string[] = [];
  let at = 0;
  for (const [start, end, name] of renamed) {
    pieces.push(json.text.slice(at, start), JSON.stringify(name));
    at = end;
  }
  const scanned = scanJson(pieces.join('') + json.text.slice(at), { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') throw new Error('a body in another spelling is no JSON');
  return scanned.json;
}

interface Place {
  readonly path: string;
  readonly names: ReadonlyMap<string, string>;
}

/** Collects the fields to rename. It recurses within the depth of a body. */
function collect(json: JsonText, value: number, place: Place, renamed: [number, number, string][]): void {
  if (json.isArray(value)) {
    let at = 0;
    for (const inner of json.inside(value)) {
      collect(json, inner, { ...place, path: `${place.path}[${at}]` }, renamed);
      at += 1;
    }
    return;
  }
  if (!json.isObject(value)) return;
  const seen = new Set<string>();
  for (const { name: sentName, value: inner } of json.members(value)) {
    const name = place.names.get(sentName) ?? sentName;
    const path = place.path === '' ? name : `${place.path}.${name}`;
    if (seen.has(name) && (name !== sentName || place.names === fields)) {
      throw fail('invalid_request', { message: `${path}: stands twice, in one spelling or in both`, param: path });
    }
    seen.add(name);
    if (name !== sentName) {
      const start = json.nameStart(inner);
      renamed.push([start, start + json.quotedName(inner).length, name]);
    }
    collectInside(json, inner, { path, names: place.names }, name, renamed);
  }
}

function collectInside(
  json: JsonText,
  value: number,
  place: Place,
  name: string,
  renamed: [number, number, string][],
): void {
  if (freeFields.has(name)) {
    if (name === 'functionResponse') collectParts(json, value, place, renamed);
    return;
  }
  if (name === 'properties' && place.names === schemaFields) {
    for (const { name: property, value: inner } of json.isObject(value) ? json.members(value) : [])
      collect(json, inner, { path: `${place.path}.${property}`, names: schemaFields }, renamed);
    return;
  }
  collect(json, value, googleSchemas.has(name) ? { ...place, names: schemaFields } : place, renamed);
}

/** Collects from the files of a result, which are parts. The fields of the result itself have names of the client. */
function collectParts(json: JsonText, value: number, place: Place, renamed: [number, number, string][]): void {
  const parts = json.isObject(value) ? json.members(value).find(({ name }) => name === 'parts') : undefined;
  if (parts !== undefined) collect(json, parts.value, { ...place, path: `${place.path}.parts` }, renamed);
}
