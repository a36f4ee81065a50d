// What it costs that a client speaks another interface than the provider: streams of the same provider, relayed and translated, in
// turns on one connection. The CPU is that of the gateway's process for a whole stream.
import type { BenchPlan } from '../bench-options.ts';
import { type Call, createClient, drive, type Endpoint, streamBody } from '../measuring-client.ts';
import { atMost, percentile, type SectionReport } from '../report.ts';
import { models } from '../test-bed/bench-file.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const pauseMs = 20;
const addedByTranslationMaxMs = 4;

export async function measureTranslated(bed: TestBed, plan: BenchPlan): Promise<SectionReport> {
  const { provider, gateway, keys } = bed;
  const question = JSON.parse(streamBody(models.limited));
  const { messages, max_tokens: bound, ...rest } = question;
  const [system, user] = messages;
  const call = (body: object): Call => ({ key: keys.limited, body: JSON.stringify(body) });
  const run = (name: string, endpoint: Endpoint, asked: Call) => ({
    name,
    client: createClient(endpoint, 1),
    asked,
    firstBytesMs: [] as number[],
    cpuMs: 0,
    failed: 0,
  });
  const runs = [
    run('the provider itself', provider, { body: streamBody('bench') }),
    run('relayed: chat completions', gateway, call(question)),
    run(
      'translated: Messages',
      { ...gateway, path: '/messages' },
      call({
        ...rest,
        max_tokens: bound,
        system: system.content,
        messages: [user],
      }),
    ),
    run(
      'translated: Responses',
      { ...gateway, path: '/responses' },
      call({
        ...rest,
        max_output_tokens: bound,
        instructions: system.content,
        input: [user],
      }),
    ),
  ];
  for (let turn = 0; turn <= plan.latencyTurns; turn += 1) {
    for (const one of runs) {
      const beforeMs = (await gateway.inspect()).cpuMs;
      const { answers, failed } = await drive(one.client, one.asked, plan.streamsPerTurn[1], 1, pauseMs);
      const afterMs = (await gateway.inspect()).cpuMs;
      // The first turn warms up.
      if (turn === 0) continue;
      one.firstBytesMs.push(...answers.map(({ firstByteMs }) => firstByteMs));
      one.cpuMs += afterMs - beforeMs;
      one.failed += failed;
    }
  }
  const directMs = percentile(runs[0]?.firstBytesMs ?? [], 0.5);
  const measured = runs.map(({ name, client, firstBytesMs, cpuMs, failed }) => {
    client.close();
    const p50Ms = percentile(firstBytesMs, 0.5);
    const cpuMsPerCall = client.name === provider.name ? undefined : cpuMs / firstBytesMs.length;
    return { name, p50Ms, addedMs: p50Ms - directMs, cpuMsPerCall, failed };
  });
  const [, relayed, ...translated] = measured;
  return {
    tables: [
      {
        title: 'Streams of one chat provider to the first chunk, and CPU of the gateway, ms',
        columns: ['client', 'p50', 'added p50', 'CPU a stream', 'failed'],
        rows: measured.map((row) => Object.values(row)),
      },
    ],
    targets: translated.map(({ name, p50Ms }) =>
      atMost(`${name}: more than relayed, p50`, p50Ms - (relayed?.p50Ms ?? Number.NaN), addedByTranslationMaxMs, ' ms'),
    ),
  };
}
