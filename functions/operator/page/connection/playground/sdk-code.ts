// A request as it is written elsewhere: for a shell, in JavaScript and in Python. The key comes from a variable in each.

import { pythonLines } from './python-arguments.ts';

export const keyVariable = 'GW_API_KEY';

type Body = Readonly<Record<string, unknown>>;

/** Code with the SDK of an interface, by language. */
export interface SdkCode {
  readonly javaScript: string;
  readonly python: string;
}

/** What code does with an answer. */
interface Reading {
  readonly streamed: string;
  readonly whole: string;
}

interface Resource {
  /** On the client, in both languages. */
  readonly name: string;
  readonly javaScript: Reading;
  readonly python: Reading;
  /** Members of the body that the method takes as arguments in Python, in every release. */
  readonly pythonArguments: readonly string[];
}

interface Sdk {
  readonly javaScriptImport: string;
  readonly pythonImport: string;
  readonly className: string;
  readonly path: string;
  /** Of the client, behind its address and its key. */
  readonly javaScriptOptions: string;
  readonly pythonOptions: string;
}

const openAi: Sdk = {
  javaScriptImport: "import OpenAI from 'openai';",
  pythonImport: 'from openai import OpenAI',
  className: 'OpenAI',
  path: '/openai/v1',
  javaScriptOptions: '',
  pythonOptions: '',
};
const anthropic: Sdk = {
  javaScriptImport: "import Anthropic from '@anthropic-ai/sdk';",
  pythonImport: 'from anthropic import Anthropic',
  className: 'Anthropic',
  path: '',
  // Without a time limit the SDK itself refuses a large `max_tokens` of an answer that is not streamed. The gateway answers before.
  javaScriptOptions: ', timeout: 60_000',
  pythonOptions: ', timeout=60',
};

const indented = (value: unknown): string => JSON.stringify(value, null, 2);
const endOfBody = 'END_OF_REQUEST';

/** The body stands in a here-document: no quote in it ends it, and it may be longer than an argument. */
export const curlOf = (url: string, body: Body): string =>
  [
    `curl -sS${body.stream === true ? 'N' : ''} '${url}' \\`,
    `  -H "Authorization: Bearer $${keyVariable}" \\`,
    "  -H 'Content-Type: application/json' \\",
    `  --data-binary @- <<'${endOfBody}'`,
    indented(body),
    endOfBody,
  ].join('\n');

const sdkCodeOf =
  (sdk: Sdk, { name, javaScript, python, pythonArguments }: Resource) =>
  (origin: string, body: Body): SdkCode => {
    const reading = body.stream === true ? 'streamed' : 'whole';
    return {
      javaScript: [
        "import { env, stdout } from 'node:process';",
        sdk.javaScriptImport,
        '',
        `const client = new ${sdk.className}({ baseURL: '${origin}${sdk.path}', apiKey: env.${keyVariable}${sdk.javaScriptOptions} });`,
        `const answer = await client.${name}.create(${indented(body)});`,
        javaScript[reading],
      ].join('\n'),
      python: [
        'import os',
        sdk.pythonImport,
        '',
        `client = ${sdk.className}(base_url="${origin}${sdk.path}", api_key=os.environ["${keyVariable}"]${sdk.pythonOptions})`,
        `answer = client.${name}.create(`,
        ...pythonLines(body, pythonArguments),
        ')',
        python[reading],
      ].join('\n'),
    };
  };

export const chatCompletionsCode = sdkCodeOf(openAi, {
  name: 'chat.completions',
  javaScript: {
    streamed: "for await (const chunk of answer) stdout.write(chunk.choices[0]?.delta?.content ?? '');",
    whole: 'console.log(JSON.stringify(answer.choices[0].message, null, 2));',
  },
  python: {
    streamed: `for chunk in answer:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
    whole: 'print(answer.choices[0].message.model_dump_json(indent=2))',
  },
  pythonArguments: ['model', 'messages', 'temperature', 'max_tokens', 'tools'],
});

export const responsesCode = sdkCodeOf(openAi, {
  name: 'responses',
  javaScript: {
    streamed:
      "for await (const event of answer) if (event.type === 'response.output_text.delta') stdout.write(event.delta);",
    whole: 'console.log(JSON.stringify(answer.output, null, 2));',
  },
  python: {
    streamed: `for event in answer:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)`,
    whole: `for item in answer.output:
    print(item.model_dump_json(indent=2))`,
  },
  pythonArguments: ['model', 'input', 'instructions', 'temperature', 'max_output_tokens', 'tools'],
});

export const embeddingsCode = sdkCodeOf(openAi, {
  name: 'embeddings',
  javaScript: { streamed: '', whole: 'console.log(answer.data[0].embedding.length);' },
  python: { streamed: '', whole: 'print(len(answer.data[0].embedding))' },
  pythonArguments: ['model', 'input', 'encoding_format'],
});

export const messagesCode = sdkCodeOf(anthropic, {
  name: 'messages',
  javaScript: {
    streamed:
      "for await (const event of answer) if (event.type === 'content_block_delta') stdout.write(event.delta.text ?? '');",
    whole: 'console.log(JSON.stringify(answer.content, null, 2));',
  },
  python: {
    streamed: `for event in answer:
    if event.type == "content_block_delta" and event.delta.type == "text_delta":
        print(event.delta.text, end="", flush=True)`,
    whole: `for block in answer.content:
    print(block.model_dump_json(indent=2))`,
  },
  // Its second version has no `temperature`.
  pythonArguments: ['model', 'messages', 'system', 'max_tokens', 'tools'],
});
