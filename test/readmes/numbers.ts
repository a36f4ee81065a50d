// The numbers of the pages: phrases with the constants that they state, and those that no constant stands for.
import { basename } from 'node:path';
import {
  balancerMonth,
  functionsMonth,
  jsonAnswerBytes,
  promptBytes,
  taskCpuMs,
  taskMonth,
  tasksMonth,
} from '../../infra/bench/costs.ts';
import { callsPerTask, scaledAtShare, tasksDefault } from '../../infra/cdk/constructs/task-size.ts';
import type { StageSettings } from '../../infra/cdk/settings-schema.ts';
import { stageSettings } from '../../infra/cdk/stage-settings.ts';
import * as constants from '../../shared/foundation/constants/index.ts';
import type { SourceFile } from '../support/source-files.ts';

const times = constants.callTimes();
const seconds = (ms: number): number => ms / 1_000;
const kib = (bytes: number): number => bytes / 1024;
const reservedOf = (settings?: StageSettings): number =>
  Number(settings?.gatewayReservedConcurrency) + Number(settings?.modelsReservedConcurrency);
const mib = (bytes: number): number => bytes / 1024 ** 2;
const grouped = (value: number): string => value.toLocaleString('en-US');

/** A number of a source file, wherever the file stands: `name = 4 * 1024` or `name: 192`. */
export const numbersOf =
  (sources: readonly SourceFile[]) =>
  (file: string, name: string): number => {
    const found = sources
      .filter(({ path }) => basename(path) === file)
      .flatMap(({ text }) => [...text.matchAll(new RegExp(`\\b${name}(?: =|:) ([\\d_]+(?: \\* [\\d_]+)*)[,; ]`, 'g'))])
      .map(([, product = '']) => product.replaceAll('_', '').split(' * ').map(Number));
    const [factors, ...others] = found;
    if (factors === undefined || others.length > 0) throw new Error(`${file} has ${found.length} numbers ${name}`);
    return factors.reduce((product, factor) => product * factor, 1);
  };

/** Pages whose numbers something else holds: what the bench measured, the tables that other tests compare, what providers are simulated to do. */
export const otherPages: readonly string[] = [
  // Written by the command that refreshes the list.
  'shared/configuration/model-list/SOURCES.md',
  'infra/bench/README.md',
  'infra/openapi/README.md',
  'infra/local/simulator/README.md',
  // What is expected of AWS.
  'infra/cdk/guides/first-day.md',
];

