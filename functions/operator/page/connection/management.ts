// Calls of the management interface, with the credential of the tab.
import { useCallback, useEffect, useState } from 'preact/hooks';
import type {
  AnswerOf,
  NamesOf,
  RouteName,
  WrittenBody,
  WrittenQuery,
} from '../../../../shared/configuration/management/index.ts';
import { credential, signOut } from './operator-session.ts';

/** An error answer of the gateway, or no answer. */
export class RequestFailed extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Inputs of a request beside its route's name. */
type Sent<Name extends RouteName> = {
  readonly query?: { readonly [Parameter in keyof NonNullable<WrittenQuery<Name>>]?: string | undefined };
} & ([NamesOf<Name>] extends [never] ? unknown : { readonly names: { readonly [One in NamesOf<Name>]: string } }) &
  (WrittenBody<Name> extends undefined ? unknown : { readonly body: WrittenBody<Name> });

/** The inputs, which are optional where a route needs none. */
type SentLast<Name extends RouteName> =
  Partial<Sent<Name>> extends Sent<Name> ? [sent?: Sent<Name>] : [sent: Sent<Name>];

interface AnySent {
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** Path with its query. */
function pathOf(name: RouteName, { names = {}, query }: AnySent): string {
  const [, route = ''] = name.split(' /');
  const path = route.replaceAll(/\{(\w+)\}/g, (_name, one: string) => encodeURIComponent(names[one] ?? ''));
  const parameters = Object.entries(query ?? {}).filter((one): one is [string, string] => one[1] !== undefined);
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`;
}

const jsonType = { 'content-type': 'application/json' };

/** Maximum number of answers from which one list is read. */
const answersMax = 1_000;

/** Saves everything that a list finds as one CSV file. `path` may have a query. */
export async function downloadCsv(path: string, fileName: string): Promise<void> {
  const parts: string[] = [];
  let next: string | null = null;
  do {
    const before: string = next === null ? '' : `&before=${encodeURIComponent(next)}`;
    const response = await request(`${path}${before}`, { headers: { accept: 'text/csv' } });
    const text = await response.text();
    // Each answer begins with the header line.
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1));
    next = response.headers.get('x-next-cursor');
  } while (next !== null && parts.length < answersMax);
  saveFile(new Blob(parts, { type: 'text/csv' }), fileName);
}

export function saveFile(content: Blob, fileName: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** Calls a route. Throws RequestFailed. */
export async function manage<Name extends RouteName>(name: Name, ...[sent]: SentLast<Name>): Promise<AnswerOf<Name>> {
  const { body, ...parameters }: AnySent = sent ?? {};
  const [method = ''] = name.split(' ');
  const content = body === undefined ? {} : { headers: jsonType, body: JSON.stringify(body) };
  const response = await request(pathOf(name, parameters), { method, ...content });
  return response.json() as Promise<AnswerOf<Name>>;
}

/** Reads the JSON at a path that was read before, with another query. */
export const readAgain = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  (await request(path, signal === undefined ? {} : { signal })).json();

/**
 * Sends a request. `path` begins behind `/v1/manage/`. Throws RequestFailed; a key or a token that is refused ends the
 * session.
 */
export async function request(path: string, { headers, ...init }: RequestInit = {}): Promise<Response> {
  const authorization = `Bearer ${credential()}`;
  const response = await fetch(`/v1/manage/${path}`, { ...init, headers: { ...headers, authorization } }).catch(
    (cause: unknown) => {
      if (init.signal?.aborted) throw cause;
      throw new RequestFailed('unreachable', 'The gateway could not be reached. Is it running?');
    },
  );
  if (response.ok) return response;
  const failure = await failureOf(response);
  if (failure.code === 'UNAUTHORIZED') signOut(failure.message);
  throw failure;
}

export async function failureOf(response: Response): Promise<RequestFailed> {
  // Clients of some vendors get the code beside the message.
  const { error, code = error, message } = await response.json().catch(() => ({}));
  const isText = typeof code === 'string' && typeof message === 'string';
  return isText
    ? new RequestFailed(code, message)
    : new RequestFailed(`status ${response.status}`, 'The gateway gave an answer without an error code.');
}

export interface Loaded<Answer> {
  /** Answer of the last request, also while the next one runs. */
  readonly answer: Answer | undefined;
  readonly failure: RequestFailed | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
  readonly path: string | undefined;
}

/**
 * Reads now, whenever the inputs change, and on demand. Undefined inputs read nothing. With another query the last
 * answer stays until the next one is there.
 */
export function useManaged<Name extends RouteName>(
  name: Name | undefined,
  ...[sent]: SentLast<Name>
): Loaded<AnswerOf<Name>> {
  type Answer = AnswerOf<Name>;
  const path = name && pathOf(name, sent ?? {});
  const [state, setState] = useState<Omit<Loaded<Answer>, 'reload'>>(notLoaded(path));
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  // Each increment reads again.
  useEffect(() => {
    if (path === undefined) return;
    const reading = new AbortController();
    setState((last) => ({ ...(isSamePlace(last.path, path) ? last : notLoaded(path)), isLoading: true }));
    readAgain<Answer>(path, reading.signal).then(
      (answer) => setState({ path, answer, failure: undefined, isLoading: false }),
      (failure) => {
        if (!reading.signal.aborted) setState({ path, answer: undefined, failure, isLoading: false });
      },
    );
    return () => reading.abort();
  }, [path, turn]);
  if (state.path === path) return { ...state, reload };
  if (isSamePlace(state.path, path)) return { ...state, failure: undefined, isLoading: true, reload };
  return { ...notLoaded<Answer>(path), reload };
}

/** Whether two paths differ in their queries alone. */
const isSamePlace = (one: string | undefined, other: string | undefined): boolean =>
  one?.split('?')[0] === other?.split('?')[0];

const notLoaded = <Answer>(path: string | undefined) => ({
  path,
  answer: undefined as Answer | undefined,
  failure: undefined,
  isLoading: path !== undefined,
});
