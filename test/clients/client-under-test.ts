// Calls of every client library, in its own form. Options are the library's defaults, including retries.

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
  /** The cost, if the library shows it; undefined otherwise. */
  readonly cost: unknown;
  readonly tokens: Tokens;
}

export interface ToolRun {
  /** The text of the last answer. */
  readonly text: string;
  /** The arguments of the tool calls. */
  readonly inputs: readonly unknown[];
}

export interface ClientTurnOptions {
  readonly stream?: boolean;
  /** The reasoning effort; without it the request has none. */
  readonly effort?: 'high';
  /** Whether the last answer is to be an object of the shape `{ label: string }`, as JSON. */
  readonly labelled?: boolean;
}

export interface ClientUnderTest {
  /** Asks one question and returns the answer. */
  answer(model: string): Promise<ClientAnswer>;
  /** Passes each text of a stream to `read` as it comes, and returns its tokens at the end. */
  stream(model: string, read: (text: string) => void): Promise<Tokens>;
  /** Lets the model call `get_weather`, and sends the results back. */
  tools(model: string, options?: ClientTurnOptions): Promise<ToolRun>;
  /** Asks for an object of the shape `{ label: string }`. */
  schema(model: string): Promise<unknown>;
  /** Asks for the same object as a stream. */
  streamedSchema(model: string): Promise<unknown>;
}

export const question = 'Hello';
/** The simulator calls tools if the question mentions them. */
export const toolQuestion = 'Call the tool';
export const toolName = 'get_weather';
export const toolResult = 'sunny';