/** By page: what it says, with the numbers of the code. Code in backticks is one backtick here. */
export function statedNumbers(number: ReturnType<typeof numbersOf>): Readonly<Record<string, readonly string[]>> {
  const { minSeconds, maxSeconds } = constants.streamBudget;
  const budget = seconds(constants.requestBudgetMs);
  const comment = seconds(constants.keepAliveCommentMs);
  const bounds = (name: string) => number('schema-bounds.ts', name);
  const alarm = (name: string) => number('alarms.ts', name);
  const few = alarm('fewCallsMax');
  const timed = 10 * (few + 1);
  const lease = seconds(constants.leaseMs) - budget;
  const [chat, models] = [
    stageSettings.prod?.gatewayReservedConcurrency ?? 0,
    stageSettings.prod?.modelsReservedConcurrency ?? 0,
  ];
  const heap =
    number('schema-workers.ts', 'maxOldGenerationSizeMb') + number('schema-workers.ts', 'maxYoungGenerationSizeMb');
  const waiting = {
    callsPerSecond: 100,
    seconds: 10,
    answerBytes: jsonAnswerBytes,
    promptBytes,
    cpuMs: taskCpuMs.json,
  };
  return {
    'shared/routing/formats/hub/README.md': [
      `(at least ${grouped(number('reasoning.ts', 'thinkingMinTokens'))} tokens`,
      `nested deeper than ${number('known-calls.ts', 'argumentsDepthMax')} levels`,
      `beyond ${grouped(constants.jsonValuesMax)} values`,
      `after ${number('bounded-send.ts', 'turnMaxBytes') / 1024} KiB of a stream`,
      // Measured once.
      'waits 25 to 65 ms for it',
      'the longest turn is 45 ms for requests of 4 MiB of any cut, 25 ms for answers of 15 MB, 60 ms where most of their characters are escaped, 85 to 110 ms where they are one object of 90,000 members or 30,000 parts of Gemini, 10 ms for streams of the smallest parts',
    ],
    'README.md': [`what ${budget} seconds mean for long answers`],
    'functions/gateway/README.md': [
      `billed by time, ${number('unseen-output.ts', 'tokensPerSecond')} tokens for each second`,
      `All rounds together have ${seconds(constants.admissionTimeoutMs)} seconds`,
      `expires by itself ${seconds(constants.leaseMs)} seconds after its call arrived (${lease} seconds past the stream budget`,
      `at most ${seconds(constants.streamReadOnMaxMs)} s for a stream`,
      `a process records at most ${constants.refusalRecordsPerSecond} in any second`,
      `up to ${number('asked-model.ts', 'fallbackModelsMax')} further models`,
      `at most ${number('tags.ts', 'tagsMax')} pairs`,
      `carry some], at most ${number('tags.ts', 'tagsMax')} too`,
      `kept ${number('record.ts', 'recordLifeSeconds') / 3_600} hours`,
      `A call has ${budget} seconds`,
      `are read again after ${seconds(constants.configFreshMs)} s`,
      `silent for ${comment} seconds gets a comment`,
    ],
    'infra/cdk/guides/many-calls.md': [
      `or at ${callsPerTask(tasksDefault) * scaledAtShare} calls in flight each`,
      `what all tasks take, ${grouped(callsPerTask(tasksDefault))} calls each`,
      'refuses the rest with 429',
      `the longest call may take (\` and ${constants.callTimes(55).leaseMs / 1_000 - 55} s), then SIGTERM: what still runs has ${constants.containerStop.endMaxMs / 1_000} s to end`,
    ],
    'infra/cdk/README.md': [
      `tasks cost some $${Math.round(tasksDefault.min * taskMonth + balancerMonth)} a month without one`,
      `at ${waiting.callsPerSecond} a second of ten seconds they cost $${Math.round(tasksMonth(waiting))} in place of $${grouped(Math.round(functionsMonth(waiting)))}`,
      `(Lambda keeps ${number('account-checks.ts', 'unreservedMin')} unreserved)`,
      `\` reserves ${chat + models} of it: ${chat} for chat, ${models} for the model list`,
      `\`: ${grouped(number('gateway-table.ts', 'unlimitedUnits'))}`,
      `how long a stream may take, ${minSeconds} to ${maxSeconds}`,
      `; \` and \` reserve ${reservedOf(stageSettings.dev)} each`,
      `A body near ${mib(constants.plainBodyMaxBytes)} MiB must reach the gateway, and so must one of ${mib(number('checks.ts', 'eventMaxBytes')) / 2} MiB`,
      `Lambda's event holds ${mib(number('checks.ts', 'eventMaxBytes'))} MiB`,
      `A body of more than ${mib(number('checks.ts', 'eventMaxBytes')) / 2} MiB of nothing but quotes is refused by Lambda itself with 413`,
    ],
    'infra/cdk/guides/long-answers.md': [
      `A call has ${budget} seconds from its arrival`,
      `At the default of ${constants.streamBudget.defaultSeconds} that is where JSON ends too`,
      `the chat function (budget + ${times.functionTimeoutSeconds - budget} s)`,
      `a whole answer at CloudFront (+ ${times.completionTimeoutSeconds - budget} s)`,
      `Its read timeout stays ${constants.originReadTimeoutSeconds} s`,
      `silent for ${comment} s gets a comment`,
      `it comes back ${lease} s past the budget`,
      `at ${stageSettings.prod?.memoryMb} MB $${(1_000 * 0.5 * 0.0000133334).toFixed(4)} for a thousand seconds`,
      `(${seconds(constants.idleTimeoutDefaultMs)} s without a chunk or a comment of the provider)`,
      `and \` (${seconds(constants.firstChunkTimeoutDefaultMs)} s)`,
      `Functions never stream and keep ${budget} s`,
    ],
    'infra/cdk/guides/alarms.md': [
      `more than ${alarm('failedPercentMax')} % of the answers, and more than ${few}, had a status from 500`,
      `(\` in the settings, ${grouped(number('access.ts', 'defaultAccountConcurrency'))} by default)`,
      `of the answers of an hour, and at least ${number('alarms.ts', 'failedMin')}, had `,
      `more than ${alarm('quotaPercentMax')} % of the executions`,
      `more than ${alarm('gatewayTimeMaxMs')} ms in the gateway itself, of at least ${timed}`,
      `with more than ${few} errors`,
      `more than ${alarm('failedPercentMax')} % of CloudFront's answers, and more than ${few}, had a status from 500`,
      `more than ${few} calls were refused`,
      `reached its time limit more than ${few} times`,
      `refused more than ${few} invocations`,
      `or failed, more than ${few} times`,
      `more than ${few} calls were refused because as many were in flight`,
      `answered more than ${few} times with a status from 500`,
    ],
    'infra/cdk/guides/restoring.md': [
      `some ${number('restore-stage.ts', 'same')} minutes a million where few differ, ${number('restore-stage.ts', 'differing')} where all do`,
      `within ${seconds(constants.configFreshMs)} seconds, with 503`,
      `Answers kept for an Idempotency-Key (${number('record.ts', 'recordLifeSeconds') / 3_600} hours)`,
    ],
    'infra/cli/README.md': [`are kept for ${number('call-records.ts', 'lifeDaysDefault')} days`],
    'infra/local/README.md': [
      `${number('demo-traffic.ts', 'callsMax')} at most`,
      `${number('demo-traffic.ts', 'callsAtOnce')} one after another, then one every ${number('demo-traffic.ts', 'pauseMs') / 1_000} seconds`,
    ],
    'shared/accounting/README.md': [
      `stays for ${seconds(number('settlement-mark.ts', 'lifeMs'))} s`,
      `two calls within ${seconds(number('cooldown-item.ts', 'failuresWithinMs'))} s`,
    ],
    'shared/accounting/reports/README.md': [
      `stop at ${grouped(number('call-page.ts', 'pageCallsMax'))} and ${grouped(number('usage-overview.ts', 'overviewCallsMax'))} calls`,
      `or ${grouped(number('usage-overview.ts', 'overviewDaysMax'))} days of workspaces`,
    ],
    'functions/operator/README.md': [
      `at most ${kib(number('page.ts', 'pageMaxBytes'))} KB compressed`,
      `(1 to ${number('pages.ts', 'limitMax')}, default ${number('pages.ts', 'limitDefault')})`,
      `a body holds at most ${kib(number('read-asked.ts', 'bodyMaxBytes'))} KiB`,
      `(YAML or JSON, at most ${constants.plainBodyMaxBytes / 1024 / 1024} MiB)`,
      `(per hour up to ${number('usage-overview.ts', 'hourlyMaxDays')} days, then per day`,
      `once per id within ${number('grants.ts', 'additionKeptMs') / 86_400_000} days; below 0 takes away`,
      `stops after about ${grouped(number('usage-overview.ts', 'overviewCallsMax'))} calls, or ${grouped(number('usage-overview.ts', 'overviewDaysMax'))} days of workspaces`,
      `looks at about ${grouped(number('call-page.ts', 'pageCallsMax'))}: it may hold fewer`,
    ],
    'shared/accounting/holds/README.md': [
      `${seconds(constants.leaseMs)} to ${seconds(constants.leaseMs) + 5} seconds after its`,
      `waits at most ${seconds(number('item-writer.ts', 'queueWaitMaxMs'))} seconds for its turn`,
      `at most ${number('item-writer.ts', 'asksMax')} writes or reads`,
    ],
    'shared/protocol/README.md': [`work beyond ${bounds('eventLoopMaxMs')} ms of the event loop`],
    'shared/foundation/telemetry/README.md': [
      `they go together ${seconds(number('span-batches.ts', 'batchDelayMs'))} s after the first of them, or ${number('span-batches.ts', 'batchMax')} as soon as there are so many, and at most ${grouped(number('span-batches.ts', 'waitingMax'))} wait`,
      `within its settlement and for at most ${seconds(number('span-batches.ts', 'flushMaxMs'))} s`,
      `the last ones, for at most ${seconds(number('span-batches.ts', 'flushMaxMs'))} s`,
      `left alone for ${seconds(number('span-batches.ts', 'pauseMinMs'))} s, then for twice as long each time, up to ${seconds(number('span-batches.ts', 'pauseMaxMs'))} s`,
    ],
    'shared/storage/README.md': [`in slices of ${number('time-budget.ts', 'sliceMs')} ms`],
    'shared/protocol/interfaces/embeddings/README.md': [`at most ${grouped(number('vectors.ts', 'inputsMax'))} inputs`],
    'shared/protocol/interfaces/messages/README.md': [
      `patches of ${number('message-media.ts', 'patchPx')} px, ${grouped(number('message-media.ts', 'imageTokensMax'))} at most`,
    ],
    'shared/protocol/http/README.md': [
      `${kib(constants.headersMaxBytes)} KiB, ${seconds(number('node-server.ts', 'headersTimeoutMs'))} s to arrive`,
      `| whole request | ${seconds(number('node-server.ts', 'requestTimeoutMs'))} s to arrive`,
      `${mib(constants.plainBodyMaxBytes)} MiB (functions ${kib(constants.functionBodyMaxBytes)} KiB)`,
      `… what waits in all connections | ${mib(number('node-connections.ts', 'waitingMaxBytes'))} MiB`,
      `do not read them, all together | ${mib(number('unread-answers.ts', 'unreadMaxCharacters'))} Mi characters`,
      `up to ${mib(number('node-body.ts', 'discardMaxBytes'))} MiB or ${seconds(number('node-body.ts', 'discardMaxMs'))} s of it`,
      `${mib(number('node-body.ts', 'allBodiesMaxBytes'))} MiB, one key at most half`,
      `${grouped(constants.jsonValuesMax)} JSON values, ${number('json-body.ts', 'depthMax')} levels`,
      `${number('json-body.ts', 'listItemsMax')} items (\` ${number('asked-model.ts', 'fallbackModelsMax')})`,
      `once in its object; ${kib(number('read-members.ts', 'wholeMaxCharacters'))} Ki characters`,
      `answer or event | ${grouped(constants.jsonValuesMax)} JSON values, ${number('answer-json.ts', 'depthMax')} levels`,
      `an integer from 0 to ${constants.choicesMax - 1}`,
      `one pass over a body longer than ${kib(number('receive.ts', 'longBodyBytes'))} KiB`,
      `choices of an answer | ${constants.choicesMax} |`,
      `response schema | ${kib(bounds('schemaMaxBytes'))} KiB, ${bounds('schemaMaxDepth')} levels`,
      `${grouped(bounds('patternMaxCharacters'))} characters each`,
      `on the event loop | ${bounds('eventLoopMaxMs')} ms`,
      `${bounds('workerJobMaxMs')} ms and ${heap} MB a job, ${seconds(bounds('workerCallMaxMs'))} s a call`,
      `${bounds('workersMax')} jobs, 1 for each key; ${bounds('waitingJobsPerKeyMax')} waiting for each key`,
      `${mib(bounds('answerMaxCharacters'))} Mi characters, ${bounds('answerMaxDepth')} levels`,
      `${mib(constants.upstreamBodyMaxBytes)} MiB, ${mib(constants.upstreamEventMaxBytes)} MiB, ${kib(constants.upstreamErrorMaxBytes)} KiB; of Embeddings ${mib(constants.largeBodyMaxBytes)} MiB`,
      `before the first output | ${mib(constants.heldBackMaxBytes)} MiB`,
      `${seconds(constants.connectTimeoutDefaultMs)} s to connect, ${seconds(constants.idleTimeoutDefaultMs)} s between parts of an answer`,
      `before the first output | ${seconds(constants.firstChunkTimeoutDefaultMs)} s for a stream`,
      `records of refused calls | ${constants.refusalRecordsPerSecond} in a second`,
      // Some of the two seconds are left for the answer.
      `a signer: ${Math.ceil(seconds(constants.admissionTimeoutMs))} s, all waits together`,
      `whole call | ${budget} s from its arrival`,
      `delivery | ${seconds(times.deliveryMs.text) - budget} s longer than that`,
      `collector of traces | ${grouped(number('span-batches.ts', 'waitingMax'))}; one export at a time, ${seconds(number('span-batches.ts', 'flushMaxMs'))} s`,
      `behind the last byte | ${seconds(number('settle.ts', 'settlementBudgetMs'))} s`,
      `${grouped(number('engine-connection.ts', 'waitingMax'))} waiting calls of ${seconds(number('engine-connection.ts', 'callTimeoutMs'))} s each`,
    ],
  };
}

