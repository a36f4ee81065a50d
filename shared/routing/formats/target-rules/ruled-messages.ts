// Rewrites the messages of a chat completion as its target accepts them, relayed or translated. Ids, sequence, roles
// and the fields of thinking may change. Only messages that break a rule are parsed and rewritten.
import { bodyDepthMax } from '../../../foundation/constants/index.ts';
import { sha256Hex } from '../../../foundation/ids/index.ts';
import {
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  replaceValues,
  scanJson,
} from '../../../protocol/wire/index.ts';
import type { TargetRules } from './rules-table.ts';

export interface RuledMessages {
  /** Position of the list in the body that was read. */
  readonly value: number;
  readonly text: string;
  /** Paths of everything that was dropped. */
  readonly leftOut: readonly string[];
}

/** Returns undefined if the target accepts the messages as they are, as is usual. */
export function ruledMessages(json: JsonText, rules: TargetRules): RuledMessages | undefined {
  const read = readHistory(json, rules, () => false);
  const texts = read?.history.end();
  return (
    texts && read && { value: read.value, text: `[${texts.join(',')}]`, leftOut: read.history.leftOut.slice(0, 1) }
  );
}

/** Returns true if a message has to change. Reads no further than the first message to change. */
function breaksRules(json: JsonText, rules: TargetRules): boolean {
  const read = readHistory(json, rules, ({ isChanged }) => isChanged);
  return read !== undefined && (read.history.isChanged || read.history.end() !== undefined);
}

/** Reads the messages up to the first after which `isEnough`. Returns undefined if the target accepts any messages. */
function readHistory(json: JsonText, rules: TargetRules, isEnough: (history: RuledHistory) => boolean) {
  const value = listToRule(json, rules);
  if (value === undefined) return undefined;
  const history = new RuledHistory(rules, mayHoldThinking(json, rules));
  let at = 0;
  for (const message of json.inside(value)) {
    history.add(json, message, at);
    if (isEnough(history)) break;
    at += 1;
  }
  return { value, history };
}

/** Returns the list of messages; undefined if the target accepts any messages. */
function listToRule(json: JsonText, rules: TargetRules): number | undefined {
  const isLenient = rules.acceptsConsecutiveTurns && rules.acceptsDeveloperRole && rules.callIds === 'any';
  const value = isLenient && !mayHoldThinking(json, rules) ? undefined : findMember(json, 'messages');
  return value !== undefined && json.isArray(value) ? value : undefined;
}

const mayHoldThinking = (json: JsonText, rules: TargetRules): boolean =>
  rules.thinkingPlace === 'fields' && json.text.includes('"thinking"');

/** Returns the body of a relayed call, `text`, for its target. `sent` is the client's own, which was read before. */
export function withRuledMessages(
  text: string,
  messagesJson: JsonText,
  rules: TargetRules,
): { readonly text: string; readonly leftOut: readonly string[] } {
  if (!breaksRules(messagesJson, rules)) return { text, leftOut: [] };
  const known = ruledInPlace(text, messagesJson, rules);
  if (known !== undefined) return known;
  const scanned = scanJson(text, { depthMax: bodyDepthMax });
  const ruled = scanned.kind === 'json' ? ruledMessages(scanned.json, rules) : undefined;
  if (scanned.kind !== 'json' || ruled === undefined) return { text, leftOut: [] };
  return { text: replaceValues(scanned.json, [[ruled.value, ruled.text]]), leftOut: ruled.leftOut };
}

/**
 * Does the same without another scan, which takes as long as the rest. Returns undefined if the text has other messages
 * than the client's body, or has these messages twice.
 */
function ruledInPlace(text: string, sent: JsonText, rules: TargetRules) {
  const value = listToRule(sent, rules);
  if (value === undefined) return undefined;
  const list = sent.slice(value);
  const start = text.indexOf(list);
  if (start < 0 || start !== text.lastIndexOf(list)) return undefined;
  const ruled = ruledMessages(sent, rules);
  return ruled && { text: text.slice(0, start) + ruled.text + text.slice(start + list.length), leftOut: ruled.leftOut };
}

/** A message to send, which is parsed only if a part of it changes. */
interface SentMessage {
  readonly role: unknown;
  readonly text: string;
  readonly message?: JsonObject;
}

const noResult = 'This call has no result: it was not run.';
const resultsRead = 'I have read the results.';

