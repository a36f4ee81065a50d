// Writes the final body, and finds the requested fields that it lost. A model may refuse an option that its format
// supports, so the body itself is compared with the request.
import { unknownModelReasoning } from '../../../configuration/catalogue/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { bodyDepthMax } from '../../../foundation/constants/index.ts';
import { type HubCall, type OptionalName, reportedPathsMax, strictPath } from '../../../protocol/hub/index.ts';
import {
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  rewriteMembers,
  scanJson,
} from '../../../protocol/wire/index.ts';
import type { HubTarget, TargetCall } from './targets/hub-target.ts';

interface SentChanges {
  readonly changes: ReadonlyMap<string, unknown>;
  /** Paths of dropped fields of the client's request. */
  readonly leftOut: readonly string[];
}

// Each of the next three functions takes a step of its own if the body is long.

export function scanPackageBody(text: string): JsonText {
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') throw new Error('a package wrote a body that is no JSON');
  return scanned.json;
}

export function changesOf(json: JsonText, target: HubTarget, targetCall: TargetCall): SentChanges {
  const changes = new Map(Object.entries({ ...ownName(json, targetCall), ...target.finalChanges(json, targetCall) }));
  const leftOut = [
    ...leftOutOf(targetCall, target, json, changes),
    ...(target.changedPaths?.(targetCall) ?? []).map(asPath),
  ];
  return { changes, leftOut };
}

export const writeFinalBody = (json: JsonText, changes: SentChanges['changes'], inside: RewrittenValues): string =>
  withoutHalves(rewriteMembers(json, changes, 0, inside));

type RewrittenValues = Parameters<typeof rewriteMembers>[3];

/** Returns the provider's name for the model, if the package uses another name. */
const ownName = (json: JsonText, { model, packageModel }: TargetCall): JsonObject =>
  model === packageModel || findMember(json, 'model') === undefined ? {} : { model };

const escapes = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/gs;
const halfCharacters = '\\ud800'.length;

/**
 * Removes halves of surrogate pairs, which are not valid text. A strict provider refuses a body with a half, and with
 * it every later request of the conversation.
 */
function withoutHalves(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replace(escapes, (found) => (found.length === halfCharacters ? '\\ufffd' : found));
}

/** Field names of an option at clients and in formats. */
const optionWords = {
  temperature: ['temperature', 'temperature'],
  topP: ['top_p', 'top_p', 'topP'],
  topK: ['top_k', 'top_k', 'topK'],
  seed: ['seed', 'seed'],
  frequencyPenalty: ['frequency_penalty', 'frequency_penalty', 'frequencyPenalty'],
  presencePenalty: ['presence_penalty', 'presence_penalty', 'presencePenalty'],
} as const satisfies Partial<Record<keyof HubCall, readonly [string, ...string[]]>>;
/** Options that not every model of a format accepts, with their field names. */
const optionalWords: Readonly<Partial<Record<OptionalName, readonly string[]>>> = {
  serial_calls: ['parallel_tool_calls', 'disable_parallel_tool_use'],
  thinking: ['thinking', 'thinkingConfig', 'reasoning', 'reasoning_effort', 'reasoningConfig', 'effort'],
  verbosity: ['verbosity'],
};

function leftOutOf(
  targetCall: TargetCall,
  target: HubTarget,
  json: JsonText,
  changes: ReadonlyMap<string, unknown>,
): string[] {
  const { call, thinking, reasoning } = targetCall;
  const says =
    typeof target.supportedOptions === 'function' ? target.supportedOptions(targetCall) : target.supportedOptions;
  const sentWords = once(() => wordsIn(json, changes));
  const isSent = (words: readonly string[]) => words.some((word) => sentWords().has(word));
  const options = Object.entries(optionWords).flatMap(([option, [member, ...words]]) =>
    call[option as keyof typeof optionWords] === undefined || isSent(words) ? [] : [member],
  );
  const others = call.optional.flatMap(({ name, member }) => {
    // A model without thinking gets no thinking options.
    if (name === 'thinking' && thinking === undefined && reasoning !== unknownModelReasoning) return [];
    const words = optionalWords[name];
    return (words === undefined ? says.has(name) : isSent(words)) ? [] : [member];
  });
  const strict = call.tools?.some((tool) => tool.type === 'function' && tool.strict === true) === true;
  const loosened = strict && !saysStrict(json) ? [strictPath] : [];
  return [...new Set([...options, ...others, ...loosened])].slice(0, reportedPathsMax).map(asPath);
}

/**
 * True if the body marks a tool as strict. Packages omit the field for models that do not know it. Gemini has one field
 * for all tools.
 */
const saysStrict = (json: JsonText): boolean =>
  [...json.inside(0)].some(
    (member) => toolMembers.has(json.name(member)) && /"strict":true|"VALIDATED"/.test(json.slice(member)),
  );
const toolMembers: ReadonlySet<string> = new Set(['tools', 'toolConfig']);

const pathMaxCharacters = 128;
/** Matches unsafe characters, because clients choose the names of their fields, and a path is sent in a header. */
const unsafe = /[^\w.[\]-]+/g;

const asPath = (member: string): string => member.slice(0, pathMaxCharacters).replace(unsafe, '_');

/** Objects in which formats put such options, besides the body itself. */
const containers: ReadonlySet<string> = new Set([
  ...['inferenceConfig', 'additionalModelRequestFields', 'generationConfig', 'tool_choice', 'output_config', 'text'],
]);

/** Returns the names of the fields of the body and of the `containers`. */
function wordsIn(json: JsonText, changes: ReadonlyMap<string, unknown>): ReadonlySet<string> {
  const words = new Set<string>();
  const add = (name: string, value: () => unknown): void => {
    words.add(name);
    const inner = containers.has(name) ? value() : undefined;
    // On Converse Claude's own options are one level deeper.
    for (const [word, value] of isJsonObject(inner) ? Object.entries(inner) : []) add(word, () => value);
  };
  for (const member of json.inside(0)) {
    const name = json.name(member);
    if (!changes.has(name)) add(name, () => parseJson(json.slice(member)));
  }
  for (const [name, value] of changes) if (value !== undefined) add(name, () => value);
  return words;
}
