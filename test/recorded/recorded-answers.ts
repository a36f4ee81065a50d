// A folder of recorded provider answers: `NAME.json` is one whole body, `NAME.chunks.txt` has the data of a stream's
// events, one event a line.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Api, type FakeAnswer, frames } from '../support/provider-answers.ts';

export type RecordedApi = Api | 'chat-completions';

export interface RecordedAnswer {
  /** Path relative to the folder. */
  readonly name: string;
  readonly api: RecordedApi;
  readonly isStream: boolean;
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** This folder is beside the checkout and no part of the project. */
export const recordedFolder: string = join(import.meta.dirname, '../../../shared/recorded');

/**
 * Formats of the answers by path relative to the folder. The first match counts; undefined: the answer belongs to no
 * chat.
 */
const apisOfPaths: readonly (readonly [RegExp, RecordedApi | undefined])[] = [
  [/^anthropic\/[^/]+$/, 'messages'],
  [/^amazon-bedrock\/[^/]+$/, 'converse'],
  [/^google\/[^/]+$/, 'generate-content'],
  [/^[^/]+\/responses\//, 'responses'],
  [/transcription/, undefined],
  [/^(alibaba|deepseek|groq|mistral|moonshotai|openai|openai-compatible|xai)\/(chat\/)?[^/]+$/, 'chat-completions'],
];

const streamEnding = '.chunks.txt';

/** Returns the answers in the order of their names, or undefined without such a folder. */
export function readRecordedAnswers(folder: string): RecordedAnswer[] | undefined {
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
    .filter((name) => name.endsWith('.json') || name.endsWith(streamEnding))
    .sort()
    .flatMap((name) => {
      const api = apisOfPaths.find(([path]) => path.test(name))?.[1];
      if (api === undefined) return [];
      const text = readFileSync(join(folder, name), 'utf8');
      const isStream = name.endsWith(streamEnding);
      const { bytes, contentType } = isStream ? streamOf(api, text) : wholeOf(text);
      const status = isStream ? 200 : statusOf(JSON.parse(text));
      return [{ name, api, isStream, status, contentType, bytes: Buffer.concat(bytes) }];
    });
}

const wholeOf = (text: string): FakeAnswer => ({ contentType: 'application/json', bytes: [Buffer.from(text)] });

function streamOf(api: RecordedApi, text: string): FakeAnswer {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && line !== '[DONE]');
  // The type of a frame is the key in its payload.
  if (api === 'converse')
    return frames(...lines.flatMap((line) => Object.entries<Record<string, unknown>>(JSON.parse(line))));
  const events = lines.map((line) => {
    const { type } = JSON.parse(line) as { type?: string };
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${line}\n\n`;
  });
  if (api === 'chat-completions') events.push('data: [DONE]\n\n');
  return { contentType: 'text/event-stream', bytes: [Buffer.from(events.join(''))] };
}

/** Returns the status, which a recorded body does not contain. */
function statusOf({ error }: { error?: { code?: unknown } | null }): number {
  if (error === undefined || error === null) return 200;
  return typeof error.code === 'number' ? error.code : 400;
}
