// Lists the calls whose memory is weighed: each interface with each path that a call of it may take, each kind of answer,
// and each state in which a part of a call waits. The calls are the examples of the interfaces' descriptions, with a
// long text in place of their first text.
import { countsOnly, type InterfaceId, interfaceIds, servingApis } from '../../../shared/foundation/constants/index.ts';
import { interfaceList } from '../../../shared/protocol/interface-list/index.ts';
import type { ClientInterface } from '../../../shared/protocol/interfaces/index.ts';
import {
  type AnswerParts,
  answerBytes,
  headWeight,
  pathsOf,
  type RequestPath,
  type RequestSize,
  requestBytes,
} from '../../../shared/protocol/memory-budget/index.ts';
import { largeAnswerBytes, longEventBytes } from '../test-bed/hostile-provider.ts';

const requestWeighed = { json: 3_500_000, form: 24_000_000 };

export interface WeightRow {
  readonly name: string;
  /** Names of the weights in the table that the row measures. */
  readonly measures: readonly (RequestPath | keyof AnswerParts)[];
  /** Weight in the table, for the most bytes that a call needs. */
  readonly weight: number;
  /** Weight in the table of a call that waits, after a collection; undefined if a row measures none. */
  readonly restWeight?: number | undefined;
  readonly model: WeighedModel;
  /** Workspace of the call, by the work that its calls cause. The default is none. */
  readonly workspace?: WeighedWorkspace | undefined;
  /** True if the client reads the answer. */
  readonly isAnswerRead?: boolean;
  /** True if the gateway may answer the call itself, so that no provider is called. */
  readonly mayCallNobody?: boolean;
  readonly call: () => Promise<WeighedCall>;
  /** A shorter call of the same kind, which loads the code. */
  readonly first: WeighedCall;
  /** Bytes of each call that are weighed. */
  readonly bytes: number;
  /**
   * Whether the request is weighed. A request has arrived when the provider or the guardrail has it; an answer has
   * arrived when no more bytes come.
   */
  readonly isRequest: boolean;
}

/** A guardrail checks input and output, or bodies are logged. */
export type WeighedWorkspace = 'guarded' | 'logged';

interface WeighedModel {
  readonly provider: string;
  readonly upstream: string;
  /** Folder of the provider that selects its behaviour. */
  readonly folder?: string;
}

export interface WeighedCall {
  readonly path: string;
  readonly type: string;
  readonly body: string;
  readonly headers?: string;
}

/**
 * Returns each interface with each path that a call of the interface may take, each answer with each path of the
 * answer, and each state in which a part of a call waits.
 */
export async function weightRows(): Promise<readonly WeightRow[]> {
  const requests = await Promise.all(interfaceIds.map(rowsOfInterface));
  const manyValues = await Promise.all((['relayed', 'translated', 'guarded'] as const).map(manyValuesRow));
  return [...requests.flat(), ...manyValues, ...(await rowsOfStreams()), ...(await rowsOfAnswers())];
}

async function rowsOfInterface(id: InterfaceId): Promise<readonly WeightRow[]> {
  const [route] = interfaceList[id].routes;
  const loaded = await interfaceList[id].load();
  const { body } = await loaded.operation(route?.operation);
  const form = body.kind === 'vendor' ? body.form : undefined;
  const bodies = [...(form?.isOnly === true ? [] : [false]), ...(form === undefined ? [] : [true])];
  // A body is read on every path, and no call stays in memory only for that.
  const paths = pathsOf(id).filter((path) => path !== 'read');
  const rows = bodies.flatMap((isForm) =>
    paths.map(async (path): Promise<WeightRow> => {
      const name = `${id} ${path}${isForm ? ', a form' : ''}`;
      const bytes = isForm ? requestWeighed.form : requestWeighed.json;
      const callWith = (text: string) => callOf(id, { model: modelId(name), isForm, text });
      const size = { textBytes: isForm ? 0 : bytes, tableBytes: 0, formBytes: isForm ? bytes : 0 };
      return {
        ...{ name, ...statesOf(path, size, bytes), weight: headWeight(id, isForm), bytes, isRequest: true },
        // Counts are estimated, and some interfaces are translated for no provider yet.
        mayCallNobody: path === 'translated' && (countsOnly(id) || hasNoTranslation(loaded)),
        model: modelOf(loaded, path),
        call: () => callWith('word '.repeat(bytes / 5)),
        first: await callWith('word'),
      };
    }),
  );
  return Promise.all(rows);
}

const hasNoTranslation = ({ translation, packageModels }: ClientInterface): boolean =>
  translation === undefined && packageModels === undefined;

