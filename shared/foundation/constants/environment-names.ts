/** Environment variables that the bundles read. None of their values is a secret. */
export const environmentNames = {
  stage: 'GW_STAGE',
  /** Suffix of the names of restored tables. Not set: no suffix. */
  tableSuffix: 'GW_TABLE_SUFFIX',
  /**
   * Name or ARN of the secret with the accepted origin secrets, never an origin secret itself. Not set: every request
   * is accepted.
   */
  originSecret: 'GW_ORIGIN_SECRET',
  logLevel: 'GW_LOG_LEVEL',
  /** Version of a container's code. A function has Lambda's own variable. */
  version: 'GW_VERSION',
  /** Seconds that a stream may take. Not set: 55. */
  streamBudgetSeconds: 'GW_STREAM_BUDGET_SECONDS',
  slowAnswerSeconds: 'GW_SLOW_ANSWER_SECONDS',
  /** Number of calls that the stage can run at once. Not set: no bound. */
  stageConcurrency: 'GW_STAGE_CONCURRENCY',
  /** Requests per minute of keys that set no `rpm`. Not set: any number. */
  keyRequestsPerMinute: 'GW_KEY_REQUESTS_PER_MINUTE',
  /** Bound of the requests and answers in memory. Not set: the default. */
  bytesInUseMax: 'GW_KEPT_BYTES_MAX',
  /** The bucket for results that are too large for an item. */
  spillBucket: 'GW_SPILL_BUCKET',
  /** Id, ARN or alias of the KMS key that wraps the data keys of stored BYOK connections. */
  byokKeyId: 'GW_BYOK_KEY_ID',
  /** Name or ARN of the secret that contains the provider credentials, never a credential itself. */
  providerSecret: 'GW_PROVIDER_SECRET',
  /** Name or ARN of the secret that contains headers for the trace collector, never a header itself. */
  telemetryHeadersSecret: 'GW_TELEMETRY_HEADERS_SECRET',
  /** Two characters with which the public ids of new keys begin; an edge in front of several stages routes by them. */
  cell: 'GW_CELL',
  /** Base of the URLs that clients call, if it differs from the console's base. */
  gatewayUrl: 'GW_GATEWAY_URL',
  /** `on` or `off`: whether a container serves the console. Not set: off. */
  console: 'GW_CONSOLE',
  /** Port of a container. Not set: 8080. */
  port: 'GW_PORT',
  /** Port at which a container serves its metrics, without a key. Not set: they are not served. */
  metricsPort: 'GW_METRICS_PORT',
  /**
   * The identity provider with which people sign in to the console, and the client registered there. Neither is a
   * secret.
   */
  signInIssuer: 'GW_SIGN_IN_ISSUER',
  signInClientId: 'GW_SIGN_IN_CLIENT_ID',
  signInGroupsClaim: 'GW_SIGN_IN_GROUPS_CLAIM',
} as const;

/** Variable with the data folder, for a local start or a command that names no store. */
export const dataVariable = 'GW_DATA';