/** Facts of others, and what was measured once: no constant of the code stands for them. */
export const otherNumbers: readonly RegExp[] = [
  /\b(status|a|A|an|is a|with a|One|a status from) [1-5]\d\d\b|\bstatus 1xx other than 100 and 103\b|\(429\)|\(\d{3}\)|\b\d{3} `/g,
  /\bNode (20|24)\b|\bOpenAPI 3\.1\b|\bmiddy 7\b|\bTypeScript 7\b|` 6\.41\b/g,
  /new accounts have 10\b|1,000 at 10 s are 100 a second, and a new account's 10 are one/g,
  /3,000 to 5,000 tokens of a usual model|OpenAI's SDKs is 10 minutes|Lambda's 900 s|Lambda's event holds 6 MB/g,
  /\(exit 1 where it does\)|audio of Gemini 2\.5 Flash|280 KB that are loaded/g,
  /with exit 1\b|Exit 0: done\. 1: it failed, in one line, or was declined\. 2:/g,
  /\(120 KB\)|is 7 KB in a bundle|exact to the specification, 5 KB|some 20 ms/g,
  /L-B99A9384|any second of the last 35 days|a reserved concurrency of 0\b|every call with 429/g,
  /of the last 15 to 30 minutes|drafts 2020-12, 2019-09, 7, 6 and 4/g,
  /on any Node from 20 on|retry 409, 429 and 5xx|every 429 says/g,
];

/** Sections whose numbers are measured, are those of others or of earlier versions, or have a test of their own. */
export const otherSections = [
  'Performance and cost',
  'Costs of calls',
  'Costs by the month',
  'Which is cheaper',
  // Measured by the bench.
  'What one task carries',
  'What changed',
  'Beside others',
  // Of holds: test/stores makes the item that stands there.
  'One item',
];

/** Stated by the first page, and compared with what they cost by test/infra/costs.test.ts. */
export const costsOnTheFirstPage = /\$\d+\.\d\d/g;
