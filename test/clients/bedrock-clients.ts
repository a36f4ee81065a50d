// `npm run test:bedrock-clients`: the libraries for Amazon Bedrock that are too large to be dependencies, from npm
// under .cache/, on models of every format. Prints one line if it is skipped because the packages are not available.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Skipped } from '../../infra/verify/verify-step.ts';
import type { Harness } from '../support/harness.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { citySchema, labelSchema, startClientGateway } from './client-gateway.ts';
import { installPackages } from './npm-packages.ts';

const versions = { '@anthropic-ai/bedrock-sdk': '1.1.3', '@langchain/aws': '1.4.5', '@langchain/core': '1.2.13' };
const formats = ['converse', 'messages', 'responses', 'generate-content', 'chat-completions'] as const;
const greeting = /^Hello! You wrote “Hello”/;
const user = (content: string) => ({ role: 'user', content });

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed here.
type Any = any;
type Check = (load: NodeJS.Require, gateway: Harness, format: string) => Promise<void>;

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => assert.fail('it did not fail'),
    (error: Error) => error,
  );

const anthropicBedrock: Check = async (load, { url, key }, format) => {
  const { AnthropicBedrock } = load('@anthropic-ai/bedrock-sdk') as Any;
  const options = { baseURL: `${new URL(url).origin}/bedrock`, apiKey: key, awsRegion: 'us-east-1', maxRetries: 0 };
  const { messages } = new AnthropicBedrock(options);
  const hello = { model: `${format}/thinking`, max_tokens: 3_000, messages: [user('Hello')] };
  assert.match((await messages.create(hello)).content.at(-1).text, greeting);
  const request = {
    ...hello,
    messages: [user('Call the tool')],
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    tools: [{ name: 'get_weather', input_schema: citySchema }],
  };
  const { content } = await messages.stream(request).finalMessage();
  const results = content
    .filter(({ type }: Any) => type === 'tool_use')
    .map(({ id }: Any) => ({ type: 'tool_result', tool_use_id: id, content: 'sunny' }));
  const history = [...request.messages, { role: 'assistant', content }, { role: 'user', content: results }];
  const answer = await messages.stream({ ...request, messages: history }).finalMessage();
  assert.match(answer.content.at(-1).text, /^The tools answered “sunny”/);
  const tooLong = await failureOf(messages.create({ ...hello, model: `${format}/too-long` }));
  assert.match(tooLong.message, /Input is too long/);
  const brokenStream = await failureOf(messages.stream({ ...hello, model: `${format}/broken` }).finalMessage());
  assert.match(brokenStream.message, /The stream broke off after its first output/);
};

const langchain: Check = async (load, _gateway, format) => {
  const { ChatBedrockConverse } = load('@langchain/aws') as Any;
  const { HumanMessage, ToolMessage } = load('@langchain/core/messages') as Any;
  const model = new ChatBedrockConverse({
    ...{ model: `${format}/thinking`, region: 'us-east-1', maxTokens: 3_000 },
    // The client does not know this model's name, so the options say what the model supports.
    supportsToolChoiceValues: ['auto', 'any', 'tool'],
  });
  assert.match((await model.invoke('Hello')).text, greeting);
  let streamText = '';
  for await (const chunk of await model.stream('Hello')) streamText += chunk.text;
  assert.match(streamText, greeting);
  const tool = { type: 'function', function: { name: 'get_weather', parameters: citySchema } };
  const bound = model.bindTools([tool]);
  const question = new HumanMessage('Call the tool');
  const first = await bound.invoke([question]);
  const results = first.tool_calls.map(({ id }: Any) => new ToolMessage({ content: 'sunny', tool_call_id: id }));
  assert.match((await bound.invoke([question, first, ...results])).text, /^The tools answered “sunny”/);
  assert.deepEqual(await model.withStructuredOutput({ title: 'Label', ...labelSchema }).invoke('Hello'), {
    label: 'text',
  });
};

const checks: Readonly<Record<string, Check>> = {
  '@anthropic-ai/bedrock-sdk answers, streams, thinks, calls tools, and reads errors': anthropicBedrock,
  'ChatBedrockConverse of @langchain/aws answers, streams, calls tools, and gets an object': langchain,
};

async function runChecks(): Promise<void> {
  useOneFolderForTheRun();
  const load = createRequire(join(await installPackages('bedrock-clients', versions), 'package.json'));
  const gateway = await startClientGateway();
  // Only variables are set, as for a program that has called Bedrock so far. The clients use HTTP/2 without TLS.
  Object.assign(process.env, {
    AWS_BEARER_TOKEN_BEDROCK: gateway.key,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: `${new URL(gateway.url).origin}/bedrock`,
  });
  try {
    for (const [title, check] of Object.entries(checks)) {
      for (const format of formats) await check(load, gateway, format);
      process.stdout.write(`ok       ${title}, on models of ${formats.join(', ')}\n`);
    }
  } finally {
    await gateway.stop();
  }
}

await runChecks().catch((error: Error) => {
  const isSkipped = error instanceof Skipped;
  if (!isSkipped) process.exitCode = 1;
  process.stdout.write(`${isSkipped ? 'skipped' : 'FAILS  '}  ${error.message}\n`);
});
