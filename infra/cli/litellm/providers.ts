// Builds the providers of the gateway file from the parameters of LiteLLM's deployments. Each address with each
// credential is one provider.
import type { Path } from '../../../shared/configuration/gateway-file/index.ts';
import { type ProviderKind, providerKinds } from '../../../shared/configuration/model-list/index.ts';
import { type NamedModel, regionInName } from './provider-prefixes.ts';
import type { LiteLlmSource } from './source.ts';

type Reference = { readonly env: string };
type Auth =
  | { readonly bearer: Reference }
  | { readonly header: { readonly name: string; readonly env: string } }
  | { readonly gcp: Reference }
  | { readonly entra: { readonly tenant: string; readonly client_id: string; readonly client_secret: Reference } };

/** A provider as the gateway file writes it. */
export interface ImportedProvider {
  readonly id: string;
  readonly kind?: ProviderKind;
  readonly base_url?: string;
  readonly region?: string;
  readonly auth?: Auth;
  readonly apis?: string[];
}

type Unnamed = Omit<ImportedProvider, 'id'>;

/** Finds a value of a deployment: in its parameters, or in the credential that they name. */
export type ParameterPath = (name: string) => Path;

const regionDefault = 'us-east-1';
const vertexLocationDefault = 'us-central1';
/** Values that are written for local servers, which read no key. */
const noKey =
  /^(none|null|empty|no-?key|not-?needed|fake.*|dummy.*|anything|ollama|sk-(1234|fake|dummy|no-key-required)|x+)$/i;

export class ImportedProviders {
  readonly #source: LiteLlmSource;
  readonly #providers = new Map<string, ImportedProvider>();
  /**
   * Names of variables, by key, for keys that the file itself contains. No name is that of a variable that the file
   * reads.
   */
  readonly #variablesByKey = new Map<string, string>();

  constructor(source: LiteLlmSource) {
    this.#source = source;
  }

  list(): readonly ImportedProvider[] {
    return [...this.#providers.values()];
  }

  /**
   * Returns the provider of a deployment. `preferredId` is for a wildcard, whose names begin with it. Returns undefined
   * without an address; a comment then explains this.
   */
  providerFor(at: ParameterPath, named: NamedModel, api: string, preferredId?: string): ImportedProvider | undefined {
    const written = this.#written(at, named);
    if (written === undefined) return undefined;
    const key = JSON.stringify(written);
    const apis = written.kind === undefined ? [api] : undefined;
    const known = this.#providers.get(key);
    if (known !== undefined) {
      if (apis !== undefined && known.apis?.includes(api) === false) known.apis.push(api);
      return known;
    }
    const provider = { id: this.#freeId(preferredId ?? named.prefix), ...written, ...(apis && { apis }) };
    this.#providers.set(key, provider);
    return provider;
  }

  /** Adds the same provider under another name, because a model names each provider once. */
  another(id: string, nth: number): string {
    const provider = this.list().find((one) => one.id === id);
    if (provider === undefined) return id;
    const key = `${nth} ${JSON.stringify(provider)}`;
    const twin = this.#providers.get(key) ?? { ...provider, id: this.#freeId(id) };
    this.#providers.set(key, twin);
    return twin.id;
  }

  #freeId(wanted: string): string {
    const plain =
      wanted
        .toLowerCase()
        .replace(/[^a-z0-9._-]+/g, '-')
        .replace(/^[^a-z0-9]+/, '')
        .slice(0, 56) || 'provider';
    const takenIds = new Set(this.list().map(({ id }) => id));
    for (let at = 1; ; at += 1) {
      const id = at === 1 ? plain : `${plain}-${at}`;
      if (!takenIds.has(id)) return id;
    }
  }

  #written(at: ParameterPath, { provider, prefix, name }: NamedModel): Unnamed | undefined {
    const { kind } = provider;
    if (kind === 'bedrock') return this.#bedrock(at);
    if (kind === 'vertex') return this.#vertex(at, name);
    const base_url = this.#address(at, provider.path) ?? provider.baseUrl;
    const isKnownKind = kind !== undefined && (base_url === undefined || kind !== 'openai' || isOpenAi(base_url));
    if (base_url === undefined && (kind === undefined || providerKinds[kind].baseUrl === undefined)) {
      this.#source.note(at('model'), `a provider ${prefix} needs an address: write api_base into the file of LiteLLM`);
      return undefined;
    }
    const auth = this.#auth(at, isKnownKind ? kind : undefined, provider.env);
    return { ...(isKnownKind && { kind }), ...(base_url !== undefined && { base_url }), ...(auth && { auth }) };
  }

