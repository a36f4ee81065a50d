// Reads the form of the playground as a draft. Throws RequestFailed for an invalid field, before anything is sent.

import type {
  Draft,
  PlaygroundTool,
  PlaygroundToolCall,
  PlaygroundTurn,
} from '../../../../shared/protocol/playground/index.ts';
import { RequestFailed } from '../connection/management.ts';
import { formValues } from '../parts/form.tsx';

/** Name of the field for a tool's result. */
export const resultField = (id: string): string => `result-${id}`;

interface Circumstances {
  readonly streams: boolean;
  /** Tool calls of the last answer that wait for their results. */
  readonly calls: readonly PlaygroundToolCall[];
}

/** Returns a draft with only the turn that is sent now. */
export async function readDraft(form: HTMLFormElement, { streams, calls }: Circumstances): Promise<Draft> {
  const { has, text, number } = formValues(form);
  const data = new FormData(form);
  const file = data.get('file');
  return {
    model: text('model'),
    system: text('system'),
    turns: calls.length > 0 ? [resultsOf(calls, text)] : [await questionOf(data, text)],
    temperature: number('temperature') ?? undefined,
    outputTokensMax: number('max-tokens') ?? undefined,
    tools: readTools(text('tools')),
    more: readMembers(text('more')),
    streams: streams && has('stream'),
    ...(file instanceof File && file.size > 0 ? { file } : {}),
  };
}

const resultsOf = (calls: readonly PlaygroundToolCall[], text: (name: string) => string): PlaygroundTurn => ({
  role: 'tool',
  results: calls.map(({ id }) => ({ id, text: text(resultField(id)) })),
});

async function questionOf(data: FormData, text: (name: string) => string): Promise<PlaygroundTurn> {
  const files = data.getAll('images').filter((file): file is File => file instanceof File && file.size > 0);
  return { role: 'user', text: text('prompt'), images: await Promise.all(files.map(dataUrlOf)) };
}

const dataUrlOf = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(notSent(`The image ${file.name} cannot be read.`));
    reader.readAsDataURL(file);
  });

const notSent = (message: string): RequestFailed => new RequestFailed('not sent', message);

function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notSent(`${what}: this is no JSON.`);
  }
}

function readTools(text: string): readonly PlaygroundTool[] {
  if (text === '') return [];
  const tools = readJson(text, 'Tools');
  const isTool = (tool: unknown): boolean =>
    typeof tool === 'object' && tool !== null && 'name' in tool && 'parameters' in tool;
  if (Array.isArray(tools) && tools.every(isTool)) return tools as PlaygroundTool[];
  throw notSent('Tools: a list of objects with name, description and parameters (a JSON schema).');
}

function readMembers(text: string): Record<string, unknown> {
  if (text === '') return {};
  const members = readJson(text, 'More members');
  if (typeof members === 'object' && members !== null && !Array.isArray(members))
    return members as Record<string, unknown>;
  throw notSent('More members: an object, such as {"top_p": 0.5}.');
}