/** Writes the messages of one request in their sequence. */
class RuledHistory {
  readonly leftOut: string[] = [];
  readonly #rules: TargetRules;
  readonly #mayHoldParts: boolean;
  readonly #sent: SentMessage[] = [];
  readonly #ids: ShortIds | undefined;
  /** Ids, as they are sent, of the calls in the last answer, and of the calls that have a result. */
  #calls: readonly string[] = [];
  readonly #answered = new Set<string>();
  /** Contents into which turns were merged. Each content grows, and is not rewritten for every turn. */
  readonly #joinedContents = new WeakSet<unknown[]>();
  /** True after the first answer, or result. */
  #isLate = false;
  #isChanged = false;

  constructor(rules: TargetRules, mayHoldParts: boolean) {
    this.#rules = rules;
    this.#mayHoldParts = mayHoldParts;
    this.#ids = rules.callIds === 'any' ? undefined : createShortIds();
  }

  add(json: JsonText, message: number, at: number): void {
    const written = json.isObject(message) ? stringAt(json, message, 'role') : undefined;
    const role = this.#roleFor(written);
    this.#endTurn(role);
    const before = this.#sent.at(-1);
    this.#sent.push({ role, text: json.slice(message) });
    if (role !== written) this.#change((one) => ({ ...one, role }));
    if (role === 'assistant') this.#addAnswer(json, message, at);
    else if (role === 'tool') this.#addResult(json, message);
    const isTurn = role === 'user' || role === 'assistant';
    if (!this.#rules.acceptsConsecutiveTurns && isTurn && before?.role === role) this.#join(before);
  }

  get isChanged(): boolean {
    return this.#isChanged;
  }

  #join(before: SentMessage): void {
    const joined = joinedTurn(parsed(before), parsed(this.#sent.at(-1) ?? before), this.#joinedContents);
    if (joined === undefined) return;
    this.#sent.pop();
    this.#change(() => joined);
  }

  /** Returns the messages; undefined if nothing changed. */
  end(): readonly string[] | undefined {
    this.#endTurn(undefined);
    const last = this.#sent.at(-1);
    if (this.#rules.requiresPrefixFlag && last?.role === 'assistant' && parsed(last).prefix !== true) {
      this.#change((message) => ({ ...message, prefix: true }));
    }
    const textOf = ({ message, text }: SentMessage) => (message === undefined ? text : JSON.stringify(message));
    return this.#isChanged ? this.#sent.map(textOf) : undefined;
  }

  #push(message: JsonObject): void {
    this.#isChanged = true;
    this.#sent.push({ role: message.role, text: '', message });
  }

  /** Changes the message that was added last. */
  #change(changes: (message: JsonObject) => JsonObject): void {
    const last = this.#sent.pop();
    if (last !== undefined) this.#push(changes(parsed(last)));
  }

  #endTurn(role: unknown): void {
    if (!this.#rules.requiresWholeTurns || role === 'tool') return;
    const open = this.#calls.filter((id) => !this.#answered.has(id));
    this.#begin([]);
    for (const id of open) this.#push({ role: 'tool', tool_call_id: id, content: noResult });
    if (role === 'user' && this.#sent.at(-1)?.role === 'tool') this.#push({ role: 'assistant', content: resultsRead });
  }

  #begin(calls: readonly string[]): void {
    this.#calls = calls;
    this.#answered.clear();
  }

