// Stores responses as OpenAI does, for the credential that created them. A client can read, stream again, cancel and
// delete a response, and list its input.
import { errorBody } from './error-bodies.ts';
import { body, json, type Steps } from './step.ts';

export interface StoredResponse {
  readonly response: { readonly id: string; readonly background?: boolean };
  /** Items with ids, in the order of the request. */
  readonly inputItems: readonly { readonly id: string }[];
  /** Events as they were sent; undefined if the answer was not a stream. */
  readonly events?: readonly string[];
}

export interface StoredResponses {
  readonly keep: (account: StoringCaller, stored: StoredResponse) => void;
  /** Returns undefined for a path that belongs to no stored response. */
  readonly answer: (request: StoredRequest) => Steps | undefined;
}

interface StoringCaller {
  readonly provider: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface StoredRequest extends StoringCaller {
  readonly method: string;
  readonly pathBelowBase: string;
  readonly query: string;
}

/** Maximum number of responses; the oldest are removed. */
const storedMax = 10_000;

const storedPath = /^\/responses\/(?<id>[^/]+)(?<below>\/cancel|\/input_items)?$/;
const deleted = Symbol('deleted');

export function createStoredResponses(): StoredResponses {
  const responses = new Map<string, StoredResponse>();
  const keyOf = ({ provider, headers }: StoringCaller, id: string) =>
    `${provider} ${headers.authorization ?? headers['x-api-key']} ${id}`;
  return {
    keep(account, one) {
      responses.set(keyOf(account, one.response.id), one);
      const [oldest] = responses.keys();
      if (responses.size > storedMax && oldest !== undefined) responses.delete(oldest);
    },
    answer(request) {
      const { id = '', below = '' } = storedPath.exec(request.pathBelowBase)?.groups ?? {};
      const work = works[`${request.method} ${below}`];
      if (id === '' || work === undefined) return undefined;
      const key = keyOf(request, decodeURIComponent(id));
      const found = responses.get(key);
      if (found === undefined) return refusal(404, `Response with id '${id}' not found.`);
      const done = work(found, new URLSearchParams(request.query));
      if (done !== deleted) return done;
      responses.delete(key);
      return json(200, { id: found.response.id, object: 'response', deleted: true });
    },
  };
}

type Work = (stored: StoredResponse, query: URLSearchParams) => Steps | typeof deleted;

const works: Readonly<Record<string, Work>> = {
  'GET ': read,
  'DELETE ': () => deleted,
  'POST /cancel': ({ response }) =>
    response.background === true
      ? json(200, { ...response, status: 'cancelled' })
      : refusal(400, 'Cannot cancel a synchronous response.'),
  'GET /input_items': listInput,
};

function read({ response, events }: StoredResponse, query: URLSearchParams): Steps {
  if (query.get('stream') !== 'true') return json(200, response);
  if (events === undefined)
    return refusal(400, 'This response cannot be streamed: it was not created with stream=true.');
  // The positions of events begin at 0.
  const from = Number(query.get('starting_after') ?? -1) + 1;
  return body(200, 'text/event-stream; charset=utf-8', events.slice(from).join(''));
}

const limitDefault = 20;

function listInput({ inputItems }: StoredResponse, query: URLSearchParams): Steps {
  const all = query.get('order') === 'asc' ? inputItems : inputItems.toReversed();
  const after = all.findIndex(({ id }) => id === query.get('after'));
  const rest = all.slice(after + 1);
  const data = rest.slice(0, Number(query.get('limit') ?? limitDefault));
  return json(200, {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: data.length < rest.length,
  });
}

const refusal = (status: number, message: string): Steps => json(status, errorBody(status, undefined, message));
