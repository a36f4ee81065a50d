// How a client calls each interface, one entry for each interface: the only place that a further interface adds to.
import type { InterfaceId, servingApis } from '../../shared/foundation/constants/index.ts';
import { dataLines } from '../support/harness.ts';
import { png } from '../support/png.ts';
import type { Json } from '../support/provider-answers.ts';
import { spokenInterfaces } from '../support/spoken-interfaces.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of thirteen shapes, each read by its entry.
type Any = any;

/** Functions that find a model's text in an answer. */
export interface WrittenText {
  readonly whole: (answer: Any) => string;
  readonly streamed: (events: string) => string;
  /** The finish reason, if an answer has one, and its value for a blocked answer. */
  readonly end?: {
    readonly whole: (answer: Any) => unknown;
    readonly streamed: (events: string) => unknown;
    readonly blocked: string;
  };
}

interface Entry {
  /** The path after the base URL. */
  readonly path: string;
  /** The path after the origin, if the path names the model and whether it streams. */
  readonly pathOf?: (model: string, isStream: boolean) => string;
  /** Returns a request in which a model reads this text, and no other. */
  readonly fields: (text: string) => Json;
  /** The files of a request, if its requests are forms. */
  readonly files?: Readonly<Record<string, Buffer>>;
  /** Fields that ask for a stream; undefined if the interface has no streams. */
  readonly stream?: Json;
  /** Undefined if no model writes a text. */
  readonly text?: WrittenText;
  /** Returns the error code of a broken stream; undefined if the stream is whole. */
  readonly brokenWith?: (events: string) => string | undefined;
  /** Fields of an error about a failed provider; undefined for the form that most interfaces have. */
  readonly errorForm?: Json;
  /** Returns fields with a tool of these parameters; undefined if models of the interface call no tools. */
  readonly tool?: (parameters: Json) => Json;
  /** Returns fields that ask for an answer by a schema, which the gateway checks; undefined if it checks none. */
  readonly schema?: (schema: Json) => Json;
  /**
   * Fields with which a provider stores the answer so that it can be read again by its id; undefined if providers store
   * none.
   */
  readonly storeFields?: Json;
  /** Fields that refer to an object that a provider stores; undefined if the interface has no such reference. */
  readonly reference?: Json;
  /** Set if no provider of another format can serve the request. */
  readonly isRefusedTranslated?: true;
  /** The fields with which a stored answer may be used again; undefined if answers are not cached. */
  readonly cached?: Json;
}

/** An entry with the model of each kind of provider that has its own form of the interface. */
type InterfaceEntry<Id extends InterfaceId> = Entry &
  ((typeof servingApis)[Id] extends { readonly apisByKind: infer Kinds }
    ? { readonly kinds: Readonly<Record<keyof Kinds, string>> }
    : { readonly kinds?: undefined });

const eventsOf = (text: string): Any[] =>
  dataLines(text)
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line));

/** Throws if text follows the error. */
function errorEventOf(text: string): string | undefined {
  const codes = eventsOf(text).map(({ type, error }) => (type === 'error' ? String(error?.code) : undefined));
  if (codes.slice(0, -1).some((code) => code !== undefined)) throw new Error('something follows an error');
  return codes.at(-1);
}

function interfaceOf(id: InterfaceId) {
  const found = spokenInterfaces.find((one) => one.id === id);
  if (found === undefined) throw new Error(`${id} is no interface of conversations`);
  return found;
}
const [chat, messages, responses] = [
  interfaceOf('chat-completions'),
  interfaceOf('messages'),
  interfaceOf('responses'),
];

const stream = { stream: true };
const userMessages = (text: string) => [{ role: 'user', content: text }];
const functionOf = (parameters: Json) => ({ name: 'look', parameters });
const claudeError = { type: 'error', error: { type: 'api_error' }, error_code: 'no_available_provider' };
const googleError = { error: { code: 502, status: 'UNAVAILABLE' } };
const gemini = (text: string) => [{ role: 'user', parts: [{ text }] }];
const textOfCandidate = ({ candidates }: Any): string =>
  (candidates?.[0]?.content?.parts ?? []).map(({ text = '', thought }: Any) => (thought === true ? '' : text)).join('');
const geminiTool = (parametersJsonSchema: Json) => ({
  tools: [{ functionDeclarations: [{ name: 'look', parametersJsonSchema }] }],
});
const claudeTool = (parameters: Json) => ({ tools: [{ name: 'look', input_schema: parameters }] });
const responsesTool = (parameters: Json) => ({ tools: [{ type: 'function', ...functionOf(parameters) }] });
/** Returns the text of an item, whose content is a text or a list of parts. */
const textOfItem = ({ content = [] }: Any): string =>
  typeof content === 'string' ? content : content.map(({ text = '' }: Any) => text).join('');