  #roleFor(role: unknown): unknown {
    const ruledRole = role === 'developer' && !this.#rules.acceptsDeveloperRole ? 'system' : role;
    this.#isLate ||= role === 'assistant' || role === 'tool';
    return ruledRole === 'system' && this.#rules.requiresInstructionsFirst && this.#isLate ? 'user' : ruledRole;
  }

  #addAnswer(json: JsonText, message: number, at: number): void {
    const foreign = foreignThinking(json, message, this.#rules, this.#mayHoldParts);
    if (foreign.length > 0) {
      this.leftOut.push(...foreign.map((name) => `messages[${at}].${name}`));
      this.#change((answer) => withoutThinking(answer, foreign));
    }
    const calls = findMember(json, 'tool_calls', message);
    if (calls === undefined || !json.isArray(calls)) return;
    const read = [...json.inside(calls)].map((call) => stringAt(json, call, 'id'));
    const ruledIds = read.map((id) => (id === undefined ? id : (this.#ids?.add(id) ?? id)));
    this.#begin(ruledIds.filter((id) => id !== undefined));
    if (ruledIds.every((id, place) => id === read[place])) return;
    this.#change((answer) => ({ ...answer, tool_calls: withIds(answer.tool_calls, ruledIds) }));
  }

  #addResult(json: JsonText, message: number): void {
    const id = stringAt(json, message, 'tool_call_id');
    if (id === undefined) return;
    const ruledId = this.#ids?.find(id) ?? id;
    this.#answered.add(ruledId);
    if (ruledId !== id) this.#change((result) => ({ ...result, tool_call_id: ruledId }));
  }
}

const parsed = (message: SentMessage): JsonObject => message.message ?? (parseJson(message.text) as JsonObject);

function stringAt(json: JsonText, object: number, name: string): string | undefined {
  const value = json.isObject(object) ? findMember(json, name, object) : undefined;
  if (value === undefined || !json.isString(value)) return undefined;
  const quoted = json.slice(value);
  return quoted.includes('\\') ? (parseJson(quoted) as string) : quoted.slice(1, -1);
}

const withIds = (calls: unknown, ids: readonly (string | undefined)[]): unknown =>
  Array.isArray(calls)
    ? calls.map((call: unknown, at) => (isJsonObject(call) && ids[at] !== undefined ? { ...call, id: ids[at] } : call))
    : calls;

const thinkingFields = ['reasoning_content', 'reasoning', 'reasoning_details'];

/**
 * Returns the names of the fields in which an answer has thinking that its target refuses, because another model made
 * it.
 */
function foreignThinking(json: JsonText, message: number, rules: TargetRules, mayHoldParts: boolean): string[] {
  if (rules.thinkingPlace === 'parts') {
    return thinkingFields.filter((name) => {
      const value = findMember(json, name, message);
      return value !== undefined && json.slice(value) !== 'null';
    });
  }
  if (!mayHoldParts) return [];
  const content = findMember(json, 'content', message);
  if (content === undefined || !json.isArray(content)) return [];
  return [...json.inside(content)].some((part) => stringAt(json, part, 'type') === 'thinking') ? ['content'] : [];
}

function withoutThinking(answer: JsonObject, foreign: readonly string[]): JsonObject {
  const { content } = answer;
  const rest = Object.entries(answer).filter(([name]) => name === 'content' || !foreign.includes(name));
  if (!foreign.includes('content') || !Array.isArray(content)) return Object.fromEntries(rest);
  const shownParts = content.filter((part) => !isJsonObject(part) || part.type !== 'thinking');
  return { ...Object.fromEntries(rest), content: shownParts.length > 0 ? shownParts : '' };
}

const joinable: ReadonlySet<string> = new Set(['role', 'content', 'refusal', 'tool_calls']);

/** Merges two consecutive turns; undefined if something besides their content would be lost. */
function joinedTurn(first: JsonObject, second: JsonObject, growing: WeakSet<unknown[]>): JsonObject | undefined {
  if (!isPlain(first) || !isPlain(second) || (first.tool_calls ?? null) !== null) return undefined;
  return { ...first, ...second, content: joinedContent(first.content, second.content, growing) };
}

function isPlain(message: JsonObject): boolean {
  for (const name in message) if (message[name] !== null && !joinable.has(name)) return false;
  return true;
}

function joinedContent(first: unknown, second: unknown, growing: WeakSet<unknown[]>): unknown {
  if ((first ?? '') === '') return second;
  if ((second ?? '') === '') return first;
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n\n${second}`;
  const content = Array.isArray(first) && growing.has(first) ? first : [...partsOf(first)];
  growing.add(content);
  for (const part of partsOf(second)) content.push(part);
  return content;
}

const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : [{ type: 'text', text: content }];

// Ids of calls for targets that require short ids.

const shortId = /^[a-zA-Z0-9]{9}$/;
const shortIdCharacters = 9;

interface ShortIds {
  add(id: string): string;
  /** Returns the id of the call that a result answers. */
  find(id: string): string | undefined;
}

/**
 * Creates the ids of one request. A call and its results have the same id, and each call has a different id, whatever
 * its model wrote.
 */
function createShortIds(): ShortIds {
  const used = new Set<string>();
  /** Calls by the original id: the calls without a result yet, and the last call. */
  const waiting = new Map<string, { readonly open: string[]; readonly last: string }>();

  function shortOf(id: string): string {
    if (shortId.test(id) && !used.has(id)) return id;
    for (let round = 0; ; round += 1) {
      const short = sha256Hex(`${round} ${id}`).slice(0, shortIdCharacters);
      if (!used.has(short)) return short;
    }
  }

  return {
    add(id) {
      const shortId = shortOf(id);
      used.add(shortId);
      const known = waiting.get(id) ?? { open: [], last: shortId };
      known.open.push(shortId);
      waiting.set(id, { ...known, last: shortId });
      return shortId;
    },
    find(id) {
      const known = waiting.get(id);
      return known?.open.shift() ?? known?.last;
    },
  };
}
