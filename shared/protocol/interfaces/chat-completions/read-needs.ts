// Features that a chat completion needs, and the fields that ask for them.
import { type AbilityName, type Feature, isJsonObject, type RequestNeeds } from '../../wire/index.ts';
import { dearerFeatures, dearerTools, openAiUsualTiers, retentionMember } from '../index.ts';
import type { ChatMembers } from './chat-request.ts';

/** Only a real use counts: an empty list of tools or a `tool_choice` alone reaches the provider unchanged. */
export function readNeeds({ raw, stream, choices }: ChatMembers): RequestNeeds {
  const format = isJsonObject(raw.response_format) ? raw.response_format.type : undefined;
  const abilities: Record<AbilityName, string | false | undefined> = {
    tools: firstOf([isFilled(raw.tools), 'tools'], [isFilled(raw.functions), 'functions']),
    vision: pathOfPart(raw.messages, ['image_url', 'input_image']),
    audio:
      pathOfPart(raw.messages, ['input_audio']) ??
      firstOf([isJsonObject(raw.audio), 'audio'], [includesAudio(raw.modalities), 'modalities']),
    json_mode: format === 'json_object' && 'response_format',
    streaming: stream && 'stream',
  };
  const isBestOf = isSent(raw.best_of) && !isAtMost(raw.best_of, choices);
  const features: Feature[] = [
    ...neededOf(abilities).map(([name, member]) => ({ name, member })),
    ...dearerFeatures(raw, { usualTiers: openAiUsualTiers }),
    ...(isBestOf ? [{ extra: 'best_of', member: 'best_of' } as const] : []),
    ...dearerTools(raw.tools, (index) => `tools[${index}]`),
  ];
  const storingMember = (raw.store ?? false) === false ? retentionMember(raw) : 'store';
  const schemaMember = format === 'json_schema' ? 'response_format' : undefined;
  return { features, schemaMember, storingMember, promptBytes: promptBytesOf(raw.messages) };
}

const neededOf = (
  memberByAbility: Readonly<Record<AbilityName, string | false | undefined>>,
): [AbilityName, string][] =>
  Object.entries(memberByAbility).filter((one): one is [AbilityName, string] => typeof one[1] === 'string');

const firstOf = (...choices: readonly (readonly [boolean, string])[]): string | undefined =>
  choices.find(([isAsked]) => isAsked)?.[1];

const isSent = (value: unknown): boolean => value !== undefined && value !== null;
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isAtMost = (value: unknown, max: number): boolean => typeof value === 'number' && value <= max;

const includesAudio = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes('audio');

/** The first part of one of these types in the messages. */
function pathOfPart(messages: unknown, types: readonly unknown[]): string | undefined {
  for (const [index, message] of (Array.isArray(messages) ? messages : []).entries()) {
    const content = isJsonObject(message) && Array.isArray(message.content) ? message.content : [];
    const part = content.findIndex((one) => isJsonObject(one) && types.includes(one.type));
    if (part >= 0) return `messages[${index}].content[${part}]`;
  }
  return undefined;
}

function promptBytesOf(messages: unknown): number {
  if (!Array.isArray(messages)) return 0;
  return messages.reduce<number>(
    (sum, message) => sum + (isJsonObject(message) ? contentBytes(message.content) : 0),
    0,
  );
}

function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return textBytes(content);
  return content.reduce<number>((sum, part) => sum + (isJsonObject(part) ? textBytes(part.text) : 0), 0);
}

const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);
