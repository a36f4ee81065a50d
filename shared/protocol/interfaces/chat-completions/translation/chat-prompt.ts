// Converts the messages of a chat completion to a prompt.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import {
  type AssistantPart,
  addResults,
  cacheMark,
  createKnownCalls,
  envelopeOptions,
  fileOfUrl,
  isBlank,
  isMarked,
  type KnownCall,
  type KnownCalls,
  markedAs,
  type OptionalMember,
  type PromptPart,
  type PromptReader,
  signedOptions,
  type ToolMessage,
  type ToolOutput,
  textParts,
  withDetail,
  withoutMark,
} from '../../../hub/index.ts';
import { type Envelopes, isJsonObject, type JsonObject, type SignedEnvelope } from '../../../wire/index.ts';

export function openPrompt(open: Envelopes['open']): PromptReader {
  const prompt: LanguageModelV4Prompt = [];
  const unknownFields: OptionalMember[] = [];
  const reading = {
    calls: createKnownCalls(),
    open,
    addUnknownField(member: string): void {
      if (unknownFields.length === 0) unknownFields.push({ name: 'other', member, value: true });
    },
  };
  function read(message: JsonObject, at: number): void {
    if (message.role === 'tool') addResult(prompt, message, reading.calls);
    else if (message.role === 'assistant') prompt.push(...toAssistant(message, `messages[${at}]`, reading));
    else if (message.role === 'system' || message.role === 'developer') prompt.push(...toSystem(message));
    else prompt.push(...toUser(message));
  }
  return { prompt, unknownFields, read };
}

const toSystem = (message: JsonObject): LanguageModelV4Prompt =>
  toTextParts(message.content).map(({ text, providerOptions = cacheMark(message).providerOptions }) => ({
    role: 'system',
    content: text,
    ...(providerOptions === undefined ? {} : { providerOptions }),
  }));

function toUser(message: JsonObject): LanguageModelV4Prompt {
  const content = toParts(message.content);
  return content.length === 0 ? [] : [{ role: 'user', content, ...cacheMark(message) }];
}

interface AssistantReading {
  readonly open: Envelopes['open'];
  readonly calls: KnownCalls;
  readonly addUnknownField: (member: string) => void;
}

function toAssistant(message: JsonObject, path: string, reading: AssistantReading): LanguageModelV4Prompt {
  const { calls, open, addUnknownField } = reading;
  calls.beginAnswer();
  const { thoughts, signatures, phase, strangerAt } = readReasoningDetails(message, path, open);
  if (strangerAt !== undefined) addUnknownField(strangerAt);
  const texts = [...toTextParts(message.content), ...toTextParts(message.refusal)];
  const signed = signatures.get('') ?? (texts.length > 0 ? phase : undefined);
  if (signed !== undefined) {
    const last = texts.pop() ?? emptyText;
    texts.push({ ...last, providerOptions: { ...last.providerOptions, ...signed } });
  }
  const toolCalls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).filter(isJsonObject);
  const callParts = toolCalls.map((call, at): AssistantPart => {
    const fn = calledFunction(call);
    const { id, name } = calls.add(call.id, textOf(fn.name) ?? '');
    const options = besideOf(call, `${path}.tool_calls[${at}]`, reading) ?? signatures.get(textOf(call.id) ?? '');
    return {
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: calls.readArguments(fn.arguments),
      ...(options === undefined ? {} : { providerOptions: options }),
    };
  });
  const content = [...thoughts, ...texts, ...toImages(message.images, path, reading), ...callParts];
  return content.length === 0 ? [] : [{ role: 'assistant', content, ...cacheMark(message) }];
}

/** Returns the name and arguments of a call; the arguments of a custom tool are one text. */
function calledFunction({ function: fn, custom }: JsonObject): JsonObject {
  if (isJsonObject(fn)) return fn;
  return isJsonObject(custom) ? { name: custom.name, arguments: { input: custom.input ?? '' } } : {};
}

