// Reads a Responses request, and refuses it as OpenAI would.
import type { ProviderRefusal, Received } from '../call.ts';
import { type ModelRequest, plainRequest, type RequestTurn } from '../model-request.ts';
import { encryptedBy, isThinker } from '../signature.ts';
import { responsesRefusals as modelRefusals, type OpenAiBody } from './openai-refusals.ts';

interface InputPart {
  readonly type: string;
  readonly text?: string;
}

interface InputItem {
  /** Type of the item; a message by default. */
  readonly type?: string;
  readonly id?: string;
  readonly name?: string;
  readonly role?: string;
  readonly content?: string | readonly InputPart[];
  readonly call_id?: string;
  readonly arguments?: string;
  readonly output?: string | readonly InputPart[];
  readonly summary?: readonly InputPart[];
  readonly encrypted_content?: string | null;
}

/** The fields that are read; the request may have others. */
export interface SimulatedResponsesBody {
  readonly model: string;
  readonly input?: string | readonly InputItem[];
  readonly instructions?: string | null;
  readonly previous_response_id?: string | null;
  readonly prompt?: unknown;
  readonly stream?: boolean | null;
  readonly store?: boolean | null;
  readonly background?: boolean | null;
  readonly max_output_tokens?: number | null;
  readonly temperature?: number | null;
  readonly include?: readonly string[] | null;
  readonly metadata?: unknown;
  readonly parallel_tool_calls?: boolean | null;
  readonly reasoning?: { readonly effort?: string | null } | null;
  readonly text?: { readonly format?: { readonly type: string; readonly schema?: unknown } } | null;
  readonly tool_choice?: string | { readonly type: string; readonly name?: string } | null;
  readonly tools?:
    | readonly {
        readonly type: string;
        readonly name: string;
        readonly parameters?: unknown;
        readonly strict?: boolean | null;
      }[]
    | null;
}

export function readResponses({ body: json }: Received): ModelRequest | string {
  if (json === undefined) return 'We could not parse the JSON body of your request.';
  const body = (json ?? {}) as SimulatedResponsesBody;
  const invalid = whyInvalid(body);
  if (invalid !== undefined) return invalid;
  const { model, instructions, input = [], tools, tool_choice: choice, text, reasoning } = body;
  const format = text?.format;
  return {
    ...plainRequest,
    model,
    isStream: body.stream === true,
    turns: [
      ...(typeof instructions === 'string' ? [{ role: 'system', text: instructions }] : []),
      ...itemsOfInput(input).flatMap(turnsOf),
    ],
    tools: (tools ?? []).filter(({ type }) => type === 'function'),
    toolChoice: toolChoiceOf(choice),
    isParallel: body.parallel_tool_calls !== false,
    outputTokensMax: body.max_output_tokens ?? undefined,
    output:
      format?.type === 'json_schema' ? { schema: format.schema } : format?.type === 'json_object' ? 'object' : 'text',
    isThinking: reasoning !== undefined && reasoning !== null && reasoning.effort !== 'none',
  };
}

/** Reads the input of a request that generates no response. */
export function readInput(call: Received): ModelRequest | string {
  const request = readResponses(call);
  return typeof request === 'string' ? request : { ...request, isStream: false };
}

function toolChoiceOf(choice: SimulatedResponsesBody['tool_choice']): ModelRequest['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice;
  return typeof choice === 'object' && choice?.type === 'function' ? { name: choice.name ?? '' } : 'auto';
}