const file = (type: string) => ({ role: 'user', content: [{ type, file: { file_id: 'file-1' } }] });
const claudeFile = {
  messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }] }],
};
const byName =
  (operation: string, streamOperation = operation) =>
  (model: string, isStream: boolean): string =>
    `/bedrock/model/${encodeURIComponent(model)}/${isStream ? streamOperation : operation}`;
/** Returns the code of the last event, if it is an exception. */
const brokenFrames = (events: string): string | undefined => {
  const codes = eventsOf(events).map(({ code, message }) => (message === undefined ? undefined : code));
  if (codes.slice(0, -1).some((code) => code !== undefined)) throw new Error('something follows an exception');
  return codes.at(-1);
};
const saidAtBedrock = (text: string) => [{ role: 'user', content: [{ text }] }];
const converseTool = (parameters: Json) => ({
  toolConfig: { tools: [{ toolSpec: { name: 'look', inputSchema: { json: parameters } } }] },
});
const inBucket = { document: { name: 'report', format: 'pdf', source: { s3Location: { uri: 's3://bucket/report' } } } };
const converseFile = { messages: [{ role: 'user', content: [inBucket] }] };
/** A recording in no known format. */
const audio = Buffer.alloc(3_000, 7);
const picture = Buffer.from(png(8, 8).split(',')[1] ?? '', 'base64');
const imageKinds = {
  bedrock: 'amazon.nova-canvas-v1:0',
  google: 'gemini-2.5-flash-image',
  vertex: 'gemini-2.5-flash-image',
};