/** Returns images of an answer that the gateway wrote, which clients send again with the message. */
const toImages = (images: unknown, path: string, reading: AssistantReading): AssistantPart[] =>
  (Array.isArray(images) ? images : []).filter(isJsonObject).flatMap((image, at): AssistantPart[] => {
    const url = isJsonObject(image.image_url) ? image.image_url.url : undefined;
    if (typeof url !== 'string' || !/^data:[^,]{0,1000},/i.test(url)) return [];
    return [{ ...fileOfUrl(url, 'image'), providerOptions: besideOf(image, `${path}.images[${at}]`, reading) ?? {} }];
  });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const emptyText: LanguageModelV4TextPart = { type: 'text', text: '' };

/**
 * Returns the signature from the field of Google's own clients; undefined if this workspace got no signature in that
 * field.
 */
function besideOf(
  { extra_content: extra }: JsonObject,
  path: string,
  { open, addUnknownField }: AssistantReading,
): SharedV4ProviderOptions | undefined {
  const google = isJsonObject(extra) && isJsonObject(extra.google) ? extra.google : {};
  const { thought_signature: sealed } = google;
  const envelope = open(sealed);
  const field = `${path}.extra_content.google.thought_signature`;
  if (envelope === undefined && typeof sealed === 'string' && sealed !== '') addUnknownField(field);
  return envelope && envelopeOptions({ ...envelope, field });
}

/** Adds a result. Every provider refuses a result without its call, so such a result becomes text of the user. */
function addResult(prompt: LanguageModelV4Prompt, message: JsonObject, calls: KnownCalls): void {
  const call = calls.takeResult(message.tool_call_id);
  if (call !== undefined) addResults(prompt, toResult(message, call));
  else prompt.push({ role: 'user', content: [...textParts('Result of a tool:'), ...toParts(message.content)] });
}

function toResult(message: JsonObject, { id, name }: KnownCall): ToolMessage {
  const parts = toParts(message.content);
  // Inside a result a part has no cache mark of its own, because the result as a whole has the mark.
  const markedPart = parts.find(isMarked) ?? cacheMark(message);
  const content: ToolMessage['content'][number] = {
    type: 'tool-result',
    toolCallId: id,
    toolName: name,
    output: toOutput(parts),
    ...(markedPart.providerOptions === undefined ? {} : { providerOptions: markedPart.providerOptions }),
  };
  return { role: 'tool', content: [content] };
}

const toOutput = (parts: readonly PromptPart[]): ToolOutput =>
  parts.every((part) => part.type === 'text')
    ? { type: 'text', value: parts.map(({ text }) => text).join('\n') }
    : { type: 'content', value: parts.map(withoutMark) };

// Makes the parts of a message, which are text, images, audio and files in the types of the language-model interface.

/**
 * Returns the parts of a content, with a plain text as one part. A text without a visible character is dropped, because
 * providers refuse it, although models write such text before they call a tool.
 */
function toParts(content: unknown): PromptPart[] {
  if (typeof content === 'string') return textParts(content);
  const parts = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return parts.flatMap((part) => {
    const read = toPart(part);
    if (read === undefined || (read.type === 'text' && isBlank(read.text))) return [];
    return [markedAs(read, part)];
  });
}

/** Returns one part for each text; other parts are dropped. */
const toTextParts = (content: unknown): LanguageModelV4TextPart[] =>
  toParts(content).filter((part) => part.type === 'text');

function toPart(part: JsonObject): PromptPart | undefined {
  if (typeof part.text === 'string') return { type: 'text', text: part.text };
  if (typeof part.refusal === 'string') return { type: 'text', text: part.refusal };
  if (part.type === 'image_url' || part.type === 'input_image') {
    const { url, detail } = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url, detail: undefined };
    return typeof url === 'string' ? withDetail(fileOfUrl(url, 'image'), detail) : undefined;
  }
  if (isJsonObject(part.input_audio)) return toAudio(part.input_audio);
  if (isJsonObject(part.file)) {
    const { file_data: url, filename } = part.file;
    const nameField = typeof filename === 'string' ? { filename } : {};
    return typeof url === 'string' ? { ...fileOfUrl(url, 'file'), ...nameField } : undefined;
  }
  return undefined;
}

const toAudio = ({ data, format }: JsonObject): LanguageModelV4FilePart | undefined =>
  typeof data === 'string'
    ? { type: 'file', mediaType: `audio/${typeof format === 'string' ? format : 'wav'}`, data: { type: 'data', data } }
    : undefined;

