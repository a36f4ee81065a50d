// What the bundles load on demand.

/** Modules that few calls need: each becomes a file of its own beside the index, loaded by its dynamic import. */
export const onDemand: Readonly<Record<string, string>> = {
  'telemetry.cjs': 'shared/composition/telemetry-exporter.ts',
  'gateway-file.cjs': 'shared/configuration/gateway-file/index.ts',
  'kms-calls.cjs': 'shared/configuration/byok/kms-calls.ts',
  's3-objects.cjs': 'shared/storage/blobs/s3-objects.ts',
  'schema-check.cjs': 'shared/protocol/json-schema/check.ts',
  'google-tokens.cjs': 'shared/routing/providers/google-tokens.ts',
  'model-list.cjs': 'shared/configuration/model-list/list-document.ts',
  'landing-page.cjs': 'shared/protocol/router/landing-page.ts',
  'hub.cjs': 'shared/routing/formats/hub/index.ts',
  'messages-target.cjs': 'shared/routing/formats/hub/targets/messages-target.ts',
  'responses-target.cjs': 'shared/routing/formats/hub/targets/responses-target.ts',
  'converse-target.cjs': 'shared/routing/formats/hub/targets/converse-target.ts',
  'chat-completions-target.cjs': 'shared/routing/formats/hub/targets/chat-completions-target.ts',
  'generate-content-target.cjs': 'shared/routing/formats/hub/targets/generate-content-target.ts',
};
