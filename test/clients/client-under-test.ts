// What every client library is asked for, in its own words. Defaults are those of the library: retries included.

export interface Connection {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

export interface Answer {
  readonly text: string;
  /** Where the library shows it; undefined where it does not. */
  readonly cost: unknown;
}

export interface ClientUnderTest {
  /** One question, one answer. */
  answer(model: string): Promise<Answer>;
  /** The texts of a stream as they came, put together. */
  stream(model: string): Promise<string>;
  /** Lets the model call `get_weather`, gives the result back, and gives the last answer. `asked`: the arguments. */
  tools(model: string): Promise<{ readonly text: string; readonly asked: readonly unknown[] }>;
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