export const itemsOfInput = (input: string | readonly InputItem[]): readonly InputItem[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : input.map(withType);

/** Resolves an item that is only an id, and refers to a stored item. */
const withType = (item: InputItem): InputItem => {
  const { type, ...rest } = item ?? {};
  if ((type ?? null) !== null || typeof item !== 'object') return item;
  return rest.role === undefined && rest.id !== undefined ? { ...rest, type: 'item_reference' } : rest;
};

const partsOf = (content: string | readonly InputPart[] = []): readonly InputPart[] =>
  typeof content === 'string' ? [{ type: 'input_text', text: content }] : content;

/**
 * Returns the turns. Every part is a turn of its own, because agents place their own remarks before the user's text.
 */
function turnsOf(item: InputItem): readonly RequestTurn[] {
  if (item.arguments !== undefined) return [{ role: 'assistant', text: '', toolArguments: [item.arguments] }];
  const isResult = item.output !== undefined;
  const role = isResult ? 'tool' : (item.role ?? 'assistant');
  return partsOf(isResult ? item.output : (item.content ?? item.summary)).map(({ type, text = '' }) => ({
    role,
    text,
    images: type === 'input_image' ? 1 : 0,
  }));
}

function whyInvalid(body: SimulatedResponsesBody): string | undefined {
  const { model, input, previous_response_id: previous, prompt } = body;
  if (typeof model !== 'string' || model === '') return "Missing required parameter: 'model'.";
  const isThere = typeof input === 'string' || Array.isArray(input);
  if (!isThere && (input !== undefined || (!previous && !prompt))) {
    return "Missing required parameter: one of 'input' or 'previous_response_id' or 'prompt' must be provided.";
  }
  const items = itemsOfInput(input ?? []);
  const odd = items.findIndex((item) => typeof item !== 'object' || (item?.role ?? item?.type) === undefined);
  if (odd >= 0) return `Invalid value: 'input[${odd}]'. Every item needs a type or a role.`;
  return (
    invalidMember(body) ??
    invalidNames(items, body) ??
    invalidCall(items, previous) ??
    items.map((item) => invalidReasoning(item, body)).find(isText)
  );
}

const isText = (value: unknown): value is string => typeof value === 'string';

const outputTokensMin = 16;

/** Models of OpenAI; other hosts of Responses accept any limit. */
const isOpenAi = /(^|\/)(gpt-|o\d)/;

/** Fields of chat completions. */
const elsewhere = ['stop', 'max_tokens', 'max_completion_tokens', 'messages', 'response_format', 'reasoning_effort'];

function invalidMember(body: SimulatedResponsesBody): string | undefined {
  const { model, max_output_tokens: bound, temperature, reasoning } = body;
  const unknown = elsewhere.find((member) => member in body);
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'.`;
  if (isOpenAi.test(model) && typeof bound === 'number' && bound < outputTokensMin) {
    return `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${outputTokensMin}, but got ${bound} instead.`;
  }
  const isThinking = isThinker(model) && reasoning?.effort !== 'none';
  if (isThinking && typeof temperature === 'number') {
    return "Unsupported parameter: 'temperature' is not supported with this model.";
  }
  if (
    body.text?.format?.type === 'json_object' &&
    !/json/i.test(JSON.stringify(body.input) + (body.instructions ?? ''))
  ) {
    return "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
  }
  return undefined;
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/;
/** Prefixes of item ids, by item type. */
const idPrefixes: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', reasoning: 'rs' };

function invalidNames(items: readonly InputItem[], { tools }: SimulatedResponsesBody): string | undefined {
  const declared = (tools ?? []).filter(({ type }) => type === 'function').map(({ name }) => name);
  const calledNames = items.flatMap(({ type, name = '' }) => (type === 'function_call' ? [name] : []));
  if (![...declared, ...calledNames].every((name) => toolName.test(name))) {
    return `Invalid 'tools[0].name': string does not match pattern. Expected a string that matches the pattern '${toolName.source}'.`;
  }
  const odd = items.findIndex(({ type = 'message', id }) => id !== undefined && !id.startsWith(idPrefixes[type] ?? ''));
  if (odd >= 0) {
    const { id, type = 'message' } = items[odd] ?? {};
    return `Invalid 'input[${odd}].id': '${id}'. Expected an ID that begins with '${idPrefixes[type]}'.`;
  }
  // Reasoning belongs to the output that follows it.
  const last = items.findLast(({ type }) => type === 'reasoning');
  return last !== undefined && last === items.at(-1)
    ? `InputItem '${last.id}' of type 'reasoning' was provided without its required following item.`
    : undefined;
}

const callIdMaxCharacters = 64;

function invalidCall(items: readonly InputItem[], previous: unknown): string | undefined {
  const outputIds = items.filter(({ output }) => output !== undefined).map(({ call_id }) => call_id);
  const callIds = items.filter(({ type = '' }) => type.endsWith('_call')).map(({ call_id }) => call_id);
  const open = items.find((item) => item.type === 'function_call' && !outputIds.includes(item.call_id));
  if (open !== undefined) return `No tool output found for function call ${open.call_id}.`;
  const orphan = items.find(({ output, call_id }) => output !== undefined && !callIds.includes(call_id));
  if (orphan !== undefined && !previous) {
    return `No tool call found for function call output with call_id ${orphan.call_id}.`;
  }
  const long = items.findIndex(({ call_id = '' }) => call_id.length > callIdMaxCharacters);
  if (long < 0) return undefined;
  return `Invalid 'input[${long}].call_id': string too long. Expected a string with maximum length ${callIdMaxCharacters}.`;
}

function invalidReasoning(
  { type, id, summary = [], encrypted_content: encrypted }: InputItem,
  { model, store }: SimulatedResponsesBody,
): string | undefined {
  if (type !== 'reasoning') return undefined;
  if (encrypted === undefined && store === false)
    return `InputItem with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
  const isOwn =
    (encrypted ?? null) === null || encrypted === encryptedBy(model, summary.map(({ text = '' }) => text).join(''));
  return isOwn ? undefined : 'The encrypted content could not be verified.';
}

// Refuses a conversation that is sent again, as OpenAI does.

interface ResponsesHistory {
  readonly input?: string | readonly HistoryItem[];
  readonly previous_response_id?: string | null;
  readonly conversation?: unknown;
}

interface HistoryItem {
  readonly type?: string;
  readonly call_id?: string;
}

export const responsesRefusals: readonly ProviderRefusal<OpenAiBody & ResponsesHistory>[] = [
  ...modelRefusals,
  {
    source: 'https://github.com/continuedev/continue/issues/10092',
    why({ input, previous_response_id: previous, conversation }) {
      if (!Array.isArray(input) || (previous ?? conversation ?? null) !== null) return undefined;
      const items = input as readonly HistoryItem[];
      const callIds = new Set(items.flatMap(({ type, call_id: id }) => (type?.endsWith('_call') === true ? [id] : [])));
      const orphan = items.find(({ type, call_id: id }) => type === 'function_call_output' && !callIds.has(id));
      return orphan && `No tool call found for function call output with call_id ${orphan.call_id}.`;
    },
  },
];