export const clientInterfaces: { readonly [Id in InterfaceId]: InterfaceEntry<Id> } = {
  'chat-completions': {
    path: chat.path,
    fields: (text) => ({ messages: userMessages(text), max_tokens: 300 }),
    stream,
    text: {
      whole: ({ choices }) => choices[0].message.content,
      streamed: chat.contentOf,
      end: {
        whole: ({ choices }) => choices[0].finish_reason,
        streamed: (events) =>
          eventsOf(events).findLast(({ choices }) => choices?.[0]?.finish_reason)?.choices[0].finish_reason,
        blocked: 'content_filter',
      },
    },
    brokenWith: chat.brokenWith,
    tool: (parameters) => ({ tools: [{ type: 'function', function: functionOf(parameters) }] }),
    schema: (schema) => ({ response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }),
    reference: { messages: [file('file')] },
    cached: {},
  },
  messages: {
    path: messages.path,
    fields: (text) => ({ messages: userMessages(text), max_tokens: 300 }),
    stream,
    text: {
      whole: ({ content }) => content.map((block: Any) => block.text ?? '').join(''),
      streamed: messages.contentOf,
      end: {
        whole: ({ stop_reason: reason }) => reason,
        streamed: (events) => eventsOf(events).find(({ type }) => type === 'message_delta')?.delta.stop_reason,
        blocked: 'refusal',
      },
    },
    brokenWith: messages.brokenWith,
    errorForm: claudeError,
    tool: claudeTool,
    reference: claudeFile,
    cached: {},
  },
  'count-tokens': {
    path: '/messages/count_tokens',
    fields: (text) => ({ messages: userMessages(text) }),
    errorForm: claudeError,
    tool: claudeTool,
    reference: claudeFile,
  },
  responses: {
    path: responses.path,
    fields: (text) => ({ input: userMessages(text), max_output_tokens: 300, store: false }),
    stream,
    text: {
      whole: ({ output }) => output.map(textOfItem).join(''),
      streamed: responses.contentOf,
      end: {
        whole: ({ incomplete_details: details }) => details?.reason,
        streamed: (events) => eventsOf(events).at(-1).response.incomplete_details?.reason,
        blocked: 'content_filter',
      },
    },
    brokenWith: responses.brokenWith,
    tool: responsesTool,
    storeFields: { store: true },
    reference: { previous_response_id: 'resp_1' },
    cached: {},
  },
  'input-tokens': {
    path: '/responses/input_tokens',
    fields: (text) => ({ input: userMessages(text) }),
    tool: responsesTool,
    reference: { previous_response_id: 'resp_1' },
  },
  compact: {
    path: '/responses/compact',
    fields: (text) => ({ input: userMessages(text) }),
    text: { whole: ({ output }) => output.map(textOfItem).join(''), streamed: () => '' },
    reference: { previous_response_id: 'resp_1' },
    isRefusedTranslated: true,
  },
  invoke: {
    path: '',
    pathOf: byName('invoke', 'invoke-with-response-stream'),
    fields: (text) => ({ anthropic_version: 'bedrock-2023-05-31', messages: userMessages(text), max_tokens: 300 }),
    stream: {},
    text: {
      whole: ({ content }) => content.map((block: Any) => block.text ?? '').join(''),
      streamed: messages.contentOf,
      end: {
        whole: ({ stop_reason: reason }) => reason,
        streamed: (events) => eventsOf(events).find(({ type }) => type === 'message_delta')?.delta.stop_reason,
        blocked: 'refusal',
      },
    },
    brokenWith: brokenFrames,
    errorForm: { code: 'no_available_provider' },
    tool: claudeTool,
    reference: claudeFile,
    cached: {},
  },
  converse: {
    path: '',
    pathOf: byName('converse', 'converse-stream'),
    fields: (text) => ({ messages: saidAtBedrock(text), inferenceConfig: { maxTokens: 300 } }),
    stream: {},
    text: {
      whole: ({ output }) => output.message.content.map(({ text = '' }: Any) => text).join(''),
      streamed: (events) =>
        eventsOf(events)
          .map(({ delta }) => delta?.text ?? '')
          .join(''),
      end: {
        whole: ({ stopReason }) => stopReason,
        streamed: (events) => eventsOf(events).find(({ stopReason }) => stopReason !== undefined)?.stopReason,
        blocked: 'guardrail_intervened',
      },
    },
    brokenWith: brokenFrames,
    errorForm: { code: 'no_available_provider' },
    tool: converseTool,
    reference: converseFile,
    cached: {},
  },
  'converse-tokens': {
    path: '',
    pathOf: byName('count-tokens'),
    fields: (text) => ({ input: { converse: { messages: saidAtBedrock(text) } } }),
    errorForm: { code: 'no_available_provider' },
    tool: (parameters) => ({ input: { converse: { messages: saidAtBedrock('Hello'), ...converseTool(parameters) } } }),
    reference: { input: { converse: converseFile } },
  },
  'generate-content': {
    path: '',
    pathOf: (model, isStream) =>
      `/v1beta/models/${model}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    fields: (text) => ({ contents: gemini(text), generationConfig: { maxOutputTokens: 300 } }),
    stream: {},
    text: {
      whole: textOfCandidate,
      streamed: (events) => eventsOf(events).map(textOfCandidate).join(''),
      end: {
        whole: ({ candidates }) => candidates[0].finishReason,
        streamed: (events) =>
          eventsOf(events).findLast(({ candidates }) => candidates?.[0]?.finishReason)?.candidates[0].finishReason,
        blocked: 'SAFETY',
      },
    },
    brokenWith: (events) => eventsOf(events).at(-1)?.error?.details[0].reason,
    errorForm: googleError,
    tool: geminiTool,
    reference: { cachedContent: 'cachedContents/1' },
    cached: {},
  },
  'count-contents': {
    path: '',
    pathOf: (model) => `/v1beta/models/${model}:countTokens`,
    fields: (text) => ({ contents: gemini(text) }),
    errorForm: googleError,
    tool: geminiTool,
    reference: { cachedContent: 'cachedContents/1' },
  },
  'embed-content': {
    path: '',
    pathOf: (model) => `/v1beta/models/${model}:embedContent`,
    fields: (text) => ({ content: { parts: [{ text }] } }),
    errorForm: googleError,
    kinds: {
      bedrock: 'amazon.titan-embed-text-v2:0',
      google: 'gemini-embedding-001',
      vertex: 'text-embedding-005',
    },
    cached: {},
  },
  embeddings: {
    path: '/embeddings',
    fields: (text) => ({ input: text }),
    kinds: {
      bedrock: 'amazon.titan-embed-text-v2:0',
      google: 'gemini-embedding-001',
      vertex: 'text-embedding-005',
    },
    cached: {},
  },
  images: {
    path: '/images/generations',
    fields: (text) => ({ prompt: text }),
    stream: { stream: true, partial_images: 2 },
    brokenWith: errorEventOf,
    kinds: imageKinds,
    cached: {},
  },
  'image-edits': {
    path: '/images/edits',
    fields: (text) => ({ prompt: text }),
    files: { image: picture },
    stream: { stream: true, partial_images: 2 },
    brokenWith: errorEventOf,
    reference: { images: [{ file_id: 'file-1' }] },
    kinds: imageKinds,
    cached: {},
  },
  moderations: {
    path: '/moderations',
    fields: (text) => ({ input: text }),
    cached: {},
  },
  speech: {
    path: '/audio/speech',
    fields: (text) => ({ input: text, voice: 'alloy', response_format: 'wav' }),
    stream: { stream_format: 'sse' },
    brokenWith: errorEventOf,
    cached: {},
  },
  transcriptions: {
    path: '/audio/transcriptions',
    fields: (text) => ({ prompt: text }),
    files: { file: audio },
    stream: { stream: true },
    text: {
      whole: ({ text }) => text,
      streamed: (events) =>
        eventsOf(events)
          .map(({ type, delta }) => (type === 'transcript.text.delta' ? delta : ''))
          .join(''),
    },
    brokenWith: errorEventOf,
    cached: {},
  },
  rerank: {
    path: '/rerank',
    fields: (text) => ({ query: text, documents: ['Hello', 'Bye'] }),
    kinds: { bedrock: 'cohere.rerank-v3-5:0' },
    cached: {},
  },
};
