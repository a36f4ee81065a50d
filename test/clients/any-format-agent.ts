// A coding agent with a model of each format, also when a fallback moves its conversation from one format to the next:
// several turns, parallel calls, an edit of a file, reasoning, a picture, and a conversation that outgrows its window.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Harness, startHarness } from '../support/harness.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { imageUrl } from './client-gateway.ts';
import type { AgentChecks } from './coding-agent.ts';

/** Reasoning models by the format of their provider; their names show that they reason. */
export const thinkers = {
  messages: 'claude-sonnet-4-5',
  responses: 'gpt-5.4',
  converse: 'anthropic.claude-sonnet-4-5-v1:0',
  'generate-content': 'gemini-3-pro',
  'chat-completions': 'gpt-5.1',
} as const;
/** A format, or a kind of providers whose models have rules of their own beyond their format. */
type Target = keyof typeof thinkers | 'mistral';
const models: Readonly<Record<Target, string>> = { ...thinkers, mistral: 'magistral-medium-latest' };
const targets = Object.keys(models) as readonly Target[];

/** Returns the target that goes on when a provider of this target fails. */
const nextOf = (target: Target): Target => targets[(targets.indexOf(target) + 1) % targets.length] as Target;
const providerOf = (target: Target) =>
  target === 'mistral' ? { kind: target, apis: ['chat-completions'] } : { apis: [target] };

/** The context window of the models whose conversations outgrow it. */
export const windowTokens = 5_500;

/** A tool call that the script lets the model make, by the agent's names. */
interface ToolUse {
  readonly tool: string;
  readonly arguments: object;
}

export interface Act {
  readonly model: string;
  readonly prompt: string;
  /** The folder in which it works; a resumed session works in the folder of the session before. */
  readonly home: string;
  readonly resumes?: boolean;
  /** The path of a picture that the prompt is about. */
  readonly picture?: string;
  /** Whether the agent is to compact the conversation. */
  readonly compacts?: boolean;
}

export interface AgentDriver {
  readonly act: (program: string, gateway: Harness, act: Act) => Promise<{ text: string; failure: string | undefined }>;
  readonly read: (file: string) => ToolUse;
  readonly run: (command: string) => ToolUse;
  /** Returns a call that replaces `from` by `to`. */
  readonly edit: (file: string, from: string, to: string) => ToolUse;
  /** Matches the request for the text that replaces a conversation. */
  readonly compacting: RegExp;
  /** The tool with which the model sees a picture; without it, the picture comes with the prompt. */
  readonly look?: (picture: string) => ToolUse;
}

const route = (target: Target, behaviour: string) => ({
  provider: target,
  upstream: `${models[target]}/${behaviour}`,
});

const startGateway = (): Promise<Harness> =>
  startHarness({
    models: Object.fromEntries(
      targets.flatMap((target) => [
        [`scripted/${target}`, [route(target, 'scripted')]],
        [`window/${target}`, [route(target, `window:${windowTokens}`)]],
        // The first provider answers two calls.
        [`switched/${target}`, [route(target, 'scripted:2'), route(nextOf(target), 'scripted')]],
      ]),
    ),
    providers: Object.fromEntries(targets.map((target) => [target, providerOf(target)])),
  });

const script = (...answers: readonly (readonly ToolUse[])[]): string => `Do ${JSON.stringify(answers)}`;

const pictureBytes = Buffer.from(imageUrl.slice(imageUrl.indexOf(',') + 1), 'base64');

export function anyFormatChecks({ act, read, run, edit, compacting, look }: AgentDriver): AgentChecks {
  const working = async (check: (gateway: Harness, home: string, file: string) => Promise<void>): Promise<void> => {
    const gateway = await startGateway();
    const home = temporaryFolder();
    const file = join(home, 'notes.txt');
    writeFileSync(file, 'first line\nsecond line\n');
    try {
      await check(gateway, home, file);
    } finally {
      await gateway.stop();
    }
  };
  const providersOf = (gateway: Harness) => gateway.simulator.calls.map(({ provider }) => provider);
  /** Answers of the model: two parallel calls, an edit, then a text. */
  const editing = (file: string) => script([read(file), run('ls')], [edit(file, 'second', 'changed')]);
  const isChanged = (file: string) => readFileSync(file, 'utf8') === 'first line\nchanged line\n';

  const checksOf = (target: Target): AgentChecks => ({
    [`a model of ${target} thinks, calls tools at once, edits a file, and the next turn goes on`]: (program) =>
      working(async (gateway, home, file) => {
        const first = await act(program, gateway, { model: `scripted/${target}`, prompt: editing(file), home });
        assert.deepEqual(
          [first.failure, isChanged(file), providersOf(gateway)],
          [undefined, true, Array(3).fill(target)],
        );
        assert.match(first.text, /^The tools answered/);
        const next = { model: `scripted/${target}`, prompt: 'Well done', home, resumes: true };
        const second = await act(program, gateway, next);
        assert.deepEqual([second.failure, providersOf(gateway)], [undefined, Array(4).fill(target)]);
        assert.ok(
          (gateway.simulator.calls.at(-1)?.bodyText ?? '').includes('changed'),
          'the history is not sent again',
        );
        const [record] = await gateway.records();
        assert.ok(record !== undefined && record.costPicoUsd > 0n);
      }),
    [`a conversation that began with a model of ${target} goes on with one of ${nextOf(target)} where the first provider fails`]:
      (program) =>
        working(async (gateway, home, file) => {
          const { failure } = await act(program, gateway, { model: `switched/${target}`, prompt: editing(file), home });
          const targets = [target, target, target, nextOf(target)];
          assert.deepEqual([failure, isChanged(file), providersOf(gateway)], [undefined, true, targets]);
          const statuses = gateway.simulator.calls.map(({ status }) => status);
          assert.deepEqual(statuses, [200, 200, 500, 200]);
        }),
    [`a model of ${target} sees a picture`]: (program) =>
      working(async (gateway, home) => {
        const picture = join(home, 'picture.png');
        writeFileSync(picture, pictureBytes);
        const prompt = look === undefined ? 'What is it?' : script([look(picture)]);
        const { failure } = await act(program, gateway, { model: `scripted/${target}`, prompt, home, picture });
        assert.equal(failure, undefined);
        const hasPicture = gateway.simulator.calls.some(({ bodyText }) => /iVBORw0KGgo/.test(bodyText));
        assert.deepEqual([hasPicture, gateway.simulator.calls.at(-1)?.status], [true, 200]);
      }),
    [`a conversation that outgrows the window of a model of ${target} is compacted, and goes on`]: (program) =>
      working(async (gateway, home, file) => {
        const prompt = script([run('seq 1 2500')], [run('seq 1 1000')], [edit(file, 'second', 'changed')]);
        const { failure } = await act(program, gateway, { model: `window/${target}`, prompt, home, compacts: true });
        assert.equal(failure, undefined);
        const { calls } = gateway.simulator;
        const compactionAt = calls.findIndex(({ bodyText, status }) => status === 200 && compacting.test(bodyText));
        assert.ok(compactionAt > 0 && compactionAt < calls.length - 1, 'it was not compacted');
        assert.equal(calls.at(-1)?.status, 200);
      }),
  });
  return Object.assign({}, ...targets.map(checksOf)) as AgentChecks;
}
