// A request as it is written elsewhere: for a shell, and in JavaScript. The key comes from a variable in each.

export const keyVariable = 'GW_API_KEY';

type Body = Readonly<Record<string, unknown>>;

const indented = (body: Body): string => JSON.stringify(body, null, 2);
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

export const openAiCode = (
  origin: string,
  resource: string,
  body: Body,
  { streamed, whole }: { readonly streamed: string; readonly whole: string },
): string =>
  [
    "import { env, stdout } from 'node:process';",
    "import OpenAI from 'openai';",
    '',
    `const client = new OpenAI({ baseURL: '${origin}/openai/v1', apiKey: env.${keyVariable} });`,
    `const answer = await client.${resource}.create(${indented(body)});`,
    body.stream === true ? streamed : whole,
  ].join('\n');

export const anthropicCode = (origin: string, body: Body): string =>
  [
    "import { env, stdout } from 'node:process';",
    "import Anthropic from '@anthropic-ai/sdk';",
    '',
    `const client = new Anthropic({ baseURL: '${origin}', apiKey: env.${keyVariable} });`,
    `const answer = await client.messages.create(${indented(body)});`,
    body.stream === true
      ? "for await (const event of answer) if (event.type === 'content_block_delta') stdout.write(event.delta.text ?? '');"
      : 'console.log(JSON.stringify(answer.content, null, 2));',
  ].join('\n');
