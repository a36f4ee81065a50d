// Writes a request as code, for a shell and in Python. In both the key comes from a variable.

import { formFields, type SentFile } from './draft.ts';
import { pythonLines } from './python-arguments.ts';

export const keyVariable = 'GW_API_KEY';

type RequestBody = Readonly<Record<string, unknown>>;

interface Resource {
  /** Name of the resource on the client. */
  readonly name: string;
  /** Name of the method; `create` if absent. */
  readonly method?: string;
  /** Code that handles a streamed answer. `whole` is code for a whole answer. */
  readonly streamed: string;
  readonly whole: string;
  /** Fields of the body that every release of the method accepts as arguments. */
  readonly arguments: readonly string[];
}

interface Sdk {
  readonly import: string;
  readonly className: string;
  readonly path: string;
  /** Options of the client, after its address and its key. */
  readonly options: string;
  /** Arguments for fields that the SDK does not know, from the outside in. */
  readonly others?: readonly string[];
  /** Set if methods are called by the name of the resource alone. */
  readonly isFlat?: true;
}

export const openAi: Sdk = {
  import: 'from openai import OpenAI',
  className: 'OpenAI',
  path: '/openai/v1',
  options: '',
};
export const anthropic: Sdk = {
  import: 'from anthropic import Anthropic',
  className: 'Anthropic',
  path: '',
  // Without a time limit the SDK itself refuses a large `max_tokens` of an answer that is not streamed. The gateway
  // answers within it.
  options: ', timeout=60',
};

export const cohere: Sdk = {
  import: 'import cohere',
  className: 'cohere.ClientV2',
  path: '',
  options: '',
  others: ['request_options', 'additional_body_parameters'],
  isFlat: true,
};

const indented = (value: unknown): string => JSON.stringify(value, null, 2);
const endOfBody = 'END_OF_REQUEST';

/**
 * Writes the request for a shell. The body is in a here-document, so that no quote ends the body, and the body may be
 * longer than an argument. A form consists of arguments.
 */
export const curlOf = (url: string, body: RequestBody, file?: SentFile): string =>
  [
    `curl -sS${body.stream === true ? 'N' : ''} '${url}' \\`,
    `  -H "Authorization: Bearer $${keyVariable}" \\`,
    ...(file === undefined
      ? ["  -H 'Content-Type: application/json' \\", `  --data-binary @- <<'${endOfBody}'`, indented(body), endOfBody]
      : formArguments(body, file)),
  ].join('\n');

const formArguments = (body: RequestBody, { field, name, type }: SentFile): readonly string[] => [
  ...formFields(body).map(([fieldName, text]) => `  --form-string ${shellWord(`${fieldName}=${text}`)} \\`),
  `  -F ${shellWord(`${field}=@"${name.replaceAll(/["\\]/g, '\\$&')}";type=${type}`)}`,
];

const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const pythonOf =
  (sdk: Sdk, { name, method = 'create', streamed, whole, arguments: known }: Resource) =>
  (origin: string, body: RequestBody, file?: SentFile): string =>
    [
      'import os',
      sdk.import,
      '',
      `client = ${sdk.className}(base_url="${origin}${sdk.path}", api_key=os.environ["${keyVariable}"]${sdk.options})`,
      `answer = client.${name}${sdk.isFlat ? '' : `.${method}`}(`,
      ...(file === undefined ? [] : [`    ${file.field}=open(${JSON.stringify(file.name)}, "rb"),`]),
      ...pythonLines(body, known, sdk.others),
      ')',
      body.stream === true ? streamed : whole,
    ].join('\n');
