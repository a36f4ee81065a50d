// Defines a call of the playground, independent of interfaces. Each interface writes the call in its own format.
import type { EventFold } from '../event-folds/index.ts';

export interface PlaygroundTool {
  readonly name: string;
  readonly description?: string;
  /** Parameters as a JSON schema. */
  readonly parameters: object;
}

export interface PlaygroundToolCall {
  readonly id: string;
  readonly name: string;
  /** Arguments as the JSON that the model wrote. */
  readonly arguments: string;
}

export type PlaygroundTurn =
  | { readonly role: 'user'; readonly text: string /** Images are data URLs. */; readonly images: readonly string[] }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly PlaygroundToolCall[] }
  | { readonly role: 'tool'; readonly results: readonly { readonly id: string; readonly text: string }[] };

export interface Draft {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly PlaygroundTurn[];
  readonly temperature: number | undefined;
  readonly outputTokensMax: number | undefined;
  readonly tools: readonly PlaygroundTool[];
  /** Further fields of the body, which replace the fields that follow from the draft's other fields. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly streams: boolean;
  /** File that is sent in a form. */
  readonly file?: File | undefined;
}

/** The output of an answer, complete or so far. */
export interface ShownOutput {
  readonly text?: string;
  /** URLs of images. */
  readonly images?: readonly string[];
  readonly calls?: readonly PlaygroundToolCall[];
}

/** Writes a draft in the format of an interface, and reads its answers. */
export interface PlaygroundInterface {
  readonly title: string;
  /** Path below the base URL. */
  readonly path: string;
  readonly hasStreams: boolean;
  /** True if its calls continue a conversation, with instructions, tools and images. */
  readonly hasTurns: boolean;
  /** Field and types of the file, if its calls are forms with a file. */
  readonly file?: { readonly field: string; readonly types: string };
  readonly body: (draft: Draft) => Record<string, unknown>;
  /** Returns the call of a body, if the path names the model; the path is below the origin. */
  readonly callOf?: (body: Readonly<Record<string, unknown>>) => PlaygroundCall;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any provider, read with care for what is not there.
  readonly readAnswer: (answer: any) => ShownOutput;
  /** Assembles the events of a stream as an answer. Undefined if the interface has no streams. */
  readonly openFold: (() => EventFold) | undefined;
  /** Writes code with the SDK of the interface. `origin` is the origin of the gateway. */
  readonly python: (origin: string, body: Readonly<Record<string, unknown>>, file?: SentFile) => string;
}

export interface PlaygroundCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Returns the call as it is sent. `baseUrl` ends in /v1. */
export function sentCall(
  { path, callOf }: Pick<PlaygroundInterface, 'path' | 'callOf'>,
  baseUrl: string,
  body: Readonly<Record<string, unknown>>,
): { readonly url: string; readonly body: Readonly<Record<string, unknown>> } {
  if (callOf === undefined) return { url: baseUrl + path, body };
  const call = callOf(body);
  return { url: new URL(baseUrl).origin + call.path, body: call.body };
}

/** The file of a call, as code refers to it. */
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

/** Returns a body as the fields of a form. A list becomes a repeated field, and an object becomes JSON. */
export function formFields(body: Readonly<Record<string, unknown>>): (readonly [name: string, text: string])[] {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return Object.entries(body)
    .filter(([, value]) => value !== null)
    .flatMap(([name, value]): (readonly [string, string])[] =>
      Array.isArray(value) ? value.map((one) => [`${name}[]`, textOf(one)] as const) : [[name, textOf(value)]],
    );
}

/** Returns the text of the last question. */
export function exampleText({ turns }: Pick<Draft, 'turns'>): string {
  const last = turns.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.text : '';
}
