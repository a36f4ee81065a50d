// Calls the management interface with the credential of the tab.
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

/** Inputs of a request, other than the name of its route. */
type RequestInput<Name extends RouteName> = {
  readonly query?: { readonly [Parameter in keyof NonNullable<WrittenQuery<Name>>]?: string | undefined };
} & ([NamesOf<Name>] extends [never]
  ? unknown
  : { readonly names: { readonly [Parameter in NamesOf<Name>]: string } }) &
  (WrittenBody<Name> extends undefined ? unknown : { readonly body: WrittenBody<Name> });

/** The last argument of a request, which is optional if the route needs no input. */
type InputArguments<Name extends RouteName> =
  Partial<RequestInput<Name>> extends RequestInput<Name> ? [input?: RequestInput<Name>] : [input: RequestInput<Name>];

interface AnyRequestInput {
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** Returns the path with its query. */
function pathOf(name: RouteName, { names = {}, query }: AnyRequestInput): string {
  const [, route = ''] = name.split(' /');
  const path = route.replaceAll(/\{(\w+)\}/g, (_match, parameter: string) =>
    encodeURIComponent(names[parameter] ?? ''),
  );
  const parameters = Object.entries(query ?? {}).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`;
}

const jsonType = { 'content-type': 'application/json' };

/** Maximum number of pages that are requested for one file. */
const pagesMax = 1_000;

/** Downloads all pages of a list as one CSV file. `path` contains a query. */
export async function downloadCsv(path: string, fileName: string): Promise<void> {
  const parts: string[] = [];
  let next: string | null = null;
  do {
    const before: string = next === null ? '' : `&before=${encodeURIComponent(next)}`;
    const response = await request(`${path}${before}`, { headers: { accept: 'text/csv' } });
    const text = await response.text();
    // Each page begins with the header line.
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf('\n') + 1));
    next = response.headers.get('x-next-cursor');
  } while (next !== null && parts.length < pagesMax);
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
export async function manage<Name extends RouteName>(
  name: Name,
  ...[input]: InputArguments<Name>
): Promise<AnswerOf<Name>> {
  const { body, ...parameters }: AnyRequestInput = input ?? {};
  const [method = ''] = name.split(' ');
  const content = body === undefined ? {} : { headers: jsonType, body: JSON.stringify(body) };
  const response = await request(pathOf(name, parameters), { method, ...content });
  return response.json() as Promise<AnswerOf<Name>>;
}

/** Requests a path and parses the JSON of the answer. */
export const readJson = async <Answer>(path: string, signal?: AbortSignal): Promise<Answer> =>
  (await request(path, signal === undefined ? {} : { signal })).json();

/**
 * Sends a request. `path` is relative to `/v1/manage/`. Throws RequestFailed. Signs out if the key or the token is
 * refused.
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
  const failure = await readFailure(response);
  if (failure.code === 'UNAUTHORIZED') signOut(failure.message);
  throw failure;
}

export async function readFailure(response: Response): Promise<RequestFailed> {
  // The code is in `code` if the error has the gateway's own form, and in `error` if it has the form of a vendor.
  const { error, code = error, message } = await response.json().catch(() => ({}));
  const isText = typeof code === 'string' && typeof message === 'string';
  return isText
    ? new RequestFailed(code, message)
    : new RequestFailed(`status ${response.status}`, 'The gateway gave an answer without an error code.');
}

export interface LoadState<Answer> {
  /** Answer of the last request. The answer stays until the next request has ended. */
  readonly answer: Answer | undefined;
  readonly failure: RequestFailed | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
  readonly path: string | undefined;
}

/**
 * Requests a route when it is first rendered, whenever its inputs change, and after a call of `reload`. An undefined
 * `name` requests nothing. If only the query changes, the previous answer is kept until the new answer has arrived.
 */
export function useManagementRequest<Name extends RouteName>(
  name: Name | undefined,
  ...[input]: InputArguments<Name>
): LoadState<AnswerOf<Name>> {
  type Answer = AnswerOf<Name>;
  const path = name && pathOf(name, input ?? {});
  const [state, setState] = useState<Omit<LoadState<Answer>, 'reload'>>(initialState(path));
  const [reloadCount, setReloadCount] = useState(0);
  const reload = useCallback(() => setReloadCount((last) => last + 1), []);
  // The effect runs after each change of the path, and after each increment of `reloadCount`.
  useEffect(() => {
    if (path === undefined) return;
    const reading = new AbortController();
    setState((last) => ({ ...(isSameRoute(last.path, path) ? last : initialState(path)), isLoading: true }));
    readJson<Answer>(path, reading.signal).then(
      (answer) => setState({ path, answer, failure: undefined, isLoading: false }),
      (failure) => {
        if (!reading.signal.aborted) setState({ path, answer: undefined, failure, isLoading: false });
      },
    );
    return () => reading.abort();
  }, [path, reloadCount]);
  // The effect runs after this rendering, so `state` may still belong to another path.
  if (state.path === path) return { ...state, reload };
  if (isSameRoute(state.path, path)) return { ...state, failure: undefined, isLoading: true, reload };
  return { ...initialState<Answer>(path), reload };
}

/** True if the paths are equal without their queries. */
const isSameRoute = (first: string | undefined, second: string | undefined): boolean =>
  first?.split('?')[0] === second?.split('?')[0];

const initialState = <Answer>(path: string | undefined) => ({
  path,
  answer: undefined as Answer | undefined,
  failure: undefined,
  isLoading: path !== undefined,
});
