// Calls of every client library, in its own words. Defaults are those of the library: retries included.

export interface ClientConnection {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

export interface Tokens {
  readonly input: number | undefined;
  readonly output: number | undefined;
}

export interface ClientAnswer {
  readonly text: string;
  /** Where the library shows it; undefined where it does not. */
  readonly cost: unknown;
  readonly tokens: Tokens;
}

export interface ToolRun {
  /** The last answer. */
  readonly text: string;
  /** The arguments of the calls. */
  readonly asked: readonly unknown[];
}

export interface ClientTurnOptions {
  readonly stream?: boolean;
  /** The reasoning effort; without it the request has none. */
  readonly effort?: 'high';
  /** The last answer is to be an object of the shape `{ label: string }`, as JSON. */
  readonly labelled?: boolean;
}

export interface ClientUnderTest {
  /** One question, one answer. */
  answer(model: string): Promise<ClientAnswer>;
  /** Gives each text of a stream as it comes, and its tokens at the end. */
  stream(model: string, read: (text: string) => void): Promise<Tokens>;
  /** Lets the model call `get_weather`, and gives the results back. */
  tools(model: string, options?: ClientTurnOptions): Promise<ToolRun>;
  /** An object of the shape `{ label: string }`. */
  schema(model: string): Promise<unknown>;
  /** The same, streamed. */
  streamedSchema(model: string): Promise<unknown>;
}

export const question = 'Hello';
/** The simulator calls tools where the question speaks of them. */
export const toolQuestion = 'Call the tool';
export const toolName = 'get_weather';
export const toolResult = 'sunny';