/** Returns the weights that a request on this path needs, and the weight of the request that was sent. */
function statesOf(path: RequestPath, size: RequestSize, bytes: number) {
  if (path === 'guarded') return { measures: ['read', path], workspace: path } as const;
  const sentPath = path === 'translated' ? 'translatedSent' : 'relayedSent';
  return { measures: ['read', path, sentPath], restWeight: requestBytes([sentPath], size) / bytes } as const;
}

const large: WeighedModel = { provider: 'apis: [chat-completions]', upstream: 'large' };
const part = { type: 'text', text: 'word '.repeat(40) };
const parts = Array.from({ length: requestWeighed.json / JSON.stringify(part).length }, () => part);
/** Bytes of the list, and of each part the object and its two members, in five numbers of four bytes. */
const partsTableBytes = (1 + 3 * parts.length) * 20;

/** The weight of values: a text in many parts. */
async function manyValuesRow(path: RequestPath): Promise<WeightRow> {
  const name = `many values ${path}`;
  const callWith = (text: unknown) => callOf('chat-completions', { model: modelId(name), isForm: false, text });
  const textBytes = JSON.stringify(parts).length;
  const size = { textBytes, tableBytes: partsTableBytes, formBytes: 0 };
  const weight = requestBytes([path], size) / textBytes;
  const loaded = await interfaceList['chat-completions'].load();
  return {
    ...{ name, ...statesOf(path, size, textBytes), weight, bytes: textBytes, isRequest: true },
    model: modelOf(loaded, path),
    call: () => callWith(parts),
    first: await callWith([part]),
  };
}

/** The weights of translated requests whose streams have begun. */
const rowsOfStreams = (): Promise<readonly WeightRow[]> =>
  Promise.all([
    streamRow('request of a translated stream', {
      text: 'word '.repeat(requestWeighed.json / 5),
      size: { textBytes: requestWeighed.json, tableBytes: 0, formBytes: 0 },
    }),
    streamRow('many values of a translated stream', {
      text: parts,
      size: { textBytes: JSON.stringify(parts).length, tableBytes: partsTableBytes, formBytes: 0 },
    }),
  ]);

async function streamRow(
  name: string,
  { text, size }: { readonly text: unknown; readonly size: RequestSize },
): Promise<WeightRow> {
  const bytes = size.textBytes;
  const callWith = async (text: unknown) => {
    const call = await callOf('chat-completions', { model: modelId(name), isForm: false, text });
    return { ...call, body: JSON.stringify({ ...JSON.parse(call.body), stream: true }) };
  };
  return {
    ...{ name, measures: ['translatedStream'], bytes, isRequest: true, isAnswerRead: true },
    weight: requestBytes(pathsOf('chat-completions'), size) / bytes,
    restWeight: requestBytes(['translatedStream'], size) / bytes,
    model: { provider: 'apis: [messages]', upstream: 'begun-message' },
    call: () => callWith(text),
    first: await callWith('word'),
  };
}

function interfaceAt(path: string): InterfaceId {
  const id = interfaceIds.find((id) => interfaceList[id].routes.some((route) => route.path === path));
  if (id === undefined) throw new Error(`no interface has the path ${path}`);
  return id;
}

type AnswerPartName = keyof AnswerParts;

/** The weight of an answer, or of several parts of it at the same time. */
const weightOf = (parts: readonly AnswerPartName[]): number =>
  answerBytes(Object.fromEntries(parts.map((name) => [name, 1])));

interface AnswerStates {
  /** Parts that are in memory at the same time. */
  readonly most: readonly AnswerPartName[];
  /** Parts of an answer that waits for its client, or for another part. */
  readonly rest?: readonly AnswerPartName[];
}

async function answerRow(
  name: string,
  { most, rest }: AnswerStates,
  { id = 'chat-completions', more = {}, ...row }: Partial<WeightRow> & { id?: InterfaceId; more?: object } = {},
): Promise<WeightRow> {
  const call = await callOf(id, { model: modelId(name), isForm: false, text: 'Hello' });
  const headers = name === 'answer replayed' ? 'idempotency-key: the-same\r\n' : '';
  const first = { ...call, headers, body: JSON.stringify({ ...JSON.parse(call.body), ...more }) };
  return {
    ...{ name, measures: [...most, ...(rest ?? [])], weight: weightOf(most), restWeight: rest && weightOf(rest) },
    ...{ model: large, bytes: largeAnswerBytes, isRequest: false, call: async () => first, first },
    ...row,
  };
}

const refreshed = { cache: { ttl: 3_600, refresh: true } };
const streamOf = (upstream: string) => ({ model: { ...large, upstream }, more: { stream: true } });