// Reads `reasoning_details` of messages, which contain a provider's signature or encrypted text of its thinking, sealed
// by the gateway. If a client sends an assistant message with these details again, the model continues its thinking
// across tool calls.

interface SentReasoning {
  /** Signed thinking. Thinking without a signature is not sent, because it would be refused. */
  readonly thoughts: readonly LanguageModelV4ReasoningPart[];
  /** Signatures by the tool call to which they belong; the key '' is for the signature of the text. */
  readonly signatures: ReadonlyMap<string, SharedV4ProviderOptions>;
  /** The provider's phase of the text; undefined for none, or if a message has more than one phase. */
  readonly phase: SharedV4ProviderOptions | undefined;
  /** The first field that this workspace did not get from the gateway, if any. */
  readonly strangerAt: string | undefined;
}

interface Detail {
  readonly place: number;
  text: string;
  signature: string | undefined;
  data: string | undefined;
  format: string | undefined;
  phase: string | undefined;
}

/** Reads the signatures in a message that is sent again. `path` is the path of the message. */
function readReasoningDetails(message: JsonObject, path: string, open: Envelopes['open']): SentReasoning {
  const details = mergeFragments(message.reasoning_details);
  const isShownWhole = isWhole(details, message.reasoning);
  const signatures = new Map<string, SharedV4ProviderOptions>();
  const thoughts: LanguageModelV4ReasoningPart[] = [];
  let strangerAt: string | undefined;
  for (const { place, text, signature, data } of details) {
    const sealed = signature ?? data ?? '';
    const opened = open(sealed);
    const field = `${path}.reasoning_details[${place}]`;
    const envelope = opened && { ...opened, field };
    if (envelope === undefined) {
      if (sealed !== '') strangerAt ??= field;
    } else if (envelope.of !== undefined) signatures.set(callOf(envelope), envelopeOptions(envelope));
    else if (isShownWhole) {
      thoughts.push({ type: 'reasoning', text, providerOptions: envelopeOptions(envelope) });
    }
  }
  return { thoughts, signatures, phase: phaseIn(details), strangerAt };
}

const callOf = ({ of }: SignedEnvelope): string => (typeof of === 'object' ? of.call : '');

function phaseIn(details: readonly Detail[]): SharedV4ProviderOptions | undefined {
  const phaseDetails = details.filter(({ phase }) => phase !== undefined);
  const [{ phase, format } = { phase: undefined, format: undefined }] = phaseDetails;
  if (phase === undefined || phaseDetails.some((one) => one.phase !== phase)) return undefined;
  return signedOptions({ phase, ...(format === undefined ? {} : { origin: format }) });
}

/**
 * False if only the last piece of a stream's details is left, as OpenAI's SDK for Node sends it. This piece is a
 * signature without its text together with the last piece of `reasoning`, which a provider would refuse. Thinking with
 * hidden text has no `reasoning`.
 */
const isWhole = (details: readonly Detail[], reasoning: unknown): boolean =>
  typeof reasoning !== 'string' || details.reduce((length, { text }) => length + text.length, 0) >= reasoning.length;

/**
 * Merges pieces of one detail, which have the same index, because a client that stored the chunks of a stream sends the
 * pieces separately. The first piece states the format.
 */
function mergeFragments(details: unknown): Detail[] {
  const merged = new Map<unknown, Detail>();
  for (const [place, one] of (Array.isArray(details) ? details : []).entries()) {
    if (!isJsonObject(one)) continue;
    const key = `${typeof one.type === 'string' ? one.type : ''} ${typeof one.index === 'number' ? one.index : `at ${place}`}`;
    const known = merged.get(key) ?? { ...nothing, place };
    if (typeof one.text === 'string') known.text += one.text;
    if (typeof one.signature === 'string') known.signature = one.signature;
    if (typeof one.data === 'string') known.data = (known.data ?? '') + one.data;
    if (typeof one.format === 'string') known.format = one.format;
    if (typeof one.phase === 'string') known.phase = one.phase;
    merged.set(key, known);
  }
  return [...merged.values()];
}

const nothing: Detail = {
  place: 0,
  text: '',
  signature: undefined,
  data: undefined,
  format: undefined,
  phase: undefined,
};
