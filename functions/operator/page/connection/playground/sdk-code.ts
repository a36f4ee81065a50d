// A request as code: for a shell and in Python. The key comes from a variable in each.

import { formFields, type SentFile } from './draft.ts';
import { pythonLines } from './python-arguments.ts';

export const keyVariable = 'GW_API_KEY';

type RequestBody = Readonly<Record<string, unknown>>;

interface Resource {
  /** On the client. */
  readonly name: string;
  /** `create` if absent. */
  readonly method?: string;
  /** Code that handles an answer. */
  readonly streamed: string;
  readonly whole: string;
  /** Fields of the body that the method takes as arguments, in every release. */
  readonly arguments: readonly string[];
}

interface Sdk {
  readonly import: string;
  readonly className: string;
  readonly path: string;
  /** Options of the client, after its address and its key. */
  readonly options: string;
  /** Argument for fields that it does not know, from the outside in. */
  readonly others?: readonly string[];
  /** Methods are called by the name of the resource alone. */
  readonly isFlat?: true;
}

const openAi: Sdk = { import: 'from openai import OpenAI', className: 'OpenAI', path: '/openai/v1', options: '' };
const anthropic: Sdk = {
  import: 'from anthropic import Anthropic',
  className: 'Anthropic',
  path: '',
  // Without a time limit the SDK itself refuses a large `max_tokens` of an answer that is not streamed. The gateway answers before.
  options: ', timeout=60',
};

const cohere: Sdk = {
  import: 'import cohere',
  className: 'cohere.ClientV2',
  path: '',
  options: '',
  others: ['request_options', 'additional_body_parameters'],
  isFlat: true,
};

const indented = (value: unknown): string => JSON.stringify(value, null, 2);
const endOfBody = 'END_OF_REQUEST';

/** The body is in a here-document: no quote in it ends it, and it may be longer than an argument. A form is of arguments. */
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

const pythonOf =
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

export const chatCompletionsPython = pythonOf(openAi, {
  name: 'chat.completions',
  streamed: `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
  whole: 'print(answer.choices[0].message.model_dump_json(indent=2))',
  arguments: ['model', 'messages', 'temperature', 'max_tokens', 'tools'],
});

export const responsesPython = pythonOf(openAi, {
  name: 'responses',
  streamed: `for event in answer:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
  whole: `for item in answer.output:
    print(item.model_dump_json(indent=2))`,
  arguments: ['model', 'input', 'instructions', 'temperature', 'max_output_tokens', 'tools'],
});

export const embeddingsPython = pythonOf(openAi, {
  name: 'embeddings',
  streamed: '',
  whole: 'print(len(answer.data[0].embedding))',
  arguments: ['model', 'input', 'encoding_format'],
});

export const imagesPython = pythonOf(openAi, {
  name: 'images',
  method: 'generate',
  streamed: '',
  whole: `import base64
for at, image in enumerate(answer.data):
    name = f"image-{at}.png"
    print(name, open(name, "wb").write(base64.b64decode(image.b64_json)), "bytes")`,
  arguments: ['model', 'prompt', 'n', 'size', 'quality'],
});

export const moderationsPython = pythonOf(openAi, {
  name: 'moderations',
  streamed: '',
  whole: 'print(answer.results[0].model_dump_json(indent=2))',
  arguments: ['model', 'input'],
});

export const rerankPython = pythonOf(cohere, {
  name: 'rerank',
  streamed: '',
  whole: `for result in answer.results:
    print(result.relevance_score, result.index)`,
  arguments: ['model', 'query', 'documents', 'top_n', 'max_tokens_per_doc'],
});

export const speechPython = pythonOf(openAi, {
  name: 'audio.speech',
  streamed: '',
  whole: 'print(len(answer.read()), "bytes")',
  arguments: ['model', 'input', 'voice', 'response_format', 'stream_format'],
});

export const transcriptionsPython = pythonOf(openAi, {
  name: 'audio.transcriptions',
  streamed: `for event in answer:
    if event.type == "transcript.text.delta":
        print(event.delta, end="", flush=True)`,
  // A text, where `response_format` asks for one.
  whole: 'print(getattr(answer, "text", answer))',
  arguments: ['model', 'prompt', 'language', 'response_format', 'temperature'],
});

export const messagesPython = pythonOf(anthropic, {
  name: 'messages',
  streamed: `for event in answer:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="", flush=True)`,
  whole: `for block in answer.content:
    print(block.model_dump_json(indent=2))`,
  // Its second version has no `temperature`.
  arguments: ['model', 'messages', 'system', 'max_tokens', 'tools'],
});
