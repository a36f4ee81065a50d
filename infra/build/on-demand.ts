// Lists the modules that the bundles load on demand.
import { listedInterfaceIds, servingApis, taskInterfaceIds } from '../../shared/foundation/constants/index.ts';

const hubApis = new Set(
  Object.values(servingApis).flatMap((serving): readonly string[] => [
    ...serving.throughHub,
    ...('apisByKind' in serving ? Object.values(serving.apisByKind) : []),
  ]),
);

/** Interfaces of clients, except for the interfaces of most calls. */
const interfaces = listedInterfaceIds.filter((id) => id !== 'chat-completions' && id !== 'messages');
const translated = listedInterfaceIds.filter((id) => !taskInterfaceIds.includes(id));
const interfaceFile = (name: string, file: string) => `shared/protocol/interfaces/${name}/${file}`;

/** Modules that few calls need. Each becomes a file next to the index, which a dynamic import loads. */
export const onDemand: Readonly<Record<string, string>> = {
  'telemetry.cjs': 'shared/composition/telemetry-exporter.ts',
  'alerts.cjs': 'shared/accounting/alerts/alert-sender.ts',
  'prometheus.cjs': 'infra/metrics/prometheus.ts',
  'gateway-file.cjs': 'shared/configuration/gateway-file/index.ts',
  'kms-calls.cjs': 'shared/configuration/byok/kms-calls.ts',
  's3-objects.cjs': 'shared/storage/blobs/s3-objects.ts',
  'forms.cjs': 'shared/protocol/forms/read-form.ts',
  'schema-check.cjs': 'shared/protocol/json-schema/check.ts',
  'keep-content.cjs': 'functions/gateway/settlement/keep-content.ts',
  'attempt-spans.cjs': 'functions/gateway/settlement/attempt-spans.ts',
  'google-tokens.cjs': 'shared/routing/providers/google-tokens.ts',
  'model-list.cjs': 'shared/configuration/model-list/list-document.ts',
  'model-listing.cjs': 'shared/routing/model-listing/index.ts',
  'account.cjs': 'functions/gateway/account/serve-account.ts',
  'stored-response.cjs': 'functions/gateway/stored-response/index.ts',
  'conclude.cjs': 'functions/gateway/provider/conclude.ts',
  'stored-function.cjs': 'functions/gateway/stored-function/index.ts',
  ...Object.fromEntries(interfaces.map((name) => [`${name}.cjs`, interfaceFile(name, 'index.ts')])),
  ...Object.fromEntries(listedInterfaceIds.map((name) => [`${name}-grammar.cjs`, interfaceFile(name, 'grammar.ts')])),
  ...Object.fromEntries(
    translated.map((name) => [`${name}-translation.cjs`, interfaceFile(name, 'translation/index.ts')]),
  ),
  'invoke.cjs': interfaceFile('messages', 'invoke.ts'),
  'guardrails.cjs': 'functions/gateway/admission/check-input.ts',
  'text-guardrail.cjs': 'shared/routing/guardrails/text-guardrail.ts',
  'bedrock-guardrail.cjs': 'shared/routing/guardrails/bedrock-guardrail.ts',
  'audio-length.cjs': 'shared/protocol/interfaces/transcriptions/audio-length.ts',
  'hub.cjs': 'shared/routing/formats/hub/index.ts',
  'other-delivery.cjs': 'shared/routing/formats/other-delivery.ts',
  ...Object.fromEntries(
    [...hubApis].map((api) => [`${api}-target.cjs`, `shared/routing/formats/hub/targets/${api}-target.ts`]),
  ),
};