const rowsOfAnswers = (): Promise<readonly WeightRow[]> =>
  Promise.all([
    answerRow('answer relayed', { most: ['relayed'], rest: ['written'] }),
    answerRow('answer translated', { most: ['translated'], rest: ['written'] }, { id: 'messages' }),
    // The guardrail has the answer.
    answerRow('answer guarded', { most: ['relayed', 'guarded'] }, { workspace: 'guarded' }),
    answerRow('answer logged', { most: ['relayed', 'logged'], rest: ['written', 'logged'] }, { workspace: 'logged' }),
    answerRow('answer replayed', { most: ['replayed'], rest: ['text'] }),
    answerRow('answer cached', { most: ['cached'], rest: ['written'] }, { more: { cache: { ttl: 3_600 } } }),
    answerRow(
      'answer before it is cached',
      { most: ['relayed', 'text'], rest: ['written', 'text'] },
      { more: refreshed },
    ),
    answerRow('answer while it is cached', { most: ['relayed', 'stored'] }, { more: refreshed, isAnswerRead: true }),
    answerRow(
      'answer to one of two parts',
      { most: ['translated'], rest: ['ofPart'] },
      {
        ...{ id: interfaceAt('/images/generations'), more: { n: 2 }, isAnswerRead: true },
        model: { provider: 'kind: google, apis: [images]', upstream: packageModels.image, folder: 'halves' },
      },
    ),
    answerRow('event', { most: ['event'] }, { bytes: longEventBytes, ...streamOf('long-events') }),
    answerRow(
      'event that is checked',
      { most: ['event', 'heldEvent'] },
      { bytes: longEventBytes, workspace: 'guarded', ...streamOf('long-events') },
    ),
    answerRow(
      'texts that were checked',
      { most: ['relayed'], rest: ['checkedText'] },
      { workspace: 'guarded', isAnswerRead: true, ...streamOf('checked-texts') },
    ),
  ]);

/** Models of the kinds of providers that have an interface in a format of their own. */
const packageModels = {
  embedding: 'gemini-embedding-001',
  image: 'gemini-2.5-flash-image',
  reranking: 'cohere.rerank-v3-5:0',
} as const;

function modelOf({ id, packageModels: kindOfModels }: ClientInterface, path: RequestPath): WeighedModel {
  const { native, throughHub, ...serving } = servingApis[id];
  const [api] = throughHub;
  if (path !== 'translated') return { provider: `apis: [${native}]`, upstream: 'silent' };
  if (api !== undefined) return { provider: `apis: [${api}]`, upstream: 'silent' };
  const kinds = 'apisByKind' in serving ? Object.keys(serving.apisByKind) : [];
  const kind = kinds.find((one) => one === 'google') ?? kinds[0];
  return {
    provider: `kind: ${kind}, apis: [${native}]`,
    upstream: kindOfModels === undefined ? 'silent' : packageModels[kindOfModels],
  };
}

export const modelId = (row: string): string => `bench/${row.replaceAll(/\W+/g, '-')}`;

interface Filling {
  readonly model: string;
  readonly isForm: boolean;
  /** Any value of a JSON body. */
  readonly text: unknown;
}

const inlineImage = { image_url: 'data:image/png;base64,aGk=' };

/** Texts of the examples begin with a capital letter, and names do not. */
async function callOf(id: InterfaceId, { model, isForm, text }: Filling): Promise<WeighedCall> {
  const [route] = interfaceList[id].routes;
  if (route === undefined) throw new Error(`${id} has no route`);
  const { body } = await (await interfaceList[id].load()).operation(route.operation);
  const example =
    body.kind === 'vendor' ? body.example : (Object.values(body.examples)[0] as { readonly value: object }).value;
  let isFilled = isForm;
  const filled = JSON.stringify(example, (name, value: unknown) => {
    if (name === 'model') return model;
    // A file by its id would have to be made before.
    if (typeof value === 'object' && value !== null && 'file_id' in value) return inlineImage;
    if (isFilled || typeof value !== 'string' || !/^[A-Z]/.test(value)) return value;
    isFilled = true;
    return text;
  });
  if (!isFilled) throw new Error(`the example of ${id} has no text`);
  const base = route.base === 'all' ? '/v1' : route.base;
  const path = base + route.path.replace(/\*+/, encodeURIComponent(model));
  const form = body.kind === 'vendor' ? body.form : undefined;
  if (!isForm || form === undefined) return { path, type: 'application/json', body: filled };
  const field = (name: string, more: string, value: string) =>
    `--x\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
  const fields = Object.entries(JSON.parse(filled) as Readonly<Record<string, unknown>>)
    .filter(([name, value]) => typeof value === 'string' && !(name in form.files))
    .map(([name, value]) => field(name, '', String(value)));
  const file = field(form.needed[0], '; filename="a"\r\nContent-Type: image/png', String(text));
  return { path, type: 'multipart/form-data; boundary=x', body: `${fields.join('')}${file}--x--\r\n` };
}
