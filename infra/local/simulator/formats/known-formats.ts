import type { SimulatorFormat } from '../call.ts';
import { countTokens, messages } from './anthropic-messages.ts';
import { converse, converseTokens } from './bedrock-converse.ts';
import { invokeModel } from './bedrock-invoke-model.ts';
import { rerank } from './cohere-rerank.ts';
import { embedContent } from './google-embed-content.ts';
import { countContents, generateContent } from './google-generate-content.ts';
import { predict } from './google-vertex-predict.ts';
import { chatCompletions } from './openai-chat-completions.ts';
import { embeddings } from './openai-embeddings.ts';
import { imageEdits, images } from './openai-images.ts';
import { moderations } from './openai-moderations.ts';
import { compact, inputTokens, responses } from './openai-responses.ts';
import { speech } from './openai-speech.ts';
import { transcriptions } from './openai-transcriptions.ts';

export const formats: readonly SimulatorFormat[] = [
  chatCompletions,
  messages,
  countTokens,
  responses,
  inputTokens,
  compact,
  embeddings,
  images,
  imageEdits,
  moderations,
  rerank,
  speech,
  transcriptions,
  generateContent,
  countContents,
  converse,
  converseTokens,
  embedContent,
  predict,
  invokeModel,
];

export interface ChosenFormat {
  readonly format: SimulatorFormat;
  readonly fromPath: Readonly<Record<string, string | undefined>>;
}

/** Returns the format that is called at a path below the base URL. */
export function formatOfPath(path: string): ChosenFormat | undefined {
  for (const format of formats) {
    const match = format.path.exec(path);
    if (match !== null) return { format, fromPath: decoded(match.groups ?? {}) };
  }
  return undefined;
}

const decoded = (groups: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value && percentDecoded(value)]));

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
