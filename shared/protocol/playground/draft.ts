// A call of the playground, independent of interfaces: each of them writes it in its own form.
import type { EventFold } from '../event-folds/index.ts';

export interface PlaygroundTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema. */
  readonly parameters: object;
}

export interface PlaygroundToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it. */
  readonly arguments: string;
}

export type PlaygroundTurn =
  | { readonly role: 'user'; readonly text: string /** As data URLs. */; readonly images: readonly string[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly PlaygroundToolCall[] }
  | { readonly role: 'tool'; readonly results: readonly { readonly id: string; readonly text: string }[] };

export interface Draft {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly PlaygroundTurn[];
  readonly temperature: number | undefined;
  readonly outputTokensMax: number | undefined;
  readonly tools: readonly PlaygroundTool[];
  /** Fields of the body beside those that follow from the others, which they replace. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly streams: boolean;
  /** Sent in a form. */
  readonly file?: File | undefined;
}

/** The output of an answer, whole or so far. */
export interface ShownOutput {
  readonly text?: string;
  /** URLs. */
  readonly images?: readonly string[];
  readonly calls?: readonly PlaygroundToolCall[];
}

/** Writes a draft in the form of an interface, and reads its answers. */
export interface PlaygroundInterface {
  readonly title: string;
  /** Below the base URL. */
  readonly path: string;
  readonly hasStreams: boolean;
  /** Its calls continue a conversation, with instructions, tools and images. */
  readonly hasTurns: boolean;
  /** Its calls are forms with a file of this field, of these types. */
  readonly file?: { readonly field: string; readonly types: string };
  readonly body: (draft: Draft) => Record<string, unknown>;
  /** Where the path names the model: the call of a body, whose path is below the origin. */
  readonly callOf?: (body: Readonly<Record<string, unknown>>) => PlaygroundCall;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any provider, read with care for what is not there.
  readonly readAnswer: (answer: any) => ShownOutput;
  /** Puts the events of a stream together as an answer. Undefined where there are none. */
  readonly openFold: (() => EventFold) | undefined;
  /** Code with the SDK of the interface. `origin`: that of the gateway. */
  readonly python: (origin: string, body: Readonly<Record<string, unknown>>, file?: SentFile) => string;
}

export interface PlaygroundCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** `baseUrl`: ends in /v1. */
export function sentCall(
  { path, callOf }: Pick<PlaygroundInterface, 'path' | 'callOf'>,
  baseUrl: string,
  body: Readonly<Record<string, unknown>>,
): { readonly url: string; readonly body: Readonly<Record<string, unknown>> } {
  if (callOf === undefined) return { url: baseUrl + path, body };
  const call = callOf(body);
  return { url: new URL(baseUrl).origin + call.path, body: call.body };
}

/** The file of a call, as code names it. */
export interface SentFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
}

export const sentFile = ({ file: of }: PlaygroundInterface, { file }: Draft): SentFile | undefined =>
  of && file && { field: of.field, name: file.name, type: file.type || 'application/octet-stream' };

export const isFunction = (model: string): boolean => model.startsWith('gw/function/');

/** Drops undefined fields. */
export const definedFields = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''));

/** A body as the fields of a form: a list is a field several times, an object is JSON. */
export function formFields(body: Readonly<Record<string, unknown>>): (readonly [name: string, text: string])[] {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(body)
    .filter(([, value]) => value !== null)
    .flatMap(([name, value]): (readonly [string, string])[] =>
      Array.isArray(value) ? value.map((one) => [`${name}[]`, textOf(one)] as const) : [[name, textOf(value)]],
    );
}

/** The text of the last question. */
export function exampleText({ turns }: Pick<Draft, 'turns'>): string {
  const last = turns.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.text : '';
}