  #address(at: ParameterPath, path = ''): string | undefined {
    const place = this.#source.look(at('api_base')) === undefined ? at('base_url') : at('api_base');
    const variable = this.#source.variableOf(place);
    const written = this.#source.text(place);
    if (written === undefined && variable === undefined) return undefined;
    if (written === undefined) {
      this.#source.note(place, `the variable ${variable} is not set here: write its address at the provider`);
      return `https://${variable?.toLowerCase().replaceAll('_', '-')}.invalid${path}`;
    }
    const trimmed = written
      .trim()
      .replace(/\/+$/, '')
      .replace(/\/(chat\/completions|embeddings)$/, '');
    return path === '' || trimmed.endsWith(path) ? trimmed : trimmed.replace(/\/openai$/, '') + path;
  }

  #auth(at: ParameterPath, kind: ProviderKind | undefined, usual: string | undefined): Auth | undefined {
    const entra = kind === 'azure' ? this.#entra(at) : undefined;
    if (entra !== undefined) return entra;
    const env = this.#keyVariable(at, usual);
    const form = kind === undefined ? undefined : providerKinds[kind].auth;
    if (env === undefined) return undefined;
    if (form?.scheme === 'header') return form.env === env ? undefined : { header: { name: form.name, env } };
    return form?.scheme === 'bearer' && form.env === env ? undefined : { bearer: { env } };
  }

  /** Returns the variable of the key; undefined if no key is sent. */
  #keyVariable(at: ParameterPath, usual: string | undefined): string | undefined {
    const place = at('api_key');
    const written = this.#source.use(place);
    const variable = this.#source.variableOf(place);
    if (variable !== undefined) return variable;
    if (written === undefined) {
      const address = at('api_base');
      if (usual !== undefined && this.#source.look(address) !== undefined) {
        this.#source.note(address, `names no key: that of ${usual} goes there, as with LiteLLM`);
      }
      return usual;
    }
    if (typeof written !== 'string' || written === '' || noKey.test(written)) return undefined;
    const env = this.#variableOfKey(written, usual ?? 'PROVIDER_API_KEY');
    this.#source.note(
      place,
      `no key stands in a gateway file: put it into the variable ${env}, and end the written one`,
    );
    return env;
  }

  /**
   * Returns a variable for a key. Each key has a variable of its own, because under the usual name another account's
   * key would be sent to its address.
   */
  #variableOfKey(key: string, usual: string): string {
    const known = this.#variablesByKey.get(key) ?? `${usual}_${this.#variablesByKey.size + 1}`;
    this.#variablesByKey.set(key, known);
    return known;
  }

  #entra(at: ParameterPath): Auth | undefined {
    const [tenant, client] = [this.#source.text(at('tenant_id')), this.#source.text(at('client_id'))];
    const secret = this.#source.variableOf(at('client_secret'));
    if (tenant === undefined || client === undefined || secret === undefined) return undefined;
    this.#source.use(at('client_secret'));
    return { entra: { tenant, client_id: client, client_secret: { env: secret } } };
  }

  #bedrock(at: ParameterPath): Unnamed {
    const regionFromName = regionInName(this.#source.text(at('model')) ?? '');
    const written = this.#source.text(at('aws_region_name'));
    if (written === undefined && this.#source.look(at('aws_region_name')) !== undefined) {
      this.#source.note(at('aws_region_name'), `the variable is not set here: ${regionDefault} is written`);
    }
    for (const name of [
      'aws_access_key_id',
      'aws_secret_access_key',
      'aws_session_token',
      'aws_profile_name',
      'aws_role_name',
    ]) {
      if (this.#source.use(at(name)) !== undefined) {
        this.#source.note(at(name), 'Bedrock is called with the AWS credentials of the process');
      }
    }
    return { kind: 'bedrock', region: written ?? regionFromName ?? regionDefault };
  }

  /** Returns a provider for Vertex AI, on which models of Anthropic have an interface of their own. */
  #vertex(at: ParameterPath, name: string): Unnamed {
    const source = this.#source;
    const project = source.text(at('vertex_project'));
    if (project === undefined) {
      source.note(at('vertex_project'), 'the project of Google Cloud is not known here: write it in place of PROJECT');
    }
    const location = source.text(at('vertex_location')) ?? vertexLocationDefault;
    const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
    const variable = source.variableOf(at('vertex_credentials'));
    if (source.use(at('vertex_credentials')) === undefined || variable === undefined) {
      source.note(at('vertex_credentials'), 'the variable VERTEX_SERVICE_ACCOUNT takes the JSON of a service account');
    }
    return {
      kind: 'vertex',
      base_url: `https://${host}/v1/projects/${project ?? 'PROJECT'}/locations/${location}/publishers/google`,
      ...(name.startsWith('claude') && { apis: ['messages'] }),
      auth: { gcp: { env: variable ?? 'VERTEX_SERVICE_ACCOUNT' } },
    };
  }
}

const isOpenAi = (url: string): boolean => URL.canParse(url) && new URL(url).hostname.endsWith('openai.com');
