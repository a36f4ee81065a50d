// The deployed bundles: entry file of each, and the files beside it.
import { loadFailed } from '../../shared/foundation/constants/index.ts';

export interface BundleDefinition {
  readonly entry: string;
  /** The bundled code. */
  readonly file: string;
  /** Further uploaded texts, by file name. */
  readonly beside?: Readonly<Record<string, string>>;
  /** Files of the project that are copied beside it, by name. */
  readonly copied?: Readonly<Record<string, string>>;
  /** Entry files of worker threads, by the name under which the code looks for them beside itself. */
  readonly workers?: Readonly<Record<string, string>>;
  /** Whether it serves the API description, which is then placed beside it. */
  readonly isDescribed?: boolean;
  /** Whether the console's page is uploaded in a folder beside it. */
  readonly hasPage?: boolean;
  /** Whether it exports a handler; else it binds an address by itself. */
  readonly exportsHandler: boolean;
}

/**
 * Entry file of a function. Lambda prefers `index.mjs` to `index.cjs`, and only an ES module can be awaited while it
 * loads. The bundle itself calls nothing when it is loaded. A load that fails writes a line, because Lambda's own do not
 * say which version failed.
 */
const preparedHandler = {
  'index.mjs': `const load = async () => {
  const { default: bundle } = await import('./index.cjs');
  await bundle.prepare();
  return bundle;
};
const { handler } = await load().catch((error) => {
  const { GW_STAGE: stage, AWS_LAMBDA_FUNCTION_VERSION: version } = process.env;
  const line = { level: 'error', event: '${loadFailed}', stage, version, error: { name: error?.name, message: error?.message } };
  process.stdout.write(JSON.stringify(line) + '\\n');
  throw error;
});
export { handler };
`,
};

/** shared/protocol/json-schema/schema-workers.ts starts it. */
const schemaWorker = { 'schema-worker.cjs': 'shared/protocol/json-schema/schema-worker.ts' };

export const definitions = {
  gateway: {
    entry: 'functions/gateway/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    workers: schemaWorker,
    isDescribed: true,
    exportsHandler: true,
  },
  models: {
    entry: 'functions/models/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    exportsHandler: true,
  },
  operator: {
    entry: 'functions/operator/handler.ts',
    file: 'index.cjs',
    beside: preparedHandler,
    // A gateway file and a revision hold schemas; the first check of a process may take long.
    workers: schemaWorker,
    hasPage: true,
    exportsHandler: true,
  },
  container: {
    entry: 'infra/container/main.ts',
    file: 'index.cjs',
    copied: { Dockerfile: 'infra/local/Dockerfile' },
    workers: schemaWorker,
    isDescribed: true,
    hasPage: true,
    exportsHandler: false,
  },
} as const satisfies Record<string, BundleDefinition>;

export type BundleName = keyof typeof definitions;
/** Bundles that answer invocations. */
export const functionNames = ['gateway', 'models', 'operator'] as const satisfies readonly BundleName[];
export const bundleNames = Object.keys(definitions) as BundleName[];
export const entriesOf = ({ entry, workers = {} }: BundleDefinition): readonly string[] => [
  entry,
  ...Object.values(workers),
];
/** Where each file of a bundle starts, as a path in the sources. */
export const bundleEntries = Object.values<BundleDefinition>(definitions).flatMap(entriesOf);
