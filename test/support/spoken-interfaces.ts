// The interfaces for the suites of faults, limits, reservations and names: a further interface is one row. Reservations
// and costs of a call are the same for all of them.
import type { InterfaceId, ProviderApi } from '../../shared/foundation/constants/index.ts';
import { dataLines } from './harness.ts';

type Json = Record<string, unknown>;

export interface SpokenInterface {
  readonly id: InterfaceId;
  /** Name in titles of tests. */
  readonly name: string;
  /** The format of its providers. */
  readonly api: ProviderApi;
  /** Path below the base URL. */
  readonly path: string;
  /** Returns a request that any model can serve. */
  readonly hello: (model: string, more?: Json) => Json;
  /** Returns a part with a picture, from a data URL. */
  readonly imageOf: (url: string) => Json;
  /** The estimate of a picture of 100 by 100 pixels. */
  readonly smallImageTokens: number;
  /** Behaviours of the simulator that its providers do not have. */
  readonly unplayed: readonly string[];
  /** Behaviours of the list that only its streams lack. */
  readonly unplayedInStreams: readonly string[];
  /** Text that occurs once in a stream of one answer. */
  readonly start: string;
  /** Returns the texts of a complete stream, joined. */
  readonly contentOf: (text: string) => string;
  /**
   * Returns the code with which a stream broke; undefined if the stream is complete. Throws if text follows the error.
   */
  readonly brokenWith: (text: string) => string | undefined;
}

const messages = [{ role: 'user', content: 'Hello' }];

const eventsOf = (text: string): Json[] =>
  dataLines(text)
    .filter((line) => line !== '[DONE]')
    .map((line) => JSON.parse(line));

function lastOnly(codes: readonly (string | undefined)[]): string | undefined {
  if (codes.slice(0, -1).some((code) => code !== undefined)) throw new Error('something follows an error');
  return codes.at(-1);
}

export const spokenInterfaces: readonly SpokenInterface[] = [
  {
    id: 'chat-completions',
    name: 'chat completions',
    api: 'chat-completions',
    path: '/chat/completions',
    hello: (model, more = {}) => ({ model, messages, ...more }),
    imageOf: (url) => ({ type: 'image_url', image_url: { url } }),
    smallImageTokens: 8_500,
    unplayed: [],
    unplayedInStreams: [],
    start: '"role":"assistant"',
    contentOf: (text) =>
      (eventsOf(text) as { choices?: { delta?: { content?: string } }[] }[])
        .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
        .join(''),
    brokenWith: (text) => lastOnly(eventsOf(text).map(({ error }) => (error as { code: string } | undefined)?.code)),
  },
  {
    id: 'messages',
    name: 'Messages',
    api: 'messages',
    path: '/messages',
    // The limit is as high as any output of an entry of the tests.
    hello: (model, more = {}) => ({ model, messages, max_tokens: 4_096, ...more }),
    imageOf: (url) => {
      const [head = '', data] = url.split(',');
      return {
        type: 'image',
        source: { type: 'base64', media_type: head.slice('data:'.length, -';base64'.length), data },
      };
    },
    smallImageTokens: 16,
    // An account without quota has a status or a type of its own here.
    unplayed: ['error-429:insufficient_quota', 'error-200:insufficient_quota'],
    unplayedInStreams: [],
    start: '"role":"assistant"',
    contentOf: (text) =>
      (eventsOf(text) as { delta?: { text?: string } }[]).map(({ delta }) => delta?.text ?? '').join(''),
    brokenWith: (text) =>
      lastOnly(
        eventsOf(text).map(
          ({ error }) => (error as { details: { error_code: string } } | undefined)?.details.error_code,
        ),
      ),
  },
  {
    id: 'responses',
    name: 'Responses',
    api: 'responses',
    path: '/responses',
    hello: (model, { messages: input = messages, max_tokens: bound, ...more } = {}) => ({
      model,
      input,
      ...(bound === undefined ? {} : { max_output_tokens: bound }),
      ...more,
    }),
    imageOf: (url) => ({ type: 'input_image', image_url: url }),
    smallImageTokens: 8_500,
    unplayed: [],
    // An event's type determines its content.
    unplayedInStreams: ['no-choices'],
    start: '"type":"response.created"',
    contentOf: (text) =>
      (eventsOf(text) as { type: string; delta?: string }[])
        .map(({ type, delta }) => (type === 'response.output_text.delta' ? delta : ''))
        .join(''),
    brokenWith(text) {
      const events = eventsOf(text);
      const failed = events.findIndex(({ type }) => type === 'response.failed');
      const whole = failed < 0 ? events : events.slice(0, -1);
      if (failed >= 0 && failed !== whole.length) throw new Error('something follows response.failed');
      const code = lastOnly(whole.map((event) => (event.type === 'error' ? (event.code as string) : undefined)));
      if ((code === undefined) !== failed < 0) throw new Error('error and response.failed come together');
      return code;
    },
  },
];

const endsByStatus = ['error-200:context_length_exceeded', 'error-200:rate_limit_exceeded'];

/** Chat completions, translated for providers with another format: for suites in which the format could matter. */
export const translatedInterfaces: readonly SpokenInterface[] = (
  [
    ['messages', ['error-429:insufficient_quota', 'error-200:insufficient_quota']],
    ['responses', []],
    // Converse and Gemini refuse with a status or inside a stream; they report an account without quota like one that
    // calls too often.
    ['converse', ['error-429:insufficient_quota', ...endsByStatus]],
    ['generate-content', ['error-429:insufficient_quota', 'error-200:insufficient_quota', ...endsByStatus]],
  ] as const
).flatMap(([api, unplayed]) =>
  spokenInterfaces
    .filter(({ id }) => id === 'chat-completions')
    .map((chat) => ({ ...chat, name: `chat completions for ${api}`, api, unplayed })),
);

/** An interface without streams, whose output costs nothing. */
export interface WholeInterface extends Pick<SpokenInterface, 'id' | 'name' | 'api' | 'path' | 'hello' | 'unplayed'> {
  /** Text that occurs in each answer of a provider. */
  readonly answerPart: string;
}

export const wholeInterfaces: readonly WholeInterface[] = [
  {
    id: 'embeddings',
    name: 'Embeddings',
    api: 'embeddings',
    path: '/embeddings',
    hello: (model, more = {}) => ({ model, input: 'Hello', ...more }),
    unplayed: [],
    answerPart: '"object":"embedding"',
  },
  {
    id: 'moderations',
    name: 'Moderations',
    api: 'moderations',
    path: '/moderations',
    hello: (model, more = {}) => ({ model, input: 'Hello', ...more }),
    unplayed: [],
    answerPart: '"flagged":false',
  },
  {
    id: 'rerank',
    name: 'Rerank',
    api: 'rerank',
    path: '/rerank',
    hello: (model, more = {}) => ({ model, query: 'Hello', documents: ['Hello', 'Bye'], ...more }),
    unplayed: [],
    answerPart: '"relevance_score"',
  },
];
